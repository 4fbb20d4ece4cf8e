public import FoundationEssentials
internal import LinnetTransport
internal import NIOCore
internal import Synchronization

/// An HTTP/1.1 and HTTP/2 server in the test's process, plain or over TLS, on a free port of the loopback address or a
/// unix socket.
///
/// ```swift
/// let server = try await MockServer.start { request in
///     request.path == "/" ? .text("hello") : .status(.notFound)
/// }
/// // Send requests to server.url.
/// let request = try await server.nextRequest()
/// await server.shutdown()
/// ```
///
/// The default is HTTP/1.1; see ``Configuration/httpVersions``. The server runs on a separate thread and shares no HTTP
/// code with Linnet's client. Its responses can be deliberately invalid (``MockResponse/raw(_:)-([UInt8])``,
/// ``Fault``). The server runs until ``shutdown()`` is called, even when it is released.
/// ``withMockServer(tls:configuration:handler:perform:)`` shuts it down automatically.
public final class MockServer: Sendable {
    /// A closure that answers a request.
    ///
    /// Over HTTP/1.1 it runs in the connection's task, which is cancelled when the client closes the connection or the
    /// server shuts down. Requests on one connection are answered sequentially, requests on different connections
    /// concurrently. Over HTTP/2 each stream has a task, which is also cancelled when the client resets the stream.
    public typealias Handler = @Sendable (RecordedRequest) async -> MockResponse

    /// The root URL: `http` or `https`, ``Configuration/hostName`` and ``port``.
    public let url: URL
    /// The host name in ``url``.
    public let host: String
    /// The port that the system selected; for a server on a unix socket, the default port of the scheme.
    public let port: Int

    let log: RequestLog
    private let registry: ConnectionRegistry
    private let listener: Listener
    private let ending = Mutex<Task<Void, Never>?>(nil)

    init(url: URL, host: String, port: Int, listener: Listener, service: Service) {
        self.url = url
        self.host = host
        self.port = port
        self.listener = listener
        self.log = service.log
        self.registry = service.registry
    }

    /// Returns a URL on this server.
    ///
    /// - Parameter pathAndQuery: The path and query, such as `/items?page=2`.
    /// - Throws: ``TestingError`` with ``TestingError/Code/invalidURL`` when the text does not begin with a slash or is
    ///   not valid in a URL.
    public func url(_ pathAndQuery: String) throws(TestingError) -> URL {
        let root = url.absoluteString.hasSuffix("/") ? String(url.absoluteString.dropLast()) : url.absoluteString
        guard pathAndQuery.hasPrefix("/"), let url = URL(string: root + pathAndQuery) else {
            throw TestingError(
                .invalidURL, "\"\(pathAndQuery)\" is not a valid path and query; it must begin with a slash.")
        }
        return url
    }

    /// The number of open connections.
    public var openConnections: Int { registry.openConnections }

    /// The number of connections that were accepted so far.
    public var acceptedConnections: Int { registry.acceptedConnections }

    /// Closes the connections on which no request is in progress, as a server does after its keep-alive timeout.
    ///
    /// A connection whose client has received the whole response is idle. Over HTTP/2 GOAWAY is sent first.
    ///
    /// - Returns: The number of closed connections.
    @discardableResult
    public func closeIdleConnections() async -> Int {
        var closed = 0
        for connection in registry.connections where await connection.closeIfIdle() { closed += 1 }
        return closed
    }

    /// Stops listening, cancels the handlers, closes all connections, and returns when all descriptors, tasks and
    /// threads of the server are gone.
    ///
    /// It waits for the handlers to return: a handler that ignores cancellation delays it, and a handler must not call
    /// it. Further calls wait for the same shutdown.
    public func shutdown() async {
        let task = ending.withLock { ending in
            let task = ending ?? Task { await end() }
            ending = task
            return task
        }
        await task.value
    }

    private var isShuttingDown: Bool { ending.withLock { $0 != nil } }

    private func end() async {
        await listener.stopAccepting()
        await registry.closeAll()
        await listener.stop()
        log.finish()
    }
}

