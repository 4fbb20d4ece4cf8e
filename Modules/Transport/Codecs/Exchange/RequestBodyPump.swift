internal import NIOCore
internal import Synchronization

/// Pulls a streamed body from its reader and passes it to the connection, chunk by chunk.
///
/// One chunk at a time is on its way to the socket. Small chunks that the reader produces meanwhile are joined: each
/// would cost a system call and a change of threads. A chunk never waits for the next one.
///
/// After it stops it retains neither exchange nor connection, even if its reader is still suspended.
final class RequestBodyPump<Host: ExchangeHost>: RequestBodyProducer {
    private struct Target {
        let host: NIOLoopBound<Host>
        let exchange: HTTPExchange
    }

    private struct State {
        var target: Target?
        var task: Task<Void, Never>?
        var window = ChunkWindow()
        /// The reader's task, while it waits for the socket.
        var waiter: UnsafeContinuation<Void, Never>?

        /// Whether the rest of the body is wanted, once a condition holds or it is not; else nil.
        func isWanted(once condition: (ChunkWindow) -> Bool) -> Bool? {
            guard target != nil else { return false }
            return condition(window) ? true : nil
        }
    }

    private let state: Mutex<State>

    init(host: NIOLoopBound<Host>, exchange: HTTPExchange) {
        state = Mutex(State(target: Target(host: host, exchange: exchange)))
    }

    /// Starts pulling. Called once, on the event loop, like ``stop()``.
    func start(length: Int64?, make: @escaping @Sendable () throws -> any TransportBodyReader) {
        let task = Task { await self.run(length: length, make: make) }
        state.withLock { $0.task = task }
    }

    func stop() {
        let stopped = state.withLock { state in
            defer { state = State() }
            return state
        }
        // Released after unlocking, with the exchange.
        withExtendedLifetime(stopped) {
            stopped.task?.cancel()
            stopped.waiter?.resume()
        }
    }

    private func run(length: Int64?, make: @Sendable () throws -> any TransportBodyReader) async {
        do {
            var reader = try make()
            var sent: Int64 = 0
            while let chunk = try await reader.next() {
                // An empty chunk would end a chunked body (RFC 9112, 7.1).
                guard chunk.readableBytes > 0 else { continue }
                sent += Int64(chunk.readableBytes)
                // Before it is sent: the server would read the surplus as the next request.
                if let length, sent > length { throw TransportError(bodyOf: length, produced: "more") }
                guard await send(chunk) else { return }
            }
            if let length, sent < length { throw TransportError(bodyOf: length, produced: "fewer") }
            if await wait(until: { $0.isEmpty }) { finish(nil) }
        } catch let error as TransportError {
            await fail(error)
        } catch is CancellationError {
            await fail(TransportError(.cancelled, "The request was cancelled."))
        } catch {
            await fail(
                TransportError(
                    .requestBodyFailed, "The request body failed: \(TransportError.cause(error))", underlying: error))
        }
    }

    /// Nil after ``stop()``, which is called before the event loop can end.
    private var target: Target? { state.withLock { $0.target } }

    /// Sends a chunk, or joins it with others while the socket is busy, and waits until there is room for the next.
    ///
    /// - Returns: Whether the rest of the body is wanted.
    private func send(_ chunk: ByteBuffer) async -> Bool {
        pass(on: state.withLock { $0.window.add(chunk) })
        return await wait(until: { $0.hasRoom })
    }

    private func wait(until condition: (ChunkWindow) -> Bool) async -> Bool {
        while true {
            if let isWanted = state.withLock({ $0.isWanted(once: condition) }) { return isWanted }
            await withUnsafeContinuation { continuation in
                let isLate = state.withLock { state in
                    if state.isWanted(once: condition) != nil { return true }
                    state.waiter = continuation
                    return false
                }
                if isLate { continuation.resume() }
            }
        }
    }

    /// Passes bytes to the connection, on its event loop.
    private func pass(on bytes: ByteBuffer?) {
        guard let bytes, let target else { return }
        // Never at once: the connection may accept bytes before it returns, and the next ones would be passed from
        // within.
        target.host.eventLoop.execute { [host = target.host, exchange = target.exchange] in
            host.value.sendChunk(bytes, of: exchange) { self.sent($0) }
        }
    }

