internal import FoundationEssentials
internal import LinnetTransport
internal import NIOCore

/// The body of a response. Its chunks are stored on their way to the reader.
///
/// The store sees a chunk before the reader, who waits for it: backpressure reaches the connection. A body that the
/// reader leaves before its end is not stored.
final class RecordedBody: ResponseBodyLayer {
    let recorded: HTTPResponseBody
    let recorder: EntryRecorder
    private let claim = ReaderClaim()

    init(base: HTTPResponseBody, recorder: EntryRecorder) {
        recorded = base
        self.recorder = recorder
    }

    var base: HTTPResponseBody? { recorded }

    func claimReader() -> Bool { claim.take() }

    func makeSource() -> any ResponseBodySource { RecordedSource(self) }
}

struct RecordedSource: ResponseBodySource {
    private var iterator: HTTPResponseBody.Iterator
    private let body: RecordedBody

    init(_ body: RecordedBody) {
        iterator = body.recorded.makeAsyncIterator()
        self.body = body
    }

    mutating func next() async throws(SessionError) -> Data? {
        let chunk: Data?
        do {
            chunk = try await iterator.next()
        } catch {
            await body.recorder.abandon()
            throw error
        }
        guard let chunk else {
            await body.recorder.commit()
            return nil
        }
        await body.recorder.append(chunk)
        return chunk
    }

    mutating func nextBatch() async throws(SessionError) -> CircularBuffer<ByteBuffer>? {
        let batch: CircularBuffer<ByteBuffer>?
        do {
            batch = try await iterator.nextBatch()
        } catch {
            await body.recorder.abandon()
            throw error
        }
        guard let batch else {
            await body.recorder.commit()
            return nil
        }
        for buffer in batch where body.recorder.isRecording { await body.recorder.append(Data(buffer)) }
        return batch
    }
}

extension HTTPResponseBody {
    /// Reads a body only for the store, and stops when the store does.
    func readIntoStore() async {
        guard let recorded = layer as? RecordedBody else { return await drain() }
        var source = RecordedSource(recorded)
        while recorded.recorder.isRecording {
            guard let chunk = try? await source.next(), !chunk.isEmpty else { return }
        }
    }
}
