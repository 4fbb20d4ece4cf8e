public import FoundationEssentials
import LinnetSerialization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension MultipartForm {
    /// Writes the body to a file, which can be sent repeatedly with `HTTPRequestBody.file`.
    ///
    /// Use it for a form with a part that can be read only once, and for a server that requires a Content-Length if the
    /// length of the form is unknown.
    ///
    /// ```swift
    /// try await form.write(to: file)
    /// request.headerFields[.contentType] = form.contentType
    /// request.body = try .file(file)
    /// ```
    /// Only the owner can read the file. It appears, or replaces an existing one, when it is complete. Until then it is
    /// hidden, in the same directory; a failure or a cancellation removes it. Writing may block on the disk.
    ///
    /// - Parameters:
    ///   - url: The file to write, in an existing directory.
    ///   - progress: Called after each chunk with the number of bytes written, and the total if it is known.
    /// - Returns: The number of bytes.
    /// - Throws: ``MultipartError`` with ``MultipartError/Code/unwritableFile`` if the file cannot be written; a
    ///   stream's error; `CancellationError`.
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

/// A file that appears when it is complete. Otherwise the last reference removes it.
final class AtomicFile {
    private let path: String
    private let temporaryPath: String
    private let descriptor: Int32
    private var isCommitted = false

    init(at url: URL) throws(MultipartError) {
        let path = url.absoluteURL.path(percentEncoded: false)
        guard url.isFileURL, !url.lastPathComponent.isEmpty, url.lastPathComponent != "/", !path.utf8.contains(0) else {
            throw MultipartError(code: .unwritableFile, message: "\(url) is not the URL of a file.")
        }
        self.path = path
        // The temporary file is in the same directory, because renaming does not work across file systems. Its name
        // does not depend on the file's, which may have the maximum length.
        let name = "." + MultipartBoundary.random()
        temporaryPath = url.deletingLastPathComponent().appending(path: name).path(percentEncoded: false)
        let temporaryPath = temporaryPath
        descriptor = SystemCall.retrying { open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if descriptor >= 0, !isCommitted { unlink(temporaryPath) }
    }

    func write(_ data: Data) throws(MultipartError) {
        var failed: Int32?
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty, failed == nil {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = SystemCall.retrying { Self.put(descriptor, part) }
                if count < 0 { failed = errno } else { rest = rest.dropFirst(count) }
            }
        }
        if let failed { throw Self.failure(path, failed) }
    }

    /// Moves the file to its place, and replaces an existing one.
    func commit() throws(MultipartError) {
        guard rename(temporaryPath, path) == 0 else { throw Self.failure(path, errno) }
        isCommitted = true
    }

    /// Calls the system's `write`, which the class's own method hides.
    private static func put(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
        Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
        Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    private static func failure(_ path: String, _ code: Int32) -> MultipartError {
        let failure = FileFailure(path: path, errorNumber: code, problem: "cannot be written")
        return MultipartError(code: .unwritableFile, message: "\(failure)", underlying: failure)
    }
}
