internal import NIOCore

/// Pulls a streamed body from its reader and hands it to the connection, a chunk at a time.
struct RequestBodyPump<Host: ExchangeHost>: Sendable {
    let host: NIOLoopBound<Host>
    let exchange: HTTPExchange

    func run(length: Int64?, make: @Sendable () throws -> any TransportBodyReader) async {
        do {
            var reader = try make()
            var sent: Int64 = 0
            while let chunk = try await reader.next() {
                guard chunk.readableBytes > 0 else { continue }
                sent += Int64(chunk.readableBytes)
                if let length, sent > length { throw Self.wrongLength(length, "more") }
                guard await send(chunk) else { return }
            }
            if let length, sent < length { throw Self.wrongLength(length, "fewer") }
            finish(nil)
        } catch let error as TransportError {
            finish(error)
        } catch is CancellationError {
            finish(TransportError(.cancelled, "The request was cancelled."))
        } catch {
            finish(TransportError(.requestBodyFailed, "The request's body failed: \(error)", underlying: error))
        }
    }

    private func send(_ chunk: ByteBuffer) async -> Bool {
        // A pump is cancelled before its event loop can end.
        guard !Task.isCancelled else { return false }
        return await withUnsafeContinuation { continuation in
            host.execute { $0.sendChunk(chunk, of: exchange) { continuation.resume(returning: $0) } }
        }
    }

    private func finish(_ error: TransportError?) {
        host.execute { $0.endBody(of: exchange, error) }
    }

    private static func wrongLength(_ length: Int64, _ which: String) -> TransportError {
        TransportError(.requestBodyFailed, "The request's body produced \(which) than the \(length) bytes it promised.")
    }
}
