internal import FoundationEssentials

/// The lines of a response, as they arrive.
public struct LineSequence: AsyncSequence, Sendable {
    /// A line, without its end.
    public typealias Element = String
    /// A ``SessionError``.
    public typealias Failure = SessionError

    let body: ResponseBody
    let limit: Int

    /// Makes the reader; a streamed body has one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(lines: LineReader(body, .any, limit: limit))
    }

    /// Reads lines.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var lines: LineReader

        /// The next line, or nil at the end.
        public mutating func next() async throws(SessionError) -> String? {
            try await lines.next().map { String(decoding: $0, as: UTF8.self) }
        }

        /// The next line, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SessionError) -> String? {
            try await next()
        }
    }
}

extension ResponseBody {
    /// The longest line unless another limit is given: 1 MiB.
    public static let defaultLineLimit = 1024 * 1024

    /// The body's lines as they arrive, in UTF-8; invalid bytes become U+FFFD.
    ///
    /// ```swift
    /// for try await line in try await session.call(request).bytes().body.lines() { print(line) }
    /// ```
    /// A line ends with LF, CR or both. Text after the last of them is a line, unless it is empty. A line of more bytes than
    /// the limit fails with ``SessionError/Code/bodyTooLarge``.
    public func lines(upTo limit: Int = ResponseBody.defaultLineLimit) -> LineSequence {
        LineSequence(body: self, limit: limit)
    }
}
