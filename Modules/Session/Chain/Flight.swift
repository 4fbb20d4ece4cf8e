internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

/// One request on its way through the chain, with everything that takes part in it.
///
/// A surface of the session makes it, the engine begins it, and the links keep in it what they need to know when the outcome comes
/// back. A plain call has neither hooks nor additions nor an observer, and pays for none.
struct Flight: Sendable {
    /// What the request came to.
    typealias Outcome = Result<StreamedResponse, SessionError>

    /// The request as the link above the current one sends it.
    private(set) var request: SessionRequest
    /// How the body is to come up the chain. A link that answers itself may hand over either kind.
    var delivery = ResponseDelivery.streamed
    /// Observes the transfer.
    var observer: (any TransferObserver)?
    /// Suspends and orders the transfer.
    var control: (any TransferControl)?
    /// The hooks of the session and of the request.
    var hooks: RequestHooks?
    /// What the call adds to the chain of its session.
    var additions: Boxed<Additions>?
    /// The protocol that the connection is to switch to. Only calls for one have it.
    var upgrade: ProtocolUpgrade?
    /// When the request must have ended, attempts and waiting included; nil means never.
    var deadline: Tick?
    /// Whether a timer around the whole request enforces the deadline.
    var isTimed = false
    /// Whether the request is a part of one that the engine has begun, and shares its deadline and its record.
    var isPart = false
    /// The notes about the request; nil when nothing in the chain reads them.
    var record: Record?

    /// The answer to the question that a link has asked, until the link takes it.
    var answer: ChainAnswer?
    var retries = RetryLink.Note()
    var redirects: Boxed<RedirectLink.Note>?
    var authentication: Boxed<AuthenticationLink.Note>?
    var cache = CacheLink.Note()
    /// Whether the request asks for the server's consent before it sends its body.
    var asksForConsent = false
    var connectivity: Boxed<ConnectivityLink.Note>?
    var log: Boxed<LogLink.Note>?

    private var parsedTarget: RequestTarget?

    init(_ request: SessionRequest, hooks: RequestHooks? = nil, additions: Boxed<Additions>? = nil) {
        self.request = request
        self.hooks = hooks
        self.additions = additions
    }

    /// The parts of the request's URL, which is parsed once for all links.
    ///
    /// - Parameter known: The origin of most URLs, which is not parsed again.
    /// - Throws: ``SessionError/Code/invalidURL``.
    mutating func target(expecting known: KnownOrigin? = nil) throws(SessionError) -> RequestTarget {
        if let parsedTarget { return parsedTarget }
        let target = try RequestTarget(request.url, expecting: known)
        parsedTarget = target
        return target
    }

    var hasAnswer: Bool { answer != nil }

    mutating func takeAnswer() -> ChainAnswer? {
        defer { answer = nil }
        return answer
    }

    mutating func change(to request: SessionRequest) {
        if request.url != self.request.url { parsedTarget = nil }
        self.request = request
    }

    /// The flight with another request.
    func with(_ request: SessionRequest) -> Flight {
        var flight = self
        flight.change(to: request)
        return flight
    }

    /// The number of the task, where the request has a handle or hooks.
    var taskID: UInt64? { hooks?.context.taskID ?? observer?.taskID }
}

extension Flight {
    /// What a call adds to the chain of its session.
    struct Additions: Sendable {
        /// Above the session's interceptors, the outermost first.
        var interceptors: [any Interceptor] = []
        /// After the session's adapters.
        var adapters: [any RequestAdapter] = []
        /// Before the session's retriers.
        var retriers: [any RequestRetrier] = []
        /// In place of the session's policy; nil for the session's.
        var retryPolicy: RetryPolicy?
    }

    /// The notes about one request that outlive an attempt: its numbers for the log, and what the retriers look at.
    final class Record: Sendable {
        private struct State {
            var attempts = 0
            var sends = 0
            var adapted: SessionRequest?
        }

        /// The number of the request in the process.
        let id: UInt64
        private let state = Mutex(State())

        init(id: UInt64) {
            self.id = id
        }

        /// The number of the last attempt, from 1.
        var attempts: Int { state.withLock { $0.attempts } }

        /// The request of the last attempt as the adapters changed it.
        var adapted: SessionRequest? { state.withLock { $0.adapted } }

        /// Begins an attempt, and returns its number.
        func nextAttempt() -> Int {
            state.withLock { state in
                state.attempts += 1
                state.adapted = nil
                return state.attempts
            }
        }

        /// Returns the number of a send, from 1. An attempt sends several times when it is redirected or authenticated.
        func nextSend() -> Int {
            state.withLock { state in
                state.sends += 1
                return state.sends
            }
        }

        func adapt(_ request: SessionRequest) {
            state.withLock { $0.adapted = request }
        }
    }
}
