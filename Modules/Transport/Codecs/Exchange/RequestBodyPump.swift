internal import NIOCore
internal import Synchronization

/// Pulls a streamed body from its reader and passes it to the connection, chunk by chunk.
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
        withExtendedLifetime(stopped) { stopped.task?.cancel() }
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
            finish(nil)
        } catch let error as TransportError {
            finish(error)
        } catch is CancellationError {
            finish(TransportError(.cancelled, "The request was cancelled."))
        } catch {
            finish(
                TransportError(
                    .requestBodyFailed, "The request body failed: \(TransportError.cause(error))", underlying: error))
        }
    }

    /// Nil after ``stop()``, which is called before the event loop can end.
    private var target: Target? { state.withLock { $0.target } }

    private func send(_ chunk: ByteBuffer) async -> Bool {
        await withUnsafeContinuation { continuation in
            guard let target else { return continuation.resume(returning: false) }
            target.host.execute { [exchange = target.exchange] in
                $0.sendChunk(chunk, of: exchange) { continuation.resume(returning: $0) }
            }
        }
    }

    private func finish(_ error: TransportError?) {
        guard let target else { return }
        target.host.execute { [exchange = target.exchange] in $0.endBody(of: exchange, error) }
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
