internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

/// A place in the chain that requests go down and responses come up.
struct Link: Sendable {
    let interceptor: any Interceptor
    /// The interceptor, if it need not be called for every request.
    let passive: (any PassiveInterceptor)?
    /// Whether the interceptor is the user's, and may ignore that its request is cancelled.
    let isUsers: Bool

    init(_ interceptor: any Interceptor, isUsers: Bool = false) {
        self.interceptor = interceptor
        self.isUsers = isUsers
        passive = interceptor as? any PassiveInterceptor
    }

    /// The links that see decoded bodies, from top to bottom.
    static func linksAboveCoding(
        _ configuration: HTTPSession.Configuration, _ transport: any Transport
    ) -> [Link] {
        var links = configuration.interceptors.map { Link($0, isUsers: true) }
        let retries = RetryInterceptor(
            policy: configuration.retryPolicy, hasRetriers: !configuration.retriers.isEmpty)
        links.append(Link(retries))
        links.append(Link(AdapterInterceptor(adapters: configuration.requestAdapters)))
        let redirects = RedirectInterceptor(
            policy: configuration.redirectPolicy, hstsStore: configuration.hstsStore, transport: transport,
            secrets: configuration.redaction.credentialNames)
        links.append(Link(redirects))
        if let store = configuration.hstsStore { links.append(Link(HSTSInterceptor(store: store))) }
        links.append(Link(AuthenticationInterceptor(store: configuration.credentialStore)))
        if let jar = configuration.cookieJar { links.append(Link(CookieInterceptor(jar: jar))) }
        return links
    }

    /// The links that see bodies as they were sent, from top to bottom; below them is the transport's.
    static func linksBelowCoding(
        _ configuration: HTTPSession.Configuration, _ transport: any Transport, _ network: NetworkWatch?
    ) -> [Link] {
        var links: [Link] = []
        if let store = configuration.cacheStore { links.append(Link(CacheInterceptor(configuration, store: store))) }
        if let network {
            let waits = ConnectivityInterceptor(
                watch: network, transport: transport, waits: configuration.waitsForConnectivity,
                limit: configuration.connectivityTimeout)
            links.append(Link(waits))
        }
        links.append(Link(ContinueInterceptor(policy: configuration.continuePolicy)))
        if let logger = configuration.logger {
            links.append(Link(LogInterceptor(logger: logger, redaction: configuration.redaction)))
        }
        return links
    }
}

/// What a call adds to the chain of its session.
struct CallChain: Sendable {
    /// Above the session's interceptors, the outermost first.
    var interceptors: [any Interceptor] = []
    /// After the session's adapters.
    var adapters: [any RequestAdapter] = []
    /// Before the session's retriers.
    var retriers: [any RequestRetrier] = []
    /// In place of the session's policy; nil for the session's.
    var retryPolicy: RetryPolicy?
}

/// What the links of the chain know about a request beside the request itself. The same for every attempt.
struct Exchange: Sendable {
    /// How the body is to come up the chain; a link that answers itself may hand over either kind.
    var delivery: ResponseDelivery
    var call: CallContext
    /// When the whole request must have ended, attempts and waiting included; nil means never.
    var deadline: Tick?
    /// What is noted about the request; nil when the chain has neither a log, nor adapters, nor retriers.
    var record: RequestRecord?
}

/// What the links of the chain note about one request: its numbers for the log, and what the retriers look at.
final class RequestRecord: Sendable {
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
    @discardableResult
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
