/// Reads a response's lines as bytes.
struct LineReader {
    private var chunks: ResponseBody.Iterator
    private var splitter: LineSplitter
    private var isAtEnd = false

    init(_ body: ResponseBody, _ ending: LineSplitter.Ending, limit: Int) {
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
