internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport
internal import NIOCore

/// The source of chunks for a reader of a ``HTTPResponseBody``.
protocol ResponseBodySource {
    mutating func next() async throws(SessionError) -> Data?
    /// All available bytes, for readers that write them elsewhere; bytes from a connection are not copied.
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

    /// Piece by piece, because the bytes are copied.
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
            throw SessionError(ofBody: error, url: url)
        }
    }

    mutating func nextBatch() async throws(SessionError) -> CircularBuffer<ByteBuffer>? {
        do {
            return try await iterator.nextBatch()
        } catch {
            throw SessionError(ofBody: error, url: url)
        }
    }
}

/// The source for every reader of a body except for the first.
struct ClaimedSource: ResponseBodySource {
    /// The body in the hands of a caller, if it is one.
    let body: ReportedBody?
    let url: URL?

    mutating func next() async throws(SessionError) -> Data? {
        let error = SessionError.bodyHasReader(url)
        throw body.map { error.adding($0.response) } ?? error
    }
}

/// The body of a user's sequence.
final class SequenceBody: ResponseBodyLayer {
    private let claim = ReaderClaim()
    private let make: @Sendable () -> any ResponseBodySource

    init(_ makeSource: @escaping @Sendable () -> any ResponseBodySource) {
        make = makeSource
    }

    var base: HTTPResponseBody? { nil }

    func claimReader() -> Bool { claim.take() }

    func makeSource() -> any ResponseBodySource { make() }
}

struct SequenceSource<Chunks: AsyncSequence & Sendable>: ResponseBodySource where Chunks.Element == Data {
    let reader: SequenceReader<Chunks>

    mutating func next() async throws(SessionError) -> Data? {
        do {
            // A user's sequence may ignore that its reader is cancelled.
            return try await untilCancelled { [reader] in try await reader.next() }
        } catch {
            throw SessionError(thrown: error, url: nil)
        }
    }
}

/// Owns the iterator of a user's sequence. A call of the iterator can outlive its reader.
actor SequenceReader<Chunks: AsyncSequence & Sendable> where Chunks.Element == Data {
    private var iterator: Chunks.AsyncIterator

    init(_ chunks: Chunks) {
        iterator = chunks.makeAsyncIterator()
    }

    func next() async throws -> Data? {
        // A copy, since a property of an actor cannot be modified by a call that suspends.
        var iterator = iterator
        defer { self.iterator = iterator }
        return try await iterator.next(isolation: self)
    }
}

struct HandedSource: ResponseBodySource {
    let reader: HandedReader

    mutating func next() async throws(SessionError) -> Data? {
        try await reader.next()
    }
}

/// The body of a response in the hands of a caller: its errors contain the response, and its end is reported.
final class ReportedBody: ResponseBodyLayer {
    let response: StreamedResponse
    private let claim = ReaderClaim()
    private let report: StreamReport?

    init(_ response: StreamedResponse, report: StreamReport?) {
        self.response = response
        self.report = report
    }

    var base: HTTPResponseBody? { response.body }
    var isOfConnection: Bool { false }
    var url: URL? { response.url }

    func claimReader() -> Bool { claim.take() }

    func makeSource() -> any ResponseBodySource { ReportedSource(self) }

    func ended() {
        report?.complete(nil, response.metrics)
    }

    func failed(_ error: SessionError) -> SessionError {
        let error = error.adding(response)
        report?.complete(error, response.metrics)
        return error
    }
}

struct ReportedSource: ResponseBodySource {
    private var iterator: HTTPResponseBody.Iterator
    private let body: ReportedBody

    init(_ body: ReportedBody) {
        iterator = body.response.body.makeAsyncIterator()
        self.body = body
    }

    mutating func next() async throws(SessionError) -> Data? {
        do {
            let chunk = try await iterator.next()
            if chunk == nil { body.ended() }
            return chunk
        } catch {
            throw body.failed(error)
        }
    }
}

extension SessionResponse where Value == HTTPResponseBody {
    /// Returns the response for a caller, and reports its end.
    func reporting(to report: StreamReport? = nil) -> StreamedResponse {
        var response = self
        response.body = HTTPResponseBody(ReportedBody(self, report: report))
        return response
    }

    /// Returns the response for a user's interceptor. A short body is a stream if a long one would be.
    func asked(for delivery: ResponseDelivery) -> StreamedResponse {
        guard body.whole != nil else { return self }
        if case .whole = delivery, head.status.code < 300 { return self }
        return reporting()
    }

    /// The error for a response that a validation refuses, with the first bytes of its body; ends the response.
    func refused(_ refusal: SerializationError) async -> SessionError {
        var refusal = refusal
        let reported = body.layer as? ReportedBody
        var batches = (reported?.response.body ?? body).makeAsyncIterator()
        refusal.response?.body = await batches.collectErrorBody()
        let error = SessionError(refusal, url: url)
        return reported?.failed(error) ?? error.adding(self)
    }
}

/// Gathers the chunks of a body, up to a limit.
struct BodyCollector {
    let limit: Int
    private(set) var bytes = Data()

    init(limit: Int) {
        self.limit = limit
    }

    mutating func append(_ chunk: Data) throws(SessionError) {
        guard chunk.count <= limit - bytes.count else {
            throw SessionError(.bodyTooLarge, "The body has more than \(limit) bytes.")
        }
        if bytes.isEmpty { bytes = chunk } else { bytes.append(chunk) }
    }
}
