import HTTPTypes
import LinnetSecurity
import NIOCore
import NIOHTTP2
import NIOPosix
import Synchronization
import Testing

@testable import LinnetTransport

/// An HTTP/2 connection without TLS and pool.
final class FrameClient: Sendable {
    /// The calls of the connection to its owner.
    struct Told {
        var ended = 0
        var capacities: [Int] = []
        var isRetiring = false
        var isEnding = false
        var hasProcessed = false
        var wantsHTTP1 = 0
        var isClosed = false
    }

    private let channel: any Channel
    private let connection: NIOLoopBound<HTTP2Connection>
    private let told = Mutex(Told())
    private let waiting = Mutex<[HTTPExchange]>([])
    private let running = Mutex(0)

    private init(_ channel: any Channel, _ connection: NIOLoopBound<HTTP2Connection>) {
        self.channel = channel
        self.connection = connection
    }

    /// Connects for the duration of the operation.
    static func run<Result>(
        _ server: FrameServer, firstStreamID: Int = 1, configure: (inout TransportConfiguration) -> Void = { _ in },
        perform: (FrameClient) async throws -> Result
    ) async throws -> Result {
        var configuration = TransportConfiguration()
        configure(&configuration)
        let fixed = configuration
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: false).connect(to: server.address).get()
        let connection = try await channel.eventLoop.submit {
            let connection = try HTTP2Connection.install(
                on: channel, configuration: fixed, firstStreamID: firstStreamID)
            channel.closeFuture.assumeIsolated().whenComplete { _ in connection.connectionEnded() }
            return NIOLoopBound(connection, eventLoop: channel.eventLoop)
        }.get()
        let client = FrameClient(channel, connection)
        await client.perform { connection in
            connection.adopt(client)
        }
        do {
            let result = try await perform(client)
            await client.end()
            return result
        } catch {
            await client.end()
            throw error
        }
    }

    private func end() async {
        await perform { $0.shutDown(.shutDown) }
        try? await channel.closeFuture.get()
    }

    /// Waits until the calls meet the condition, and returns them.
    func told(where condition: (Told) -> Bool = { _ in true }) async throws -> Told {
        while true {
            let told = told.withLock { $0 }
            if condition(told) { return told }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Runs a closure on the event loop.
    func perform(_ body: @escaping @Sendable (HTTP2Connection) -> Void) async {
        let connection = connection
        try? await channel.eventLoop.submit { body(connection.value) }.get()
    }

    /// The deadlines of a stream.
    func deadlines(ofStream id: Int) async -> Deadlines? {
        let connection = connection
        return try? await channel.eventLoop.submit { connection.value.streams[id]?.exchange.deadlines }.get()
    }

    /// The bytes by which the windows of further streams may grow.
    var freeWindows: Int {
        get async {
            let connection = connection
            return (try? await channel.eventLoop.submit { connection.value.windows.free }.get()) ?? -1
        }
    }

    // MARK: Requests

    func outcome(
        _ request: TransportRequest, observer: (any TransportObserver)? = nil, isReused: Bool = false,
        queued: Bool = false
    ) async -> HTTPExchange.Outcome {
        let timeouts = request.timeouts
        let exchange = HTTPExchange(
            request: request, observer: observer, timeouts: timeouts,
            deadline: timeouts.request.map { .after($0) }, mayBeStale: isReused, metrics: TransportMetrics())
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                exchange.waiter = continuation
                connection.execute { queued ? self.enqueue(exchange, $0) : $0.start(exchange) }
            }
        } onCancel: {
            exchange.isCancelled.store(true, ordering: .releasing)
            connection.execute { $0.cancel(exchange, .readerCancelled) }
        }
    }

    func send(
        _ request: TransportRequest, observer: (any TransportObserver)? = nil, queued: Bool = false
    ) async throws(TransportError) -> TransportResponse {
        switch await outcome(request, observer: observer, queued: queued) {
        case .response(let response, _): return response
        case .failure(let error, _): throw error
        case .withdrawn: throw .retired
        }
    }

    // MARK: Waiting for a connection that is full

    private func enqueue(_ exchange: HTTPExchange, _ connection: HTTP2Connection) {
        let starts = running.withLock { running in
            guard running < connection.capacity else { return false }
            running += 1
            return true
        }
        if starts { connection.start(exchange) } else { waiting.withLock { $0.append(exchange) } }
    }
}

extension TransportRequest {
    /// A request over HTTP/2.
    static func http2(
        _ path: String = "/", method: HTTPRequest.Method = .get, fields: HTTPFields = [:],
        body: TransportRequestBody? = nil, delivery: ResponseDelivery = .whole(upTo: ResponseDelivery.defaultLimit),
        timeouts: TransportTimeouts = TransportTimeouts()
    ) -> TransportRequest {
        TransportRequest(
            head: HTTPRequest(
                method: method, scheme: "http", authority: "localhost", path: path, headerFields: fields),
            body: body, timeouts: timeouts, delivery: delivery)
    }
}

extension HTTPExchange.Outcome {
    var error: TransportError? {
        if case .failure(let error, _) = self { error } else { nil }
    }

    var canRepeat: Bool {
        if case .failure(_, let canRepeat) = self { canRepeat } else { false }
    }

    var response: TransportResponse? {
        if case .response(let response, _) = self { response } else { nil }
    }
}

/// Collects events of other threads, and lets a test wait for them.
final class Log<Element: Sendable>: Sendable {
    private let (stream, continuation) = AsyncStream<Element>.makeStream()
    private let all = Mutex<[Element]>([])

    var elements: [Element] { all.withLock { $0 } }

    func add(_ element: Element) {
        all.withLock { $0.append(element) }
        continuation.yield(element)
    }

    /// The next element that meets the condition.
    func first(where condition: (Element) -> Bool = { _ in true }) async -> Element? {
        for await element in stream where condition(element) { return element }
        return nil
    }
}

extension FrameClient: ConnectionOwner {
    func exchangeEnded() {
        told.withLock { $0.ended += 1 }
        running.withLock { $0 = max(0, $0 - 1) }
        let next = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if let next { enqueue(next, connection.value) }
    }

    func capacityChanged(_ capacity: Int) { told.withLock { $0.capacities.append(capacity) } }

    func isRetiring() { told.withLock { $0.isRetiring = true } }

    func isEnding() { told.withLock { $0.isEnding = true } }

    func hasProcessed() { told.withLock { $0.hasProcessed = true } }

    func requiresHTTP1() -> Bool {
        told.withLock { $0.wantsHTTP1 += 1 }
        return true
    }

    func closed() { told.withLock { $0.isClosed = true } }
}
