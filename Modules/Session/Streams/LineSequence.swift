internal import FoundationEssentials

/// The lines of a response, in the order of their arrival.
public struct LineSequence: AsyncSequence, Sendable {
    /// A line, without its ending.
    public typealias Element = String
    /// The error of the sequence.
    public typealias Failure = SessionError

    let body: HTTPResponseBody
    let limit: Int

    /// Creates the reader. A streamed body has only one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(lines: LineReader(body, .any, limit: limit))
    }

    /// Reads lines.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var lines: LineReader

        /// Returns the next line, or nil at the end.
        public mutating func next() async throws(SessionError) -> String? {
            try await lines.next().map { String(decoding: $0, as: UTF8.self) }
        }

        /// Returns the next line, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SessionError) -> String? {
            try await next()
        }
    }
}

extension HTTPResponseBody {
    /// The default maximum size of a line: 1 MiB.
    public static let defaultLineLimit = 1024 * 1024

    /// Returns the body's lines as they arrive, decoded as UTF-8. Invalid bytes become U+FFFD.
    ///
    /// ```swift
    /// for try await line in try await session.call(request).bytes().body.lines() { print(line) }
    /// ```
    /// A line ends with LF, CR or CRLF. Text after the last line ending is a line, unless it is empty. Iteration throws
    /// ``SessionError/Code/bodyTooLarge`` for a line of more bytes than the limit.
    public func lines(upTo limit: Int = HTTPResponseBody.defaultLineLimit) -> LineSequence {
        LineSequence(body: self, limit: limit)
    }
}

/// Reads a response's lines as bytes.
struct LineReader {
    private var chunks: HTTPResponseBody.Iterator
    private var splitter: LineSplitter
    private var isAtEnd = false

    init(_ body: HTTPResponseBody, _ ending: LineSplitter.Ending, limit: Int) {
        chunks = body.makeAsyncIterator()
        splitter = LineSplitter(ending, limit: limit)
    }

    /// Returns the next line, or nil at the end.
    ///
    /// - Parameter keepsRest: Whether the bytes after the last line ending are a line.
    mutating func next(keepsRest: Bool = true) async throws(SessionError) -> [UInt8]? {
        while !isAtEnd {
            if let line = try splitter.next() { return line }
            guard let chunk = try await chunks.next() else {
                isAtEnd = true
                return keepsRest ? splitter.finish() : nil
            }
            splitter.add(chunk)
        }
        return nil
    }
}
