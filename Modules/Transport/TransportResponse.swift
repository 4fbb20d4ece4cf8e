public import HTTPTypes
public import NIOCore

/// A received response.
public struct TransportResponse: Sendable {
    /// Status and header fields.
    public var head: HTTPResponse
    /// The body.
    public var body: TransportResponseBody
    /// The metrics of all attempts, in order. The last attempt led to the response; each earlier one has a
    /// ``TransportMetrics/failure``. The metrics of the last attempt are as of the return of the response; for a
    /// streamed body, ``TransportResponseBody/completion`` has the final metrics after its end.
    public private(set) var attempts: [TransportMetrics]

    /// Creates a response, for stubs and caches.
    public init(head: HTTPResponse, body: TransportResponseBody, metrics: TransportMetrics = TransportMetrics()) {
        self.head = head
        self.body = body
        attempts = [metrics]
    }

    /// The metrics of the attempt that led to the response, the last of ``attempts``.
    public var metrics: TransportMetrics { attempts[attempts.count - 1] }

    /// The response after these attempts.
    consuming func following(_ earlier: [TransportMetrics]) -> TransportResponse {
        if !earlier.isEmpty { attempts = earlier + attempts }
        return self
    }
}

/// The body of a response: ``whole``, or streamed to one reader.
///
/// A whole body can be read any number of times. A streamed one has one reader: each further one fails with
/// ``TransportError/Code/bodyHasReader``, while the first one reads as well as after the end. Releasing a body before
/// its end closes its connection.
public struct TransportResponseBody: Sendable, AsyncSequence {
    /// The bytes in the buffers in which they arrived.
    public typealias Element = ByteBuffer
    /// A ``TransportError``.
    public typealias Failure = TransportError

    /// The trailers and final metrics of a response.
    public struct Completion: Sendable {
        /// The trailer fields (RFC 9110, 6.5); nil if there were none.
        public var trailers: HTTPFields?
        /// The final metrics of the attempt.
        public var metrics: TransportMetrics
    }

    enum Storage: Sendable {
        case whole(ByteBuffer, Boxed<Completion>?)
        case stream(ResponseBodyReader)
        case watched(WatchedBody)
        case upgraded(UpgradedConnection)
        /// A streamed body in the hands of its first reader; of the readers that come later.
        case claimed
    }

    let storage: Storage

    /// Creates a body of these bytes, for stubs and caches.
    public init(_ bytes: ByteBuffer, trailers: HTTPFields? = nil) {
        storage = .whole(bytes, trailers.map { Boxed(Completion(trailers: $0, metrics: TransportMetrics())) })
    }

    init(_ storage: Storage) {
        self.storage = storage
    }

    /// The whole body if it was delivered at once; nil for a streamed one.
    public var whole: ByteBuffer? {
        if case .whole(let bytes, _) = storage { bytes } else { nil }
    }

    /// The connection that has switched protocols; nil for the body of any other response.
    package var upgraded: UpgradedConnection? {
        if case .upgraded(let connection) = storage { connection } else { nil }
    }

    /// The trailers and final metrics: for a whole body immediately, for a streamed one after its end was read.
    public var completion: Completion? { storage.completion }

    /// The whole body and its completion; nil for a streamed one.
    package var wholeWithCompletion: (bytes: ByteBuffer, completion: Boxed<Completion>?)? {
        if case .whole(let bytes, let completion) = storage { (bytes, completion) } else { nil }
    }

    /// Reads the whole body into one buffer, which holds almost 4 GiB.
    ///
    /// - Throws: ``TransportError/Code/bodyTooLarge`` if it has more than `limit` bytes, or more than a buffer holds.
    public func collect(upTo limit: Int) async throws(TransportError) -> ByteBuffer {
        let limit = Swift.min(limit, ByteBuffer.largestBody)
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

    /// Makes a reader. Only the first one of a streamed body can read; the others fail with
    /// ``TransportError/Code/bodyHasReader``.
    public func makeAsyncIterator() -> Iterator {
        if let reader = storage.reader, !reader.claim.take() { return Iterator(storage: .claimed) }
        return Iterator(storage: storage)
    }

    /// Reads a body.
    public struct Iterator: AsyncIteratorProtocol {
        private var storage: Storage?
        /// Buffers taken from the channel and not yet returned.
        private var waiting = ResponseBodyChannel.Batch()

        init(storage: Storage) {
            self.storage = storage
        }

        /// The next bytes, or nil at the end.
        public mutating func next() async throws(TransportError) -> ByteBuffer? {
            if !waiting.isEmpty, Task.isCancelled { storage?.reader?.cancel() }
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

        /// Returns all bytes that have arrived, at least one buffer, or nil at the end.
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
            case .watched(let body):
                return try await body.nextBatch()
            case .claimed:
                throw .secondReader
            case .upgraded, nil:
                return nil
            }
        }
    }
}

/// Writes the body of a streamed response without a connection, for stubs.
package struct TransportResponseBodyWriter: Sendable {
    private let channel: ResponseBodyChannel

    /// Makes a body and its writer. `resumed` is called when the reader wants more after `write` returned false,
    /// `abandoned` when the reader stops before the end.
    package static func makeBody(
        resumed: @escaping @Sendable () -> Void = {}, abandoned: @escaping @Sendable (TransportError) -> Void = { _ in }
    ) -> (TransportResponseBody, TransportResponseBodyWriter) {
        let channel = ResponseBodyChannel(resumeReading: resumed, abandonExchange: abandoned)
        return (
            TransportResponseBody(.stream(ResponseBodyReader(channel))), TransportResponseBodyWriter(channel: channel)
        )
    }

    /// Adds bytes. Returns false if no more should be written until the reader asks.
    @discardableResult
    package func write(_ bytes: ByteBuffer) -> Bool {
        channel.push(bytes)
    }

    /// Ends the body.
    package func finish(_ metrics: TransportMetrics = TransportMetrics()) {
        channel.finish(.success(TransportResponseBody.Completion(trailers: nil, metrics: metrics)))
    }

    /// Ends the body with an error.
    package func fail(_ error: TransportError) {
        channel.finish(.failure(error))
    }
}

/// A value behind a reference, copied on write if the reference is shared.
///
/// For large, rarely used values: a throwing function reserves room in its frame for the error of each call, and a
/// response is copied on its way up.
package struct Boxed<Value: Sendable>: Sendable {
    // SAFETY: `value` is written only while a single `Boxed` refers to the storage, with exclusive access to it.
    private final class Storage: @unchecked Sendable {
        var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var storage: Storage

    package init(_ value: Value) {
        storage = Storage(value)
    }

    package var value: Value {
        get { storage.value }
        set {
            if isKnownUniquelyReferenced(&storage) {
                storage.value = newValue
            } else {
                storage = Storage(newValue)
            }
        }
    }
}
