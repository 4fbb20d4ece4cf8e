import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file as it was when it was appended.
struct MultipartFile: Sendable {
    let path: String
    let size: Int64
    let partName: String

    init(path: String, partName: String) throws(MultipartError) {
        self.path = path
        self.partName = partName
        var status = stat()
        guard stat(path, &status) == 0 else { throw Self.unreadable(path, partName, code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw MultipartError(
                code: .unreadableFile,
                message: "\(path) is not a regular file",
                partName: partName
            )
        }
        guard access(path, R_OK) == 0 else { throw Self.unreadable(path, partName, code: errno) }
        size = Int64(status.st_size)
    }

    func open() throws(MultipartError) -> OpenMultipartFile { try OpenMultipartFile(self) }

    static func unreadable(_ path: String, _ partName: String, code: Int32) -> MultipartError {
        MultipartError(
            code: .unreadableFile,
            message: "\(path) cannot be read: \(String(cString: strerror(code)))",
            partName: partName
        )
    }
}

/// A file that is being read; it closes with its last reference.
final class OpenMultipartFile {
    private let file: MultipartFile
    private let descriptor: Int32
    private var offset: Int64 = 0

    init(_ file: MultipartFile) throws(MultipartError) {
        self.file = file
        // Without O_NONBLOCK a pipe put in the file's place would block here for good.
        descriptor = Self.retrying { open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        if descriptor < 0 {
            if errno == ENOENT { throw Self.changed(file, "is gone") }
            throw MultipartFile.unreadable(file.path, file.partName, code: errno)
        }
        try checkSize()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Reads some bytes, at least one; returns 0 once all are read and the file still has the size that was promised.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
        let wanted = Int(min(Int64(buffer.count), file.size - offset))
        guard wanted > 0 else {
            try checkSize()
            return 0
        }
        let position = offset
        let count = Self.retrying { pread(descriptor, buffer.baseAddress, wanted, off_t(position)) }
        guard count >= 0 else { throw MultipartFile.unreadable(file.path, file.partName, code: errno) }
        guard count > 0 else { throw Self.changed(file, "shrank to \(offset) bytes") }
        offset += Int64(count)
        return count
    }

    private func checkSize() throws(MultipartError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw MultipartFile.unreadable(file.path, file.partName, code: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) == file.size else {
            throw Self.changed(file, "has \(status.st_size) bytes now")
        }
    }

    private static func changed(_ file: MultipartFile, _ how: String) -> MultipartError {
        MultipartError(
            code: .fileChanged,
            message: "\(file.path) had \(file.size) bytes when it was appended, and \(how)",
            partName: file.partName
        )
    }

    private static func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}
