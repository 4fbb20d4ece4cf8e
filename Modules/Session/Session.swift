public import LinnetReachability
internal import LinnetSecurity
public import LinnetTransport
internal import Synchronization

/// Sends requests over its own connections.
///
/// ```swift
/// let session = try Session { $0.timeouts.request = .seconds(10) }
/// let response = try await session.data(for: Request(url: url))
/// await session.shutdown()
/// ```
/// The same engine serves `async` functions, handles, and callbacks on handles. All of them may be called from any thread. Make
/// one session and keep it, since it keeps connections open. ``HTTPSession`` adds a base URL, verbs and serializers.
public final class Session: Sendable {
    let engine: Engine
    let hub: TaskEventHub
    let registry = TaskRegistry()
    let hooks: SessionHooks
    let executor: CallbackExecutor
    let transport: any Transport
    let policy: Mutex<SecurityPolicy>
    let identities: Mutex<ClientIdentityPolicy>
    /// Held while the transport's policy or identities are replaced, so that the session's properties match the transport.
    let replacement = Mutex(())
    /// What the session was made with.
    let configuration: Configuration
    /// Whether the session made the transport.
    private let hasMadeTransport: Bool
    /// The configuration's network monitor, if any.
    public let reachabilityMonitor: ReachabilityMonitor?

    /// Makes a session over sockets. Opens no connection yet.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` when the configuration cannot be enforced, or when the function
    /// throws; its error is then the underlying one.
    public convenience init(_ configure: (inout Configuration) throws -> Void = { _ in }) throws(SessionError) {
        try self.init(configuration: Configuration.make(configure))
    }

    /// Makes a session over sockets. Opens no connection yet.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` when the configuration cannot be enforced.
    public convenience init(configuration: Configuration) throws(SessionError) {
        var settings = configuration.transport
        settings.securityPolicy = try settings.securityPolicy.asking(configuration.sessionHooks.didReceiveServerTrust)
        settings.clientIdentities = settings.clientIdentities.asking(
            hook: configuration.sessionHooks.didReceiveClientCertificateRequest)
        do {
            self.init(configuration, try HTTPTransport(settings), hasMadeTransport: true)
        } catch {
            throw SessionError(error, url: nil)
        }
    }

    /// Makes a session over a transport, which the session shuts down when it ends.
    ///
    /// The configuration's settings for connections, TLS and trust are ignored; the transport has its own.
    public convenience init(configuration: Configuration = Configuration(), transport: any Transport) {
        self.init(configuration, transport, hasMadeTransport: false)
    }

    /// Makes a session with the same configuration, and the current security policy, to replace a session that has ended or
    /// will end. It has its own connections; the objects that the configuration refers to, such as the callback executor and
    /// the credential store, are shared.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` when this session was made over a transport: it needs another one; see
    /// ``successor(over:)``.
    public func successor() throws(SessionError) -> Session {
        guard hasMadeTransport else {
            throw SessionError(.invalidConfiguration, "A session over a given transport needs another transport.")
        }
        return try Session(configuration: currentConfiguration)
    }

    /// Makes a session with the same configuration over another transport.
    public func successor(over transport: any Transport) -> Session {
        Session(configuration: currentConfiguration, transport: transport)
    }

    private var currentConfiguration: Configuration {
        var configuration = configuration
        configuration.securityPolicy = securityPolicy
        configuration.clientIdentities = clientIdentities
        return configuration
    }

    private init(_ configuration: Configuration, _ transport: any Transport, hasMadeTransport: Bool) {
        self.configuration = configuration
        self.hasMadeTransport = hasMadeTransport
        self.transport = transport
        let latch = configuration.sessionHooks.didBecomeInvalid.map {
            InvalidationLatch($0, on: configuration.callbackExecutor)
        }
        policy = Mutex(configuration.securityPolicy)
        identities = Mutex(configuration.clientIdentities)
        hub = TaskEventHub(
            hooks: configuration.hooks, executor: configuration.callbackExecutor, group: configuration.completionGroup,
            latch: latch)
        hooks = configuration.sessionHooks
        executor = configuration.callbackExecutor
        reachabilityMonitor = configuration.reachabilityMonitor
        engine = Engine(configuration, transport: transport)
    }
}
