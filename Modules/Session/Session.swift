public import LinnetReachability
internal import LinnetSecurity
public import LinnetTransport
internal import Synchronization

/// Sends requests, over connections of its own.
///
/// ```swift
/// let session = try Session { $0.timeouts.request = .seconds(10) }
/// let response = try await session.data(for: Request(url: url))
/// await session.shutdown()
/// ```
/// Three surfaces lead to one engine: `async` functions, handles, and callbacks on handles. All of them may be called from
/// any thread. Make one session and keep it: it is what keeps connections open. ``HTTPSession`` adds a base URL, verbs and
/// serializers.
public final class Session: Sendable {
    let engine: Engine
    let hub: TaskEventHub
    let registry = TaskRegistry()
    let hooks: SessionHooks
    let executor: CallbackExecutor
    let transport: any Transport
    let policy: Mutex<SecurityPolicy>
    let identities: Mutex<ClientIdentityPolicy>
    /// Held while the transport's policy or identities are replaced, so that what the session says is what holds.
    let replacement = Mutex(())
    /// What the session was made with.
    let configuration: Configuration
    /// Whether the transport was the session's own to make.
    private let hasMadeTransport: Bool
    /// What watches the network, if the configuration has one.
    public let reachabilityMonitor: ReachabilityMonitor?

    /// Makes a session over sockets. Opens no connection yet.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` when the configuration cannot be enforced, or when the function
    /// throws, whose error is then the underlying one.
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

    /// Makes a session over a transport, which it shuts down in the end.
    ///
    /// What the configuration says of connections, TLS and trust is the transport's business then, and not read.
    public convenience init(configuration: Configuration = Configuration(), transport: any Transport) {
        self.init(configuration, transport, hasMadeTransport: false)
    }

    /// Makes a session with the same configuration, and the security policy that holds now: for when this one was ended, or
    /// is to be, and its user goes on. It has connections of its own; the objects that the configuration refers to, such as the
    /// callback executor and the credential store, are shared.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` when this session was made over a transport: it needs another one,
    /// as ``successor(over:)`` takes it.
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
