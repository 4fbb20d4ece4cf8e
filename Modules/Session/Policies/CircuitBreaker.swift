public import FoundationEssentials
internal import LinnetMessages
internal import LinnetTransport
internal import Synchronization

/// Stops sending to an origin that fails, and tries again with single requests.
///
/// ```swift
/// let breaker = CircuitBreaker()
/// let session = try HTTPSession { $0.circuitBreaker = breaker }
/// print(breaker.state(of: url))
/// ```
/// While the circuit of an origin is closed, its outcomes in the last ten seconds are counted. It opens when enough of
/// them have failed, and requests then fail at once with ``SessionError/Code/circuitOpen``, without a connection. After
/// ``Configuration/openDuration``, it is half open: one request is sent, and its outcome closes or opens the circuit.
/// Each exchange with a server counts, also the ones of retries and redirects; answers of the cache do not, and are
/// given whatever the state. A cancelled request does not count.
///
/// Sessions that share a breaker share its circuits. It knows at most 1,000 origins; beyond, it forgets those that are
/// closed first.
public final class CircuitBreaker: Sendable {
    /// The state of an origin's circuit.
    public enum State: Sendable, Hashable {
        /// Requests are sent.
        case closed
        /// Requests are refused.
        case open
        /// One request is on its way, and others are refused.
        case halfOpen
    }

    /// A change of an origin's circuit.
    public struct Change: Sendable, Hashable {
        /// The origin.
        public let origin: Origin
        /// The new state.
        public let state: State
    }

    /// The conditions for opening and closing.
    public struct Configuration: Sendable, Hashable {
        /// The share of failures that opens the circuit, above 0 and at most 1. The default is 0.5.
        public var failureShare = 0.5
        /// The number of outcomes in ten seconds below which a circuit stays closed, at least 1. The default is 20.
        public var minimumRequests = 20
        /// The time until an open circuit is half open, above zero. The default is 5 seconds. A request that is the
        /// probe has as much time before another one is.
        public var openDuration = Duration.seconds(5)
        /// The statuses that count as failures. The default is 500, 502, 503 and 504.
        public var statusCodes: Set<Int> = [500, 502, 503, 504]
        /// The errors that count as failures. The default is errors of name resolution and connections, and all
        /// timeouts. Other errors count as neither.
        public var errorCodes: Set<SessionError.Code> = [
            .nameResolutionFailed, .connectionFailed, .connectionLost, .timeout,
        ]

        /// Creates the default conditions.
        public init() {}

        func check() throws(SessionError) {
            guard failureShare > 0, failureShare <= 1, minimumRequests >= 1, openDuration > .zero else {
                throw SessionError(
                    .invalidConfiguration,
                    "A circuit breaker needs a share of failures above 0 and at most 1, at least one request, and a time."
                )
            }
        }
    }

    /// The conditions.
    public let configuration: Configuration
    private let table = Mutex(OriginTable<CircuitMachine>())
    private let broadcaster = Broadcaster<Change>()
    private let now: @Sendable () -> Duration

    /// Creates a breaker. A session refuses an invalid configuration with ``SessionError/Code/invalidConfiguration``.
    public convenience init(_ configure: (inout Configuration) -> Void = { _ in }) {
        let start = Tick.now
        self.init(configure) { .zero - start.timeLeft }
    }

    /// - Parameter now: The time since any fixed moment.
    init(_ configure: (inout Configuration) -> Void, now: @escaping @Sendable () -> Duration) {
        var configuration = Configuration()
        configure(&configuration)
        self.configuration = configuration
        self.now = now
    }

    /// The state of the circuit of a URL's origin; closed for a URL without one.
    public func state(of url: URL) -> State {
        guard let origin = try? Origin(url) else { return .closed }
        return table.withLock { $0[origin]?.state } ?? .closed
    }

    /// The changes of all circuits from now on.
    public var changes: EventSequence<Change> {
        EventSequence(limit: EventSequence<Change>.limit) { buffer in broadcaster.subscribe { buffer.append($0) } }
    }

    var originCount: Int { table.withLock { $0.count } }

    // MARK: The chain

    func admit(_ origin: Origin) -> CircuitMachine.Admission {
        change(origin) { $0.admit(at: $1) }
    }

    func record(_ outcome: CircuitMachine.Outcome, of phase: CircuitMachine.Phase, _ origin: Origin) {
        change(origin) { $0.record(outcome, of: phase, at: $1) }
    }

    private func change<Result>(_ origin: Origin, _ body: (inout CircuitMachine, Duration) -> Result) -> Result {
        let now = now()
        let (result, state) = table.withLock { table in
            table.change(origin, at: now, make: { CircuitMachine(configuration) }) { circuit in
                let before = circuit.state
                let result = body(&circuit, now)
                return (result, circuit.state == before ? nil : circuit.state)
            }
        }
        if let state { broadcaster.post(Change(origin: origin, state: state)) }
        return result
    }
}
