public import HTTPTypes
public import NIOCore

/// The bytes of a response, pulled by one reader.
///
/// A body that is dropped before its end closes its connection.
public struct TransportResponseBody: Sendable, AsyncSequence {
    /// The bytes, as they came.
    public typealias Element = ByteBuffer
    /// A ``TransportError``.
    public typealias Failure = TransportError

    /// What is known once the last byte is there.
    public struct Completion: Sendable {
        /// The trailer fields (RFC 9110, 6.5), or nil where there were none.
        public var trailers: HTTPFields?
        /// What the attempt cost, whole.
        public var metrics: TransportMetrics
    }

    enum Storage: Sendable {
        case whole(ByteBuffer, Boxed<Completion>?)
        case stream(ResponseBodyReader)
    }

    let storage: Storage

    /// A body of these bytes; for stubs and caches.
    public init(_ bytes: ByteBuffer, trailers: HTTPFields? = nil) {
        storage = .whole(bytes, trailers.map { Boxed(Completion(trailers: $0, metrics: TransportMetrics())) })
    }

    init(_ storage: Storage) {
        self.storage = storage
    }

    /// The bytes, when all of them are there already.
    public var whole: ByteBuffer? {
        if case .whole(let bytes, _) = storage { bytes } else { nil }
    }

    /// Trailers and final metrics: at once for a whole body, for a streamed one after its end was read.
    public var completion: Completion? {
        switch storage {
        case .whole(_, let completion): completion?.value
        case .stream(let reader): reader.completion
        }
    }

    /// All bytes and what is known of them, when they are there already.
    package var wholeWithCompletion: (bytes: ByteBuffer, completion: Boxed<Completion>?)? {
        if case .whole(let bytes, let completion) = storage { (bytes, completion) } else { nil }
    }

    /// All bytes in one buffer; more than `limit` fail with ``TransportError/Code/bodyTooLarge``.
    public func collect(upTo limit: Int) async throws(TransportError) -> ByteBuffer {
        var all = ByteBuffer()
        var iterator = makeAsyncIterator()
        while var chunk = try await iterator.next() {
            guard all.readableBytes + chunk.readableBytes <= limit else {
                throw TransportError(.bodyTooLarge, "The body has more than \(limit) bytes.")
            }
            if all.readableBytes == 0 { all = chunk } else { all.writeBuffer(&chunk) }
        }
        return all
    }

    /// Makes the reader; a body has one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(storage: storage)
    }

    /// Reads a body.
    public struct Iterator: AsyncIteratorProtocol {
        private var storage: Storage?
        /// Taken, but not handed out yet.
        private var waiting = ResponseBodyChannel.Batch()

        init(storage: Storage) {
            self.storage = storage
        }

        /// The next bytes, or nil at the end.
        public mutating func next() async throws(TransportError) -> ByteBuffer? {
            if !waiting.isEmpty, Task.isCancelled, case .stream(let reader) = storage { reader.cancel() }
            if let buffer = waiting.popFirst() { return buffer }
            guard let batch = try await take() else { return nil }
            waiting = batch
            return waiting.popFirst()
        }

        /// The next bytes, or nil at the end.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(TransportError) -> ByteBuffer? {
            try await next()
        }

        /// All bytes that are there, at least one buffer, or nil at the end; for those who write them on in one go.
        package mutating func nextBatch() async throws(TransportError) -> CircularBuffer<ByteBuffer>? {
            guard waiting.isEmpty else {
                defer { waiting = ResponseBodyChannel.Batch() }
                return waiting
            }
            return try await take()
        }

        private mutating func take() async throws(TransportError) -> ResponseBodyChannel.Batch? {
            switch storage {
            case .whole(let bytes, _):
                storage = nil
                return bytes.readableBytes > 0 ? [bytes] : nil
            case .stream(let reader):
                return try await reader.nextBatch()
            case nil:
                return nil
            }
        }
    }
}
