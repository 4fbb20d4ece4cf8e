public import FoundationEssentials
import LinnetSerialization

/// An async sequence of the events in a multipart body of any subtype, from an async sequence of chunks such as a
/// streamed response.
///
/// ```swift
/// let reader = try MultipartReader(chunks, contentType: contentType)
/// for try await event in reader {
///     switch event {
///     case .partBegan(let head): print(head.name ?? "")
///     case .data(let data): try file.write(data)
///     case .partEnded: break
///     }
/// }
/// ```
/// Memory does not grow with the body. See ``MultipartParser`` for the grammar and the errors; errors of the chunks
/// are passed on.
public struct MultipartReader<Chunks: AsyncSequence>: AsyncSequence where Chunks.Element: DataProtocol {
    /// The events of the body.
    public typealias Element = MultipartParser.Event

    private let chunks: Chunks
    private let parser: MultipartParser

    /// Creates a reader; see ``MultipartParser/init(contentType:limits:readsNestedParts:)``.
    public init(
        _ chunks: Chunks, contentType: String, limits: MultipartParser.Limits = MultipartParser.Limits(),
        readsNestedParts: Bool = false
    ) throws(MultipartError) {
        self.chunks = chunks
        parser = try MultipartParser(contentType: contentType, limits: limits, readsNestedParts: readsNestedParts)
    }

    /// Creates a reader; see ``MultipartParser/init(boundary:limits:readsNestedParts:)``.
    public init(
        _ chunks: Chunks, boundary: String, limits: MultipartParser.Limits = MultipartParser.Limits(),
        readsNestedParts: Bool = false
    ) throws(MultipartError) {
        self.chunks = chunks
        parser = try MultipartParser(boundary: boundary, limits: limits, readsNestedParts: readsNestedParts)
    }

    /// Starts at the first chunk.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: chunks.makeAsyncIterator(), parser: parser)
    }

    /// Iterates over the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var chunks: Chunks.AsyncIterator
        private var parser: MultipartParser
        private var isAtEnd = false

        init(chunks: Chunks.AsyncIterator, parser: MultipartParser) {
            self.chunks = chunks
            self.parser = parser
        }

        /// Returns the next event; nil at the end of the chunks.
        public mutating func next() async throws -> MultipartParser.Event? {
            try await next(isolation: #isolation)
        }

        /// Returns the next event; nil at the end of the chunks.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> MultipartParser.Event? {
            while !isAtEnd {
                if let event = try parser.next() { return event }
                if let chunk = try await chunks.next(isolation: actor) {
                    parser.push(chunk)
                } else {
                    isAtEnd = true
                    try parser.finish()
                }
            }
            return nil
        }
    }

    /// Reads the whole body into memory.
    ///
    /// - Parameter maximumBytes: The maximum number of bytes of content; the default is 64 MiB. Exceeding it is
    ///   ``MultipartError/Code/bodyTooLarge``.
    public func collect(upTo maximumBytes: Int = 64 << 20) async throws -> [MultipartPart] {
        var assembly = MultipartAssembly()
        var count = 0
        for try await event in self {
            if case .data(let data) = event { count += data.count }
            guard count <= maximumBytes else {
                throw MultipartError(code: .bodyTooLarge, message: "The parts have more than \(maximumBytes) bytes.")
            }
            assembly.add(event)
        }
        return assembly.parts
    }
}

extension MultipartReader: Sendable where Chunks: Sendable {}
