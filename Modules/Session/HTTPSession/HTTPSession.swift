public import FoundationEssentials
public import HTTPTypes
public import LinnetReachability
internal import LinnetSecurity
public import LinnetTransport
internal import Synchronization

/// Sends requests over its own connections.
///
/// ```swift
/// let api = try HTTPSession(baseURL: URL(string: "https://api.example.com/v1")) { $0.timeouts.request = .seconds(30) }
/// let posts = try await api.get("posts", ["page": 2]).value(as: [Post].self)
/// await api.shutdown()
/// ```
/// A verb returns an ``HTTPCall``, and sends nothing. The call's `async` functions run in the caller's task; a handle
/// from ``HTTPCall/task(as:)`` is suspended until it is resumed. Failures before anything is sent, for example because
/// of a bad URL, are reported in the same way as all others.
///
/// All functions may be called from any thread. Make one session and keep it, because it reuses its connections.
public final class HTTPSession: Sendable {
    /// The base that relative URLs are resolved against; its path, if any, ends with a slash.
    public let baseURL: URL?
    /// The configuration's network monitor, if any.
    public let reachabilityMonitor: ReachabilityMonitor?

    /// The configuration that the session was created with.
    let initialConfiguration: Configuration
    let resolver: URLResolver
    let engine: Engine
    let hub: TaskEventHub
    let registry: TaskRegistry
    let transport: any Transport
    let terms: SessionTerms
    private let fields: Mutex<HeaderTable>

    /// Makes a session over sockets. Opens no connection yet.
    ///
    /// Throws ``SessionError/Code/invalidURL`` unless the base URL is http or https with a host, and
    /// ``SessionError/Code/invalidConfiguration`` if the configuration cannot be enforced: for example, if a security
    /// policy with pins, or without clear text to the base URL's host, meets a base URL with http. An error of the
    /// function underlies it.
    public convenience init(
        baseURL: URL? = nil, _ configure: (inout Configuration) throws -> Void = { _ in }
    ) throws(SessionError) {
        try self.init(baseURL: baseURL, configuration: Configuration.make(configure))
    }

    /// Makes a session over sockets. Opens no connection yet. Throws the errors of ``init(baseURL:_:)``.
    public convenience init(baseURL: URL? = nil, configuration: Configuration) throws(SessionError) {
        // The checks come first, so that a failure leaves nothing to shut down.
        let resolver = try URLResolver(baseURL: baseURL, policy: configuration.securityPolicy)
        try configuration.check()
        var settings = configuration.transport
        settings.securityPolicy = try settings.securityPolicy.asking(configuration.sessionHooks.didReceiveServerTrust)
        settings.clientIdentities = settings.clientIdentities.asking(
            hook: configuration.sessionHooks.didReceiveClientCertificateRequest)
        do {
            self.init(resolver, configuration, try HTTPTransport(settings), ownsTransport: true)
        } catch {
            throw SessionError(error, url: baseURL)
        }
    }

    /// Makes a session over a transport, which the session shuts down when it ends.
    ///
    /// The transport has its own settings for connections and TLS; the configuration's settings for them are ignored,
    /// except for the timeouts, which accompany each request. A security policy other than `.systemTrust`, and client
    /// identities, replace the transport's. The hook for client certificates applies only together with client
    /// identities.
    ///
    /// Throws the errors of ``init(baseURL:_:)``, and ``SessionError/Code/invalidConfiguration`` if the transport
    /// cannot apply the policy or the identities, or if ``SessionHooks/didReceiveServerTrust`` is set without a policy:
    /// the transport's policy is unknown.
    public convenience init(
        baseURL: URL? = nil, configuration: Configuration = Configuration(), transport: any Transport
    ) throws(SessionError) {
        let resolver = try URLResolver(baseURL: baseURL, policy: configuration.securityPolicy)
        try configuration.check()
        try configuration.handOverTrust(to: transport)
        self.init(resolver, configuration, transport, ownsTransport: false)
    }

    /// Makes a session for another base URL that shares the connections, the tasks and the end of this one. It uses
    /// only the serializers, the encoder, the decoder and the header fields of `configuration`.
    ///
    /// Throws the errors of ``init(baseURL:_:)`` for the shared session's policy, and
    /// ``SessionError/Code/invalidConfiguration`` if `configuration` has another security policy than the shared
    /// session has now, or a hook for server trust that the shared session lacks. The shared session's hook is called.
    public init(
        baseURL: URL? = nil, configuration: Configuration = Configuration(), sharing other: HTTPSession
    ) throws(SessionError) {
        try configuration.checkTrust(sharedWith: other)
        resolver = try URLResolver(baseURL: baseURL, policy: other.securityPolicy)
        self.baseURL = resolver.baseURL
        initialConfiguration = other.initialConfiguration.coding(as: configuration)
        reachabilityMonitor = other.reachabilityMonitor
        engine = other.engine
        hub = other.hub
        registry = other.registry
        transport = other.transport
        terms = other.terms
        fields = Mutex(HeaderTable(initialConfiguration, engine.chain.coding))
    }

    private init(
        _ resolver: URLResolver, _ configuration: Configuration, _ transport: any Transport, ownsTransport: Bool
    ) {
        self.resolver = resolver
        let transport = configuration.instruments.reduce(transport) { $1.transport(over: $0) }
        self.transport = transport
        baseURL = resolver.baseURL
        initialConfiguration = configuration
        reachabilityMonitor = configuration.reachabilityMonitor
        terms = SessionTerms(configuration.securityPolicy, configuration.clientIdentities, ownsTransport: ownsTransport)
        let latch = configuration.sessionHooks.didBecomeInvalid.map {
            InvalidationLatch($0, on: configuration.callbackExecutor)
        }
        hub = TaskEventHub(
            hooks: configuration.hooks, executor: configuration.callbackExecutor, group: configuration.requestGroup,
            latch: latch)
        registry = TaskRegistry()
        engine = Engine(configuration, transport: transport, baseURL: baseURL)
        fields = Mutex(HeaderTable(configuration, engine.chain.coding))
    }

    /// The current configuration: the initial one with the current security policy, client identities and header
    /// fields.
    public var configuration: Configuration {
        var configuration = initialConfiguration
        configuration.securityPolicy = securityPolicy
        configuration.clientIdentities = clientIdentities
        configuration.headerFields = headerFields
        return configuration
    }

    /// The header fields that the session adds to its requests: ``Configuration/headerFields``, changed by
    /// ``setHeader(_:_:)``.
    ///
    /// They replace the request serializer's fields with the same names; a call's own replace both.
    public var headerFields: HTTPFields { headerTable.own }

    /// The header fields that requests get now.
    var headerTable: HeaderTable { fields.withLock { $0 } }

    /// Sets or removes a header field for all calls that start later. Running requests are not changed.
    ///
    /// Credentials in these fields, such as Authorization and Cookie, are only sent to the base URL's origin.
    ///
    /// ```swift
    /// api.setHeader(.authorization, "Bearer \(token)")
    /// ```
    public func setHeader(_ name: HTTPField.Name, _ value: String?) {
        fields.withLock {
            var own = $0.own
            own[name] = value
            $0 = $0.with(own)
        }
    }
}
