internal import FoundationEssentials
internal import LinnetTransport
internal import NIOCore

/// Where a reader of a ``ResponseBody`` takes its chunks from.
protocol ResponseBodySource {
    mutating func next() async throws(SessionError) -> Data?
    /// All bytes that are there, for those who write them on; from a connection as they came from it.
    mutating func nextBatch() async throws(SessionError) -> CircularBuffer<ByteBuffer>?
}

extension ResponseBodySource {
    mutating func nextBatch() async throws(SessionError) -> CircularBuffer<ByteBuffer>? {
        try await next().map { [ByteBuffer(bytes: $0)] }
    }
}

struct WholeSource: ResponseBodySource {
    private var bytes: Data?

    init(bytes: Data) {
        self.bytes = bytes.isEmpty ? nil : bytes
    }

    mutating func next() async throws(SessionError) -> Data? {
        defer { bytes = nil }
        return bytes
    }

    /// Piece by piece: they are copied.
    mutating func nextBatch() async throws(SessionError) -> CircularBuffer<ByteBuffer>? {
        guard let bytes else { return nil }
        let piece = bytes.prefix(1024 * 1024)
        self.bytes = piece.count < bytes.count ? bytes.dropFirst(piece.count) : nil
        return [ByteBuffer(bytes: piece)]
    }
}

struct TransportSource: ResponseBodySource {
    var iterator: TransportResponseBody.Iterator
    let url: URL

    mutating func next() async throws(SessionError) -> Data? {
        do {
            guard let buffer = try await iterator.next() else { return nil }
            return Data(buffer)
        } catch {
            throw SessionError(error, url: url)
        }
    }

    mutating func nextBatch() async throws(SessionError) -> CircularBuffer<ByteBuffer>? {
        do {
            return try await iterator.nextBatch()
        } catch {
            throw SessionError(error, url: url)
        }
    }
}

struct SequenceSource<Iterator: AsyncIteratorProtocol>: ResponseBodySource where Iterator.Element == Data {
    var iterator: Iterator

    mutating func next() async throws(SessionError) -> Data? {
        do {
            return try await iterator.next(isolation: #isolation)
        } catch {
            throw SessionError(thrown: error, url: nil)
        }
    }
}

struct HandedSource: ResponseBodySource {
    let reader: HandedReader

    mutating func next() async throws(SessionError) -> Data? {
        try await reader.next()
    }
}
