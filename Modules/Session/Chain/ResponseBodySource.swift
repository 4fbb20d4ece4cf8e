internal import FoundationEssentials
internal import LinnetTransport

/// Where a reader of a ``ResponseBody`` takes its chunks from.
protocol ResponseBodySource {
    mutating func next() async throws(SessionError) -> Data?
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
