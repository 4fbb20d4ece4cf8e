internal import FoundationEssentials
internal import NIOCore

extension ResponseBody {
    /// As many bytes are read for the sake of the connection alone: 64 KiB.
    static let drainLimit = 64 * 1024
    /// As long it may take.
    private static let drainTime = Duration.seconds(1)

    /// Reads an unused body to its end, so that its connection can be reused. A body that exceeds the size or time limit is
    /// dropped, which closes the connection.
    func drain() async {
        guard whole == nil else { return }
        await withTaskGroup { group in
            group.addTask { await readToEnd() }
            group.addTask { try? await Task.sleep(for: Self.drainTime) }
            await group.next()
            group.cancelAll()
        }
    }

    private func readToEnd() async {
        var rest = Self.drainLimit
        var iterator = makeAsyncIterator()
        while rest >= 0, let chunk = (try? await iterator.next()) ?? nil { rest -= chunk.count }
    }
}

extension ResponseBody.Iterator {
    /// The most bytes of an error page that are kept for an error.
    private static let errorBodyLimit = 1024 * 1024

    /// The first bytes of the body of a refused response. The refusal is the error, even if the body cannot be read to its end.
    mutating func collectErrorBody(after first: CircularBuffer<ByteBuffer>? = []) async -> Data {
        var body = Data()
        var batch = first
        while let buffers = batch {
            for buffer in buffers {
                body.append(contentsOf: buffer.readableBytesView.prefix(Self.errorBodyLimit - body.count))
            }
            guard body.count < Self.errorBodyLimit else { break }
            batch = (try? await nextBatch()) ?? nil
        }
        return body
    }
}
