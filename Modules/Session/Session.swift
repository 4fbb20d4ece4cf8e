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
    let hasBecomeInvalid = Atomic(false)
    let executor: CallbackExecutor
    let transport: any Transport
    let policy: Mutex<SecurityPolicy>
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
        do {
            self.init(configuration: configuration, transport: try HTTPTransport(settings))
        } catch {
            throw SessionError(error, url: nil)
        }
    }

    /// Makes a session over a transport, which it shuts down in the end.
    ///
    /// What the configuration says of connections, TLS and trust is the transport's business then, and not read.
    public init(configuration: Configuration = Configuration(), transport: any Transport) {
        self.transport = transport
        policy = Mutex(configuration.securityPolicy)
        hub = TaskEventHub(hooks: configuration.hooks, executor: configuration.callbackExecutor)
        hooks = configuration.sessionHooks
        executor = configuration.callbackExecutor
        reachabilityMonitor = configuration.reachabilityMonitor
        engine = Engine(configuration, transport: transport)
    }
}
