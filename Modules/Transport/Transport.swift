public import HTTPTypes
public import LinnetMessages
public import LinnetSecurity

/// Sends a request and returns its response.
///
/// ``HTTPTransport`` sends over sockets. Tests can use a stub. Only ``send(_:observer:)`` and ``shutdown(_:)`` are
/// required; the defaults of the other members suit a transport without persistent connections.
public protocol Transport: Sendable {
    /// Sends a request and returns the response, with its body as ``TransportRequest/delivery`` says.
    ///
    /// Cancelling the task fails the request with ``TransportError/Code/cancelled``.
    func send(
        _ request: TransportRequest, observer: (any TransportObserver)?
    ) async throws(TransportError) -> TransportResponse

    /// Executors for tasks that send many small requests, one for each event loop; empty if the transport has none. See
    /// ``HTTPTransport/taskExecutors``.
    var taskExecutors: [any TaskExecutor] { get }

    /// Whether the transport fails a request that exceeds ``TransportTimeouts/request``. The default is false: a
    /// session cancels the request at that time.
    var enforcesRequestTimeout: Bool { get }

    /// The path of the unix socket for requests to an origin; nil, the default, for requests over the network. A
    /// session follows no redirect from another host to such an origin. A transport that forwards requests to another
    /// one returns that one's path.
    func unixSocket(of origin: Origin) -> String?

    /// Stops using resources that were kept for later requests. Running requests finish. The default does nothing.
    func discard(_ resources: TransportResources)

    /// Opens connections to the host of a URL in advance, up to `count` in total, or one if the requests can share it.
    /// Returns immediately; failures to open a connection are ignored. The default does nothing.
    ///
    /// - Throws: ``TransportError`` if a request with this head would be refused without a connection.
    func prewarm(_ head: HTTPRequest, connections count: Int) throws(TransportError)

    /// Replaces the security policy: once it has returned, no request starts under the old one. The default throws.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if the transport has no security policy.
    func replaceSecurityPolicy(_ policy: SecurityPolicy) throws(TransportError)

    /// Replaces the client identities: once it has returned, no connection is made under the old ones. The default
    /// throws.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if the transport has no client identities, or cannot use
    ///   these.
    func replaceClientIdentities(_ identities: ClientIdentityPolicy) throws(TransportError)

    /// Shuts the transport down. Later requests fail with ``TransportError/Code/shutDown``.
    func shutdown(_ mode: ShutdownMode) async
}

extension Transport {
    /// No executors.
    public var taskExecutors: [any TaskExecutor] { [] }
    /// False.
    public var enforcesRequestTimeout: Bool { false }
    /// Nil.
    public func unixSocket(of origin: Origin) -> String? { nil }
    /// Does nothing.
    public func discard(_ resources: TransportResources) {}
    /// Does nothing.
    public func prewarm(_ head: HTTPRequest, connections count: Int) throws(TransportError) {}
    /// Throws ``TransportError/Code/invalidConfiguration``.
    public func replaceSecurityPolicy(_ policy: SecurityPolicy) throws(TransportError) {
        throw TransportError(.invalidConfiguration, "The transport has no security policy to replace.")
    }
    /// Throws ``TransportError/Code/invalidConfiguration``.
    public func replaceClientIdentities(_ identities: ClientIdentityPolicy) throws(TransportError) {
        throw TransportError(.invalidConfiguration, "The transport has no client identities to replace.")
    }
}

/// The resources that a transport keeps for later requests, for ``Transport/discard(_:)``.
public struct TransportResources: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The connections that no request uses: they are closed.
    public static let idleConnections = TransportResources(rawValue: 1)
    /// All open connections, for example after a network change: unused ones are closed now, the others after their
    /// current requests.
    public static let connections = TransportResources(rawValue: 2)
    /// The addresses of host names. Open connections are kept.
    public static let resolvedNames = TransportResources(rawValue: 4)
}

/// How a transport shuts down.
public enum ShutdownMode: Sendable, Hashable {
    /// Running requests finish; idle connections are closed.
    case graceful
    /// Running requests fail with ``TransportError/Code/shutDown``; all connections are closed.
    case immediate
}

/// Observes the progress of a request.
///
/// The methods are called on the connection's event loop, in order, and must not block. ``willWait(_:)`` is called in
/// the task that sends the request, before it has a connection.
public protocol TransportObserver: Sendable {
    /// No connection is available: the request waits, and its priority can be changed through its place.
    func willWait(_ place: WaitingPlace)
    /// An informational response (1xx other than 101) arrived.
    func didReceiveInformational(_ head: HTTPResponse)
    /// The socket accepted more bytes of the request body.
    func didSendBody(bytes: Int)
    /// An attempt ended, successfully or not; another one may follow. If no connection could be opened, this is called
    /// in the task that sends the request.
    func didFinishAttempt(_ metrics: TransportMetrics)
}

extension TransportObserver {
    /// Does nothing.
    public func willWait(_ place: WaitingPlace) {}
    /// Does nothing.
    public func didReceiveInformational(_ head: HTTPResponse) {}
    /// Does nothing.
    public func didSendBody(bytes: Int) {}
    /// Does nothing.
    public func didFinishAttempt(_ metrics: TransportMetrics) {}
}
