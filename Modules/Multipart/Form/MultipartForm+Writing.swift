public import FoundationEssentials
import LinnetSerialization

extension MultipartForm {
    /// Writes the whole body to a file, from which it can then be sent, and sent again, with `HTTPBody.file`.
    ///
    /// For forms with a part that can be read once only, and for servers that want a Content-Length which is not known
    /// beforehand.
    ///
    /// ```swift
    /// try await form.write(to: file)
    /// request.headerFields[.contentType] = form.contentType
    /// request.body = try .file(file)
    /// ```
    /// The file, which none but its owner may read, appears under its name when it is whole, and takes the place of one
    /// that was there. Until then it is a hidden one beside it, which a failure or a cancellation removes. Writing may block
    /// for as long as the disk takes.
    ///
    /// - Parameters:
    ///   - url: Where to write. Its folder has to be there.
    ///   - progress: Told after each chunk how many bytes are written, and how many there will be if that is known.
    /// - Returns: The number of bytes.
    /// - Throws: ``MultipartError``, with ``MultipartError/Code/unwritableFile`` when the file cannot be written; what a
    ///   stream of the caller's throws; `CancellationError`.
    @discardableResult
    public func write(
        to url: URL, progress: ((_ written: Int64, _ total: Int64?) -> Void)? = nil
    ) async throws -> Int64 {
        let total = contentLength
        var reader = try makeBody().makeReader()
        let file = try AtomicFile(at: url)
        var written: Int64 = 0
        while let chunk = try await reader.next() {
            try Task.checkCancellation()
            try file.write(chunk)
            written += Int64(chunk.count)
            progress?(written, total)
        }
        try file.commit()
        return written
    }
}
