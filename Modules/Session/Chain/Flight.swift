internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

/// One request on its way through the chain, with all its state.
///
/// A surface of the session makes it, the engine begins it, and the links keep their notes in it until the outcome
/// comes back. A plain call has no hooks, additions or observer, and does not pay for them.
struct Flight: Sendable {
    /// The outcome of the request.
    typealias Outcome = Result<StreamedResponse, SessionError>

    /// The request from the link above the current one.
    private(set) var request: SessionRequest
    /// The requested form of the body on its way up. A link that answers itself may deliver either form.
    var delivery = ResponseDelivery.streamed
    /// Observes the transfer.
    var observer: (any TransferObserver)?
    /// Suspends and orders the transfer.
    var control: (any TransferControl)?
    /// The hooks of the session and of the request.
    var hooks: RequestHooks?
    /// The call's additions to the chain of its session.
    var additions: Boxed<Additions>?
    /// The protocol to switch the connection to. Only calls for a protocol have one.
    var upgrade: ProtocolUpgrade?
    /// The time when the request must have ended, including attempts and waits; nil means never.
    var deadline: Tick?
    /// Whether a timer around the whole request enforces the deadline.
    var isTimed = false
    /// Whether the request is a part of one that the engine has begun, and shares its deadline and its record.
    var isPart = false
    /// The notes about the request; nil when nothing in the chain reads them.
    var record: Record?
    /// Reports the decisions on a request without a handle; nil if its events are not reported.
    var reporter: TaskReporter?
    /// The session's instruments; nil in a session without any.
    var instruments: FlightInstruments?

    /// The answer to the question that a link has asked, until the link takes it.
    var answer: ChainAnswer?
    var retries = RetryLink.Note()
    var redirects: Boxed<RedirectLink.Note>?
    var renewal: Boxed<RenewalLink.Note>?
    var authentication: Boxed<AuthenticationLink.Note>?
    var cache = CacheLink.Note()
    /// The phase of the origin's circuit in which the request was admitted.
    var circuit: Boxed<CircuitMachine.Phase>?
    /// The place among the requests that run at the origin.
    var permit: ConcurrencyPermit?
    /// Whether the request asks for the server's consent before sending its body.
    var asksForConsent = false
    var connectivity: Boxed<ConnectivityLink.Note>?
    var log: Boxed<LogLink.Note>?

    private var parsedTarget: Boxed<RequestTarget>?

    // Not inlined: the frame of the function that begins a request would have three more places for a flight.
    @inline(never)
    init(_ request: consuming SessionRequest, hooks: RequestHooks? = nil, additions: Boxed<Additions>? = nil) {
        self.request = request
        self.hooks = hooks
        self.additions = additions
    }

    /// The parts of the request's URL, which are kept for the links below.
    ///
    /// - Throws: ``SessionError/Code/invalidURL``.
    mutating func target() throws(SessionError) -> RequestTarget {
        if let parsedTarget { return parsedTarget.value }
        let target = try RequestTarget(request.url)
        parsedTarget = Boxed(target)
        return target
    }

    /// The parts of the request's URL, for the last one who needs them.
    ///
    /// - Parameter known: The origin of most URLs, which is not parsed again.
    /// - Throws: ``SessionError/Code/invalidURL``.
    func lastTarget(expecting known: KnownOrigin?) throws(SessionError) -> RequestTarget {
        if let parsedTarget { return parsedTarget.value }
        return try RequestTarget(request.url, expecting: known)
    }

    /// Whether the request has no body and no hooks, and its call adds nothing to the chain of its session.
    var isPlain: Bool { additions == nil && hooks == nil && request.body == nil }

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

    /// The number of the task, where the request has a handle, hooks, or events.
    var taskID: UInt64? { hooks?.context.taskID ?? observer?.taskID ?? reporter?.id }

    /// Reports a decision to the session's instruments, and to the subscribers of its events.
    func report(_ decision: @autoclosure () -> TaskEvent.Decision) {
        instruments?.decided(decision(), request)
        // A handle delivers its updates one after the other, and a decision must not overtake the start.
        if let control {
            control.decided(decision())
        } else {
            reporter?.decided(decision())
        }
    }
}

extension Flight {
    /// A call's additions to the chain of its session.
    struct Additions: Sendable {
        /// The interceptors above the session's, the outermost first.
        var interceptors: [any Interceptor] = []
        /// The adapters after the session's.
        var adapters: [any RequestAdapter] = []
        /// The retriers before the session's.
        var retriers: [any RequestRetrier] = []
        /// The policy in place of the session's; nil for the session's.
        var retryPolicy: RetryPolicy?
        /// The policy in place of the session's; nil for the session's.
        var hedging: HedgingPolicy?
    }

    /// The notes about one request that outlive an attempt: its numbers for the log, and the facts for retriers.
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

        /// The request of the last attempt after the adapters' changes.
        var adapted: SessionRequest? { state.withLock { $0.adapted } }

        /// Begins an attempt, and returns its number.
        func nextAttempt() -> Int {
            let (attempts, former) = state.withLock { state in
                state.attempts += 1
                return (state.attempts, state.adapted.take())
            }
            // Released after unlocking, since its body can be the program's.
            withExtendedLifetime(former) {}
            return attempts
        }

        /// Returns the number of a send, from 1. An attempt sends several times when it is redirected or authenticated.
        func nextSend() -> Int {
            state.withLock { state in
                state.sends += 1
                return state.sends
            }
        }

        func adapt(_ request: SessionRequest) {
            var former: SessionRequest? = request
            state.withLock { swap(&$0.adapted, &former) }
            withExtendedLifetime(former) {}
        }
    }
}

extension RequestTarget {
    init(_ url: URL, expecting known: KnownOrigin? = nil) throws(SessionError) {
        do {
            try self.init(parsing: url, expecting: known)
        } catch {
            throw .invalidURL(error.message, url)
        }
    }

    /// The head of a request to this target. User information becomes Basic credentials, unless the request has an
    /// Authorization field.
    func head(of request: SessionRequest) -> HTTPRequest {
        var head = HTTPRequest(
            method: request.method, scheme: origin.scheme, authority: origin.authority, path: path,
            headerFields: request.headerFields)
        if let userInfo, !head.headerFields.contains(.authorization) {
            head.headerFields[.authorization] = HTTPFields.basicAuthorization(
                username: userInfo.user, password: userInfo.password)
        }
        return head
    }
}
