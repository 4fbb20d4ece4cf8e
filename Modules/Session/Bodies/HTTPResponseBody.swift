public import FoundationEssentials
internal import LinnetTransport
internal import NIOCore

/// The bytes of a response: ``whole`` in memory, or streamed to one reader under backpressure.
///
/// A body in memory can be read any number of times. A streamed one has one reader: each further one fails with
/// ``SessionError/Code/bodyHasReader``, both while the first one reads and after the end. The body of
/// ``HTTPCall/bytes(validation:)`` and of ``TransferTask/response`` is always streamed, however short it is. A streamed
/// body that is dropped before its end closes its connection.
public struct HTTPResponseBody: Sendable, AsyncSequence {
    /// The bytes, as they came, with their content codings undone.
    public typealias Element = Data
    /// The type of the errors.
    public typealias Failure = SessionError

    private enum Storage: Sendable {
        case whole(Data, Boxed<TransportResponseBody.Completion>?)
        case layer(any ResponseBodyLayer)
    }

    private let storage: Storage

    private init(_ storage: Storage) {
        self.storage = storage
    }

    /// A body of these bytes.
    public static func whole(_ bytes: Data) -> HTTPResponseBody {
        HTTPResponseBody(.whole(bytes, nil))
    }

    /// A body of these bytes that was read from a connection.
    static func whole(_ bytes: Data, _ completion: TransportResponseBody.Completion?) -> HTTPResponseBody {
        HTTPResponseBody(.whole(bytes, completion.map { Boxed($0) }))
    }

    /// A body that is read through a layer.
    init(_ layer: any ResponseBodyLayer) {
        self.init(.layer(layer))
    }

    /// The outermost layer; nil for bytes in memory.
    var layer: (any ResponseBodyLayer)? {
        if case .layer(let layer) = storage { layer } else { nil }
    }

    /// Whether the bytes still come from a connection.
    var isOfConnection: Bool { layer?.isOfConnection ?? false }

    /// A body of the chunks of a sequence, which has one reader. An error of the sequence fails the reader with a
    /// ``SessionError``: a `CancellationError` becomes ``SessionError/Code/cancelled``, a `SessionError` is unchanged,
    /// and any other error becomes ``SessionError/Code/interceptorFailed``.
    public static func streamed<S: AsyncSequence & Sendable>(_ chunks: S) -> HTTPResponseBody where S.Element == Data {
        HTTPResponseBody(SequenceBody { SequenceSource(reader: SequenceReader(chunks)) })
    }

    static func transport(_ body: TransportResponseBody, url: URL) -> HTTPResponseBody {
        guard let whole = body.wholeWithCompletion else { return HTTPResponseBody(TransportBody(base: body, url: url)) }
        return HTTPResponseBody(.whole(Data(whole.bytes), whole.completion))
    }

    /// The bytes, if all of them are in memory; nil for a streamed body.
    public var whole: Data? {
        if case .whole(let bytes, _) = storage { bytes } else { nil }
    }

    /// The connection that has switched protocols; nil for the body of any other response.
    package var upgraded: UpgradedConnection? { layer?.upgraded }

    /// The final metrics and the trailers of a body from the network, after its end was read.
    var completion: TransportResponseBody.Completion? {
        switch storage {
        case .whole(_, let completion): completion?.value
        case .layer(let layer): layer.completion
        }
    }

    /// The final metrics of the attempt behind a body, after it was read to its end; nil for a whole body, because the
    /// metrics of its response are final.
    var finalMetrics: TransportMetrics? { layer?.finalMetrics }

    /// The URL of the response, if it is known.
    var url: URL? { layer?.url }

    /// All bytes in one piece; more than `limit` fail with ``SessionError/Code/bodyTooLarge``. The call is the reader
    /// of a streamed body.
    public func collect(upTo limit: Int) async throws(SessionError) -> Data {
        if let whole, whole.count <= limit { return whole }
        var collector = BodyCollector(limit: limit)
        var iterator = makeAsyncIterator()
        while let chunk = try await iterator.next() { try collector.append(chunk) }
        return collector.bytes
    }

    /// Makes a reader. Only the first one of a streamed body can read; the others fail with
    /// ``SessionError/Code/bodyHasReader``.
    public func makeAsyncIterator() -> Iterator {
        switch storage {
        case .whole(let bytes, _): Iterator(source: WholeSource(bytes: bytes))
        case .layer(let layer):
            Iterator(
                source: layer.claimReader()
                    ? layer.makeSource() : ClaimedSource(body: layer as? ReportedBody, url: layer.url))
        }
    }

    /// Reads a body.
    public struct Iterator: AsyncIteratorProtocol {
        typealias Source = any ResponseBodySource
        fileprivate var source: Source

        /// The next bytes, or nil at the end.
        public mutating func next() async throws(SessionError) -> Data? {
            try await source.next()
        }

        /// The next bytes, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SessionError) -> Data? {
            try await source.next()
        }

        /// All available bytes, without a detour through `Data` if they come from a connection; nil at the end.
        mutating func nextBatch() async throws(SessionError) -> CircularBuffer<ByteBuffer>? {
            try await source.nextBatch()
        }
    }
}

extension HTTPResponseBody {
    /// The largest number of bytes that are read only to reuse the connection: 64 KiB.
    static let drainLimit = 64 * 1024
    /// The longest time for that.
    private static let drainTime = Duration.seconds(1)

    /// Reads an unused body to its end, so that its connection can be reused. A body that exceeds the size or time
    /// limit is dropped, which closes the connection.
    ///
    /// - Parameter deadline: The deadline of the request; nil for none.
    func drain(before deadline: Tick? = nil) async {
        guard whole == nil else { return }
        // The decoded bytes do not matter.
        if let decoded = layer as? DecodedBody { return await decoded.coded.drain(before: deadline) }
        let time = deadline.map { Swift.min(Self.drainTime, $0.timeLeft) } ?? Self.drainTime
        await withTaskGroup { group in
            group.addTask { await readToEnd() }
            group.addTask { try? await Task.sleep(for: time) }
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

extension HTTPResponseBody.Iterator {
    /// The largest number of bytes of an error page to keep for the error.
    private static let errorBodyLimit = 1024 * 1024

    /// The first bytes of the body of a refused response. The refusal is the error, even if the body cannot be read to
    /// its end.
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

extension Data {
    /// Below this size, a copy costs less than keeping the buffer alive.
    private static let copyLimit = 32 * 1024

    /// The readable bytes of a buffer: a copy if they are few, or few compared with the buffer's memory; otherwise the
    /// buffer's own memory, which does not change, because writes to a shared buffer copy it first.
    init(_ buffer: ByteBuffer) {
        let count = buffer.readableBytes
        guard count >= Self.copyLimit, count >= buffer.storageCapacity / 2 else {
            self = buffer.withUnsafeReadableBytes { Data($0) }
            return
        }
        self = buffer.withUnsafeReadableBytesWithStorageManagement { bytes, storage in
            guard let start = bytes.baseAddress else { return Data() }
            let owner = storage.retain()
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count,
                deallocator: .custom { _, _ in owner.release() })
        }
    }
}
