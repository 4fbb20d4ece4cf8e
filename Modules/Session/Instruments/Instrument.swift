internal import LinnetMessages
public import LinnetTransport

/// Observes what a session does, for metrics, traces and records; see ``HTTPSession/Configuration/instruments``.
///
/// LinnetMetrics, LinnetTracing, LinnetTimeline and LinnetHAR have instruments. Each function has a default that does
/// nothing. The functions are called for each request, on any thread, and must not block. An instrument cannot fail a
/// request.
public protocol Instrument: Sendable {
    /// Returns the transport that a session uses in place of `base`. It is called once for each session, and the first
    /// instrument's transport is the innermost. The default returns `base`.
    func transport(over base: any Transport) -> any Transport

    /// Observes the connections of a session, unless the session was given a transport. It is read once for each
    /// session. The default is nil.
    var connectionObserver: (any ConnectionObserver)? { get }

    /// Called before a request is handed to the transport. A redirect, a retry, a hedge, and the answer to a challenge
    /// are each sent on their own. Answers of the cache are not sent.
    ///
    /// The instrument may add header fields, such as the context of a trace. They are added after the request was
    /// signed, and stay in this one sending.
    ///
    /// - Returns: A function that is called exactly once, when the response's body has ended or the sending has failed;
    ///   nil, the default, if the end does not matter.
    func willSend(_ request: inout InstrumentedRequest) -> (@Sendable (SendOutcome) -> Void)?

    /// Called when the session's policies or its cache decide on a request. The default does nothing.
    func didDecide(_ decision: TaskEvent.Decision, on request: InstrumentedRequest)

    /// Called when the session has waited for user code, a store, a pause or the network. The default does nothing.
    func didPerform(_ step: InstrumentedStep, for request: InstrumentedRequest)
}

extension Instrument {
    /// Returns `base`.
    public func transport(over base: any Transport) -> any Transport { base }
    /// Nil.
    public var connectionObserver: (any ConnectionObserver)? { nil }
    /// Nil.
    public func willSend(_ request: inout InstrumentedRequest) -> (@Sendable (SendOutcome) -> Void)? { nil }
    /// Does nothing.
    public func didDecide(_ decision: TaskEvent.Decision, on request: InstrumentedRequest) {}
    /// Does nothing.
    public func didPerform(_ step: InstrumentedStep, for request: InstrumentedRequest) {}
}

/// A wait of the engine, for an ``Instrument``.
public struct InstrumentedStep: Sendable, Hashable {
    /// The object of the wait, such as `adapt`, `decide on retry`, `hook: redirect`, `renew credential` or `cache`.
    public let name: String
    /// When it began.
    public let start: ContinuousClock.Instant
    /// When it ended.
    public let end: ContinuousClock.Instant
}
