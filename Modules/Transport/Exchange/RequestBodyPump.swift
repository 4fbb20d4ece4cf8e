internal import NIOCore
internal import Synchronization

/// Pulls a streamed body from its reader and hands it to the connection, a chunk at a time.
///
/// Once stopped it holds neither exchange nor connection, whatever its reader waits for.
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

    /// Begins to pull. Called once, on the event loop, as ``stop()`` is.
    func start(length: Int64?, make: @escaping @Sendable () throws -> any TransportBodyReader) {
        let task = Task { await self.run(length: length, make: make) }
        state.withLock { $0.task = task }
    }

    func stop() {
        // What they hold goes after the lock.
        let stopped = state.withLock { state in
            defer { state = State() }
            return state
        }
        stopped.task?.cancel()
    }

    private func run(length: Int64?, make: @Sendable () throws -> any TransportBodyReader) async {
        do {
            var reader = try make()
            var sent: Int64 = 0
            while let chunk = try await reader.next() {
                guard chunk.readableBytes > 0 else { continue }
                sent += Int64(chunk.readableBytes)
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
            finish(TransportError(.requestBodyFailed, "The request's body failed: \(error)", underlying: error))
        }
    }

    /// Nil once it was stopped, which is before the event loop can end.
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

/// What a connection sees of a pump.
protocol RequestBodyProducer: AnyObject, Sendable {
    /// The rest of the body is not wanted.
    func stop()
}

extension TransportError {
    fileprivate init(bodyOf length: Int64, produced which: String) {
        self.init(.requestBodyFailed, "The request's body produced \(which) than the \(length) bytes it promised.")
    }
}
