internal import LinnetTransport

/// What the links of the chain know about a request beside the request itself. The same for every attempt.
struct Exchange: Sendable {
    /// How the body is to come up the chain; a link that answers itself may hand over either kind.
    var delivery: ResponseDelivery
    /// The request's observer; nil when there is none.
    var sink: (any EngineSink)?
    /// When the whole request must have ended, attempts and waiting included; nil means never.
    var deadline: ContinuousClock.Instant?
    /// The request's hooks; nil when it has none.
    var hooks: RequestHooks?
    /// What the call adds to the chain; nil when it adds nothing.
    var own: CallChain?
    /// What is noted about the request; nil when the chain has neither a log, nor adapters, nor retriers.
    var record: RequestRecord?
}
