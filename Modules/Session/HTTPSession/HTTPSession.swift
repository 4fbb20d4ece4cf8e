public import FoundationEssentials
public import HTTPTypes
public import LinnetSecurity
public import LinnetTransport
internal import Synchronization

/// Sends requests to one server, with a base URL, verbs and serializers, over a ``Session``.
///
/// ```swift
/// let api = try HTTPSession(baseURL: URL(string: "https://api.example.com/v1")) { $0.timeouts.request = .seconds(30) }
/// let posts = try await api.get("posts", ["page": 2]).value(as: [Post].self)
/// ```
/// A verb returns an ``HTTPCall``, and sends nothing. The call's `async` functions run in the caller's task; a handle from
/// ``HTTPCall/task(as:)`` is suspended until it is resumed. Failures before anything is sent, such as a bad URL, are reported
/// in the same way as the rest.
public final class HTTPSession: Sendable {
    /// The base that relative URLs are resolved against; its path, if any, ends with a slash.
    public let baseURL: URL?
    /// The session that sends the requests, with its events, handles and shutdown.
    public let session: Session
    /// The configuration of a session.
    public typealias Configuration = Session.Configuration

    let configuration: Configuration
    let resolver: URLResolver
    private let fields: Mutex<HTTPFields>

    /// Makes a session over sockets. Opens no connection yet.
    ///
    /// Throws ``SessionError/Code/invalidURL`` for a base URL that is not http or https with a host, and
    /// ``SessionError/Code/invalidConfiguration`` when the configuration cannot be enforced: among others a security policy
    /// that pins, with a base URL that is not https, or with none; and one that lets no clear text go to the base URL's host,
    /// which is http.
    public convenience init(
        baseURL: URL? = nil, _ configure: (inout Configuration) throws -> Void = { _ in }
    ) throws(SessionError) {
        try self.init(baseURL: baseURL, configuration: Configuration.make(configure))
    }

    /// Makes a session over sockets. Opens no connection yet. Throws as ``init(baseURL:_:)`` does.
    public convenience init(baseURL: URL? = nil, configuration: Configuration) throws(SessionError) {
        // Judged first, so that nothing is left to shut down.
        _ = try URLResolver(baseURL: baseURL, policy: configuration.securityPolicy)
        try self.init(
            baseURL: baseURL, configuration: configuration, session: Session(configuration: configuration))
    }

    /// Makes a session over a transport, which the session shuts down when it ends. Throws as ``init(baseURL:_:)`` does.
    public convenience init(
        baseURL: URL? = nil, configuration: Configuration = Configuration(), transport: any Transport
    ) throws(SessionError) {
        try self.init(
            baseURL: baseURL, configuration: configuration,
            session: Session(configuration: configuration, transport: transport))
    }

    /// Makes a session that shares the connections of another; only the serializers, the encoder, the decoder and the
    /// header fields of `configuration` are used.
    ///
    /// Throws as ``init(baseURL:_:)`` does, going by the shared session's policy.
    public init(
        baseURL: URL? = nil, configuration: Configuration = Configuration(), session: Session
    ) throws(SessionError) {
        resolver = try URLResolver(baseURL: baseURL, policy: session.securityPolicy)
        self.baseURL = resolver.baseURL
        self.configuration = configuration
        self.session = session
        fields = Mutex(configuration.headerFields)
    }

    /// The header fields of the session's calls: those of its configuration, and what ``setHeader(_:_:)`` has made of them.
    ///
    /// They take the place of the request serializer's fields with the same names, and a call's own take the place of both.
    public var headerFields: HTTPFields { fields.withLock { $0 } }

    /// Sets a header field for the calls that start from now on; nil removes what was set. Those that run keep what they have.
    ///
    /// Credentials that are set here, such as Authorization and Cookie, stay at the base URL's origin. A field of
    /// ``Session/Configuration/headerFields`` is the session's for all requests: it can be replaced here, and not removed.
    ///
    /// ```swift
    /// api.setHeader(.authorization, "Bearer \(token)")
    /// ```
    public func setHeader(_ name: HTTPField.Name, _ value: String?) {
        fields.withLock { $0[name] = value }
    }

    /// Replaces the security policy as ``Session/replaceSecurityPolicy(_:)`` does.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` too for a policy that ``init(baseURL:_:)`` would refuse with the base
    /// URL.
    public func replaceSecurityPolicy(_ policy: SecurityPolicy) throws(SessionError) {
        _ = try URLResolver(baseURL: baseURL, policy: policy)
        try session.replaceSecurityPolicy(policy)
    }

    /// Replaces the client identities as ``Session/replaceClientIdentities(_:)`` does.
    public func replaceClientIdentities(_ identities: ClientIdentityPolicy) throws(SessionError) {
        try session.replaceClientIdentities(identities)
    }

    /// The executors on the session's event loops, as ``Session/taskExecutors`` has them.
    public var taskExecutors: [any TaskExecutor] { session.taskExecutors }

    /// Ends the session as ``Session/shutdown(_:)`` does.
    public func shutdown(_ mode: ShutdownMode = .graceful) async {
        await session.shutdown(mode)
    }
}
