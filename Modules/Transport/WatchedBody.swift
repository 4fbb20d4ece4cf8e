package import NIOCore
internal import Synchronization

/// Sees the bytes of a streamed response body as its reader takes them.
///
/// The methods are called by the task that reads the body, in order; ``didEnd(_:)`` is called once, and last. For a
/// body that is released before its end, it is called by the thread that releases it.
package protocol ResponseBodyWatcher: Sendable {
    /// The reader took bytes.
    func didRead(_ bytes: ByteBuffer)
    /// The body ended, with its completion if it has one, or with an error. A body that is released before its end has
    /// the error ``TransportError/Code/cancelled``.
    func didEnd(_ end: Result<TransportResponseBody.Completion?, TransportError>)
}

/// A streamed body whose reader is watched.
final class WatchedBody: Sendable {
    let base: TransportResponseBody.Storage
    private let watcher: any ResponseBodyWatcher
    private let hasEnded = Atomic(false)

    init(_ base: TransportResponseBody.Storage, _ watcher: any ResponseBodyWatcher) {
        self.base = base
        self.watcher = watcher
    }

    deinit {
        end(.failure(TransportError(.cancelled, "The response body was released before its end.")))
    }

    func nextBatch() async throws(TransportError) -> ResponseBodyChannel.Batch? {
        do throws(TransportError) {
            let batch = try await base.nextBatch()
            if let batch {
                for buffer in batch { watcher.didRead(buffer) }
            } else {
                end(.success(base.completion))
            }
            return batch
        } catch {
            end(.failure(error))
            throw error
        }
    }

    private func end(_ end: Result<TransportResponseBody.Completion?, TransportError>) {
        if !hasEnded.exchange(true, ordering: .relaxed) { watcher.didEnd(end) }
    }
}

extension TransportResponseBody {
    /// The body, whose reader is watched if it is streamed. Whole and upgraded bodies are returned unchanged.
    package func watched(by watcher: any ResponseBodyWatcher) -> TransportResponseBody {
        switch storage {
        case .stream, .watched: TransportResponseBody(.watched(WatchedBody(storage, watcher)))
        case .whole, .upgraded, .claimed: self
        }
    }
}

extension TransportResponseBody.Storage {
    /// The reader of the connection; nil if the body is not streamed.
    var reader: ResponseBodyReader? {
        switch self {
        case .stream(let reader): reader
        case .watched(let body): body.base.reader
        case .whole, .upgraded, .claimed: nil
        }
    }

    var completion: TransportResponseBody.Completion? {
        if case .whole(_, let completion) = self { completion?.value } else { reader?.completion }
    }

    /// All bytes of a streamed body that have arrived; nil at its end.
    func nextBatch() async throws(TransportError) -> ResponseBodyChannel.Batch? {
        switch self {
        case .stream(let reader): try await reader.nextBatch()
        case .watched(let body): try await body.nextBatch()
        case .claimed: throw .secondReader
        case .whole, .upgraded: nil
        }
    }
}
