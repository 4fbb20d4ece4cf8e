public import FoundationEssentials
internal import LinnetTransport
internal import NIOCore
internal import Synchronization

/// An HTTP/1.1 and HTTP/2 server inside the test's process, plain or over TLS, on a free port of the loopback address.
///
/// ```swift
/// let server = try await MockServer.start { request in
///     request.path == "/" ? .text("hello") : .status(.notFound)
/// }
/// // … let a client talk to server.url …
/// let request = try await server.nextRequest()
/// await server.shutdown()
/// ```
///
/// It speaks HTTP/1.1, unless ``Configuration/httpVersions`` says otherwise. The server has a thread of its own, and
/// over HTTP/1.1 shares no codec with Linnet's client on its way out: responses are written byte by byte, so that they
/// can also be wrong on purpose (``MockResponse/raw(_:)-([UInt8])``, ``Fault``). It serves
/// until ``shutdown()``; releasing it does not end it. ``withMockServer(tls:configuration:handler:perform:)`` ends it
/// by itself.
public final class MockServer: Sendable {
    /// Answers a request.
    ///
    /// It runs in the connection's task, which is cancelled when the client closes the connection or the server shuts
    /// down. Requests on one connection are answered one after another, those on different ones side by side. Over
    /// HTTP/2 each stream has a task, which is cancelled also when the client resets the stream, and all are answered
    /// side by side.
    public typealias Handler = @Sendable (RecordedRequest) async -> MockResponse

    /// The root URL: `http` or `https`, ``Configuration/hostName`` and ``port``.
    public let url: URL
    /// The name in ``url``.
    public let host: String
    /// The port that the system chose.
    public let port: Int

    let log: RequestLog
    private let registry: ConnectionRegistry
    private let listener: Listener
    private let ending = Mutex<Task<Void, Never>?>(nil)

    init(url: URL, host: String, listener: Listener, service: Service) {
        self.url = url
        self.host = host
        self.port = listener.port
        self.listener = listener
        self.log = service.log
        self.registry = service.registry
    }

    /// A URL on this server, from a path and query such as `/items?page=2`.
    ///
    /// Fails with ``TestingError/Code/invalidURL`` when the text does not begin with a slash or is no URL.
    public func url(_ pathAndQuery: String) throws(TestingError) -> URL {
        let root = url.absoluteString.hasSuffix("/") ? String(url.absoluteString.dropLast()) : url.absoluteString
        guard pathAndQuery.hasPrefix("/"), let url = URL(string: root + pathAndQuery) else {
            throw TestingError(.invalidURL, "\"\(pathAndQuery)\" is not a path and query that begins with a slash.")
        }
        return url
    }

    /// How many connections are open now.
    public var openConnections: Int { registry.openConnections }

    /// How many connections were accepted so far.
    public var acceptedConnections: Int { registry.acceptedConnections }

    /// Closes the connections on which no request is in progress, as a server does after its keep-alive time, and
    /// returns how many they were.
    ///
    /// A connection whose client has received the whole response counts as idle. Over HTTP/2 the server says GOAWAY
    /// before.
    @discardableResult
    public func closeIdleConnections() async -> Int {
        var closed = 0
        for connection in registry.connections where await connection.closeIfIdle() { closed += 1 }
        return closed
    }

    /// Stops listening, cancels the handlers, closes all connections, and returns when nothing is left: no descriptor,
    /// no task, no thread.
    ///
    /// It waits for handlers to return; one that ignores cancellation delays it, and one must not call it. Calling it
    /// again is fine.
    public func shutdown() async {
        let task = ending.withLock { ending in
            let task = ending ?? Task { await end() }
            ending = task
            return task
        }
        await task.value
    }

    private func end() async {
        await listener.stopAccepting()
        await registry.closeAll()
        await listener.stop()
        log.finish()
    }
}
