package import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file that is a request's body, with the size that it had when the body was made.
package struct BodyFile: Sendable {
    package let path: String
    package let size: Int64

    /// Checks that the file is regular and readable. Fails with ``SerializationError/Code/bodyFileUnreadable``.
    package init(_ url: URL) throws(SerializationError) {
        guard url.isFileURL else {
            throw SerializationError(code: .invalidURL, message: "\(url.absoluteString) is not a file URL.")
        }
        path = url.absoluteURL.path(percentEncoded: false)
        guard !path.utf8.contains(0) else { throw Self.unreadable(path, EINVAL) }
        var status = stat()
        guard stat(path, &status) == 0 else { throw Self.unreadable(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Self.unreadable(path, status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL)
        }
        guard access(path, R_OK) == 0 else { throw Self.unreadable(path, errno) }
        size = Int64(status.st_size)
    }

    /// Opens the file. Fails with ``SerializationError/Code/bodyFileChanged`` if it is gone or its size has changed.
    package func open() throws(SerializationError) -> OpenBodyFile { try OpenBodyFile(self) }

    static func unreadable(_ path: String, _ code: Int32) -> SerializationError {
        let failure = FileFailure(path: path, errorNumber: code, problem: "cannot be read")
        return SerializationError(code: .bodyFileUnreadable, message: "\(failure)", underlying: failure)
    }

    func changed(_ how: String, _ code: Int32) -> SerializationError {
        SerializationError(
            code: .bodyFileChanged,
            message: "\(path) had \(size) bytes when the request body was made, and \(how).",
            underlying: FileFailure(path: path, errorNumber: code, problem: "changed while it was sent"))
    }
}

/// An open file of a body. The last reference closes it. Reading may block.
package final class OpenBodyFile: Sendable {
    private let file: BodyFile
    private let descriptor: Int32

    init(_ file: BodyFile) throws(SerializationError) {
        self.file = file
        // Without O_NONBLOCK, opening would block forever if the file had been replaced by a pipe.
        descriptor = SystemCall.retrying { open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        if descriptor < 0 {
            if errno == ENOENT { throw file.changed("is gone", ENOENT) }
            throw BodyFile.unreadable(file.path, errno)
        }
        try checkSize()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Reads the bytes at an offset, at most as many as the buffer holds; returns 0 at the end.
    ///
    /// Together with the last bytes, it checks that the file still has the promised size, before they are sent.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(SerializationError) -> Int {
        let wanted = Int(min(Int64(buffer.count), file.size - offset))
        var count = 0
        while count < wanted {
            let position = off_t(offset) + off_t(count)
            let got = SystemCall.retrying {
                pread(descriptor, buffer.baseAddress?.advanced(by: count), wanted - count, position)
            }
            guard got >= 0 else { throw BodyFile.unreadable(file.path, errno) }
            guard got > 0 else { throw file.changed("shrank to \(position) bytes", EIO) }
            count += got
        }
        if offset + Int64(count) >= file.size { try checkSize() }
        return count
    }

    /// The bytes at an offset, at most ``FileThreads/pieceSize``; empty at the end.
    package func piece(at offset: Int64) throws(SerializationError) -> Data {
        let capacity = Int(min(Int64(FileThreads.pieceSize), file.size - offset))
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(capacity, 1), alignment: 16)
        do throws(SerializationError) {
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: memory[..<capacity]), at: offset)
            guard count > 0, let start = memory.baseAddress else {
                memory.deallocate()
                return Data()
            }
            return Data(bytesNoCopy: start, count: count, deallocator: .custom { start, _ in start.deallocate() })
        } catch {
            memory.deallocate()
            throw error
        }
    }

    private func checkSize() throws(SerializationError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw BodyFile.unreadable(file.path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) == file.size else {
            throw file.changed("has \(status.st_size) bytes now", EIO)
        }
    }
}

/// Reads a file in chunks, for callers that pull a body and for parts of other bodies. A session sends a body that is
/// a single file in a faster way.
struct FileBodyReader: HTTPRequestBodyReader {
    private let file: BodyFile
    private let threads: FileThreads
    private var opened: OpenBodyFile?
    private var offset: Int64 = 0

    /// Opens the file now if the caller's thread may block.
    init(_ file: BodyFile, on threads: FileThreads) throws(SerializationError) {
        self.file = file
        self.threads = threads
        opened = threads.areOthers ? nil : try file.open()
    }

    mutating func next() async throws -> Data? {
        let (position, known) = (offset, opened)
        let (reader, chunk) = try await threads.run { [file] () throws(SerializationError) in
            let reader = if let known { known } else { try file.open() }
            return (reader, try reader.piece(at: position))
        }
        opened = reader
        offset += Int64(chunk.count)
        return chunk.isEmpty ? nil : chunk
    }
}
