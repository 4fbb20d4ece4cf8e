internal import FoundationEssentials

/// Reads the lines of a body as bytes.
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

/// Reads the lines of a body as text.
private struct TextLineReader: ElementReader {
    var lines: LineReader

    mutating func next() async throws(SessionError) -> String? {
        try await lines.next().map { String(decoding: $0, as: UTF8.self) }
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
    /// A line ends with LF, CR or CRLF. Text after the last line ending is a line, unless it is empty. A streamed body
    /// has only one reader.
    ///
    /// - Parameter limit: The maximum size of a line in bytes. The default is 1 MiB. Exceeding it is
    ///   ``SessionError/Code/bodyTooLarge``, which iteration throws.
    public func lines(
        upTo limit: Int = HTTPResponseBody.defaultLineLimit
    ) -> some AsyncSequence<String, SessionError> & Sendable {
        ElementSequence { TextLineReader(lines: LineReader(self, .any, limit: limit)) }
    }
}
