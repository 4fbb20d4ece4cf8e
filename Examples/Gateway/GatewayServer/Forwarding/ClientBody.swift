import Hummingbird
package import NIOCore
import Synchronization

/// The content of a client's request, which is read as the upstream takes it.
///
/// The server reads on where the body's reader has stopped, and two readers at a time would end the process. So the
/// gateway calls ``close()`` before it gives the connection back to the server.
package final class ClientBody: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer

    private struct State {
        var size = 0
        var isComplete = false
        var isReading = false
        var isClosed = false
        var closer: CheckedContinuation<Void, Never>?
    }

    /// The length of the content in bytes; nil if the client has not said it.
    package let length: Int?
    private let body: RequestBody
    private let limit: Int
    private let state = Mutex(State())

    init(_ body: RequestBody, length: Int?, limit: Int) {
        self.body = body
        self.length = length
        self.limit = limit
    }

    /// Whether the end was read.
    var isComplete: Bool { state.withLock { $0.isComplete } }
    /// Whether the content exceeds the limit.
    var isTooLarge: Bool { state.withLock { $0.size > limit } }

    /// Ends the reading of the content. Returns once no read is running.
    func close() async {
        await withCheckedContinuation { continuation in
            let isReading = state.withLock { state in
                state.isClosed = true
                if state.isReading { state.closer = continuation }
                return state.isReading
            }
            if !isReading { continuation.resume() }
        }
    }

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: body.makeAsyncIterator(), body: self) }

    package struct AsyncIterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        let body: ClientBody

        // Like the one of the server, which it calls.
        @concurrent
        package mutating func next() async throws -> ByteBuffer? {
            guard body.begin() else { throw CancellationError() }
            defer { body.leave() }
            let chunk = try await base.next()
            // The upstream's client cancels its request, which has not ended yet.
            guard body.isWithinLimit(with: chunk) else { throw Problem.contentTooLarge }
            return chunk
        }
    }

    private func begin() -> Bool {
        state.withLock { state in
            state.isReading = !state.isClosed && !state.isComplete
            return state.isReading
        }
    }

    private func isWithinLimit(with chunk: ByteBuffer?) -> Bool {
        state.withLock { state in
            state.isComplete = chunk == nil
            state.size += chunk?.readableBytes ?? 0
            return state.size <= limit
        }
    }

    private func leave() {
        let closer = state.withLock { state in
            state.isReading = false
            return state.closer.take()
        }
        closer?.resume()
    }
}