    /// Called on the event loop when the socket has accepted bytes, or when the rest is not wanted.
    private func sent(_ isWanted: Bool) {
        let (next, waiter, refused) = state.withLock { state in
            let refused = isWanted ? nil : state.target
            if !isWanted { state.target = nil }
            defer { state.waiter = nil }
            return (state.window.accepted(), state.waiter, refused)
        }
        withExtendedLifetime(refused) {
            pass(on: next)
            waiter?.resume()
        }
    }

    /// Fails the body after what it has produced.
    private func fail(_ error: TransportError) async {
        if await wait(until: { $0.isEmpty }) { finish(error) }
    }

    private func finish(_ error: TransportError?) {
        guard let target else { return }
        target.host.execute { [exchange = target.exchange] in $0.endBody(of: exchange, error) }
    }
}

/// The bytes of a streamed body between its reader and the socket. Pure.
struct ChunkWindow {
    /// From this size on, chunks are not joined, as one system call for each costs little.
    private static let size = 16 * 1024

    private var onTheirWay = 0
    private var joined = ByteBuffer()

    /// Whether the reader may produce another chunk.
    var hasRoom: Bool { onTheirWay + joined.readableBytes < Self.size }
    /// Whether the socket has accepted all bytes.
    var isEmpty: Bool { onTheirWay == 0 }

    /// Adds a chunk that is not empty.
    ///
    /// - Returns: The bytes to pass on, if none are on their way.
    mutating func add(_ chunk: ByteBuffer) -> ByteBuffer? {
        guard onTheirWay == 0 else {
            if joined.readableBytes == 0 { joined = chunk } else { joined.writeImmutableBuffer(chunk) }
            return nil
        }
        onTheirWay = chunk.readableBytes
        return chunk
    }

    /// The socket has accepted the bytes that were on their way.
    ///
    /// - Returns: The bytes to pass on, if any were added meanwhile.
    mutating func accepted() -> ByteBuffer? {
        onTheirWay = joined.readableBytes
        guard onTheirWay > 0 else { return nil }
        defer { joined = ByteBuffer() }
        return joined
    }
}

/// The connection's interface of a pump.
protocol RequestBodyProducer: AnyObject, Sendable {
    /// Stops producing the body.
    func stop()
}

extension TransportError {
    fileprivate init(bodyOf length: Int64, produced which: String) {
        self.init(.requestBodyFailed, "The request body produced \(which) bytes than its length of \(length).")
    }
}

/// The connection's interface for the producer and the reader of bodies. Called on its event loop.
protocol ExchangeHost: AnyObject, SendableMetatype {
    /// Writes a chunk of a streamed body. `done` is called with true when the socket has accepted it, or with false if
    /// the rest is not wanted.
    func sendChunk(_ chunk: ByteBuffer, of exchange: HTTPExchange, _ done: @escaping @Sendable (Bool) -> Void)

    /// Ends the streamed body, or fails it with an error.
    func endBody(of exchange: HTTPExchange, _ error: TransportError?)

    /// Resumes reading after the reader of a streamed body has taken its buffers.
    func resumeReading(_ exchange: HTTPExchange)

    /// Ends an exchange that the caller has abandoned.
    func cancel(_ exchange: HTTPExchange, _ error: TransportError)
}

/// The size of the slices in which a request body is written: about what the socket accepts in a tenth of a second. A
/// slow link then accepts each slice within the idle timeout, and a fast one is not slowed down by small slices. Pure.
struct BodySliceSize {
    private static let (least, most) = (16 * 1024, 512 * 1024)

    private(set) var bytes = 256 * 1024

    /// Adapts the size after the socket accepted a slice of this size in some time.
    mutating func took(_ time: TimeAmount) {
        if time < .milliseconds(50) {
            bytes = min(bytes * 2, Self.most)
        } else if time > .milliseconds(200) {
            bytes = max(bytes / 2, Self.least)
        }
    }
}