extension MockServer {
    /// Starts a server.
    ///
    /// - Parameters:
    ///   - identity: The certificate chain and key for TLS. Nil, the default, serves plain HTTP.
    ///   - configuration: The settings of the server.
    ///   - handler: Answers the requests.
    /// - Throws: ``TestingError`` with ``TestingError/Code/cannotListen``, or with
    ///   ``TestingError/Code/invalidConfiguration`` when the identity or the host name is invalid.
    public static func start(
        tls identity: TestPKI.Identity? = nil,
        configuration: Configuration = Configuration(),
        handler: @escaping Handler
    ) async throws(TestingError) -> MockServer {
        try await start(tls: identity, configuration, .http(handler))
    }

    /// Starts a server that answers requests with routes.
    ///
    /// - Throws: ``TestingError`` as ``start(tls:configuration:handler:)`` does.
    public static func start(
        tls identity: TestPKI.Identity? = nil,
        configuration: Configuration = Configuration(),
        routes: Routes
    ) async throws(TestingError) -> MockServer {
        try await start(tls: identity, configuration, .http { await routes.respond(to: $0) })
    }

    /// Starts a server without HTTP: a closure reads and writes the bytes of each connection.
    ///
    /// ``recordedRequests`` stays empty. Over TLS, the closure reads and writes plaintext, and ALPN offers the
    /// protocols of ``Configuration/httpVersions``.
    ///
    /// - Parameters:
    ///   - identity: The certificate chain and key for TLS. Nil, the default, uses plain TCP.
    ///   - configuration: The settings of the server.
    ///   - serve: Serves a connection, which is closed when the closure returns or throws.
    /// - Throws: ``TestingError`` as ``start(tls:configuration:handler:)`` does.
    public static func startRaw(
        tls identity: TestPKI.Identity? = nil,
        configuration: Configuration = Configuration(),
        serve: @escaping @Sendable (RawConnection) async throws -> Void
    ) async throws(TestingError) -> MockServer {
        try await start(tls: identity, configuration, .raw(serve))
    }

    private static func start(
        tls identity: TestPKI.Identity?, _ configuration: Configuration, _ kind: Service.Kind
    ) async throws(TestingError) -> MockServer {
        let service = Service(kind: kind, configuration: configuration, tls: try tlsContext(identity, configuration))
        let listener = try await Listener.start(service)
        let (scheme, usualPort) = identity == nil ? ("http", 80) : ("https", 443)
        let port = listener.port ?? usualPort
        guard let url = URL(string: "\(scheme)://\(configuration.hostName):\(port)/") else {
            await listener.stop()
            throw TestingError(.invalidConfiguration, "\"\(configuration.hostName)\" is not a valid host name.")
        }
        let server = MockServer(
            url: url, host: configuration.hostName, port: port, listener: listener, service: service)
        // A server that is only released runs on, so the ledger keeps it.
        ResourceLedger.current?.add { server.isShuttingDown ? nil : "the server at \(url)" }
        return server
    }

    private static func tlsContext(
        _ identity: TestPKI.Identity?, _ configuration: Configuration
    ) throws(TestingError) -> TLSServerContext? {
        guard let identity else { return nil }
        return try TLSServerContext(
            identity, applicationProtocols: configuration.httpVersions.applicationProtocols,
            issuesSessionTickets: configuration.issuesSessionTickets,
            stapledOCSPResponse: configuration.stapledOCSPResponse,
            clientCertificates: configuration.clientCertificates)
    }
}

extension MockServer {
    /// A failure of a connection that the client caused, such as a refused handshake or a malformed request.
    public struct ConnectionFailure: Sendable, CustomStringConvertible {
        /// The number of the connection, counted from 0.
        public var connectionIndex: Int
        /// The failure, as text.
        public var description: String
    }

    /// The requests so far, in order of arrival.
    ///
    /// A request is recorded when its body is complete or has ended early, in which case ``RecordedRequest/isComplete``
    /// is false. In streamed mode it is recorded after its head and updated as its body arrives.
    public var recordedRequests: [RecordedRequest] { log.requests }

    /// The connection failures so far.
    public var connectionFailures: [ConnectionFailure] { log.failures }

    /// Returns the next request that this method has not returned yet, waiting for it if necessary.
    ///
    /// - Throws: ``TestingError`` with ``TestingError/Code/cancelled`` when the task is cancelled, or with
    ///   ``TestingError/Code/shutDown`` when the server was shut down and every request was returned.
    public func nextRequest() async throws(TestingError) -> RecordedRequest {
        try await log.next()
    }
}
