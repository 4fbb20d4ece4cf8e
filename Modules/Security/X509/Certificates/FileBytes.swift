internal import FoundationEssentials
internal import LinnetMessages

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Reads whole files.
enum FileBytes {
    /// The maximum number of bytes. The revocation lists of large authorities have some tens of megabytes.
    static let most = 64 << 20

    /// Reads a regular file of at most 64 MiB.
    ///
    /// - Throws: ``SecurityError/Code/cannotReadFile``.
    static func read(_ path: String) throws(SecurityError) -> Data {
        let file = try RegularFile.at(path, most: most)
        var data = Data(count: file.size)
        let isRead = data.withUnsafeMutableBytes { file.fill($0) }
        guard isRead else { throw RegularFile.unreadable(path, "it became shorter while it was read") }
        return data
    }

    /// Adds the path of the file to the errors of a function that reads its content.
    static func naming<Result>(
        _ path: String, _ read: () throws(SecurityError) -> Result
    ) throws(SecurityError) -> Result {
        do {
            return try read()
        } catch {
            var error = error
            error.message = "\"\(path.oneLine)\": \(error.message)"
            throw error
        }
    }
}

/// A regular file that is open for reading.
final class RegularFile {
    private let descriptor: Int32
    /// The number of bytes when it was opened.
    let size: Int

    private init(_ descriptor: Int32, size: Int) {
        self.descriptor = descriptor
        self.size = size
    }

    deinit {
        close(descriptor)
    }

    /// Opens a file. Links are followed.
    ///
    /// - Parameter most: The maximum number of bytes.
    /// - Throws: ``SecurityError/Code/cannotReadFile``, also for devices, which need not end, and for FIFOs.
    static func at(_ path: String, most: Int) throws(SecurityError) -> RegularFile {
        // Before it is opened, since that can have effects on a device.
        guard FileSize.ofRegularFile(path) != nil else {
            throw unreadable(path, "it does not exist or is not a file")
        }
        // If a FIFO has taken its place meanwhile, it is not waited for.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(path, String(cString: strerror(errno))) }
        guard let size = FileSize.ofRegularFile(descriptor) else {
            close(descriptor)
            throw unreadable(path, "it is not a file")
        }
        let file = RegularFile(descriptor, size: size)
        guard size <= most else { throw unreadable(path, "it has more than \(most) bytes") }
        return file
    }

    static func unreadable(_ path: String, _ reason: String) -> SecurityError {
        SecurityError(.cannotReadFile, "\"\(path.oneLine)\" cannot be read: \(reason).")
    }

    /// Reads the file from its current position into a buffer. Returns whether there were enough bytes.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
        var count = 0
        while count < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let more = read(descriptor, rest.baseAddress, rest.count)
            if more < 0, errno == EINTR { continue }
            guard more > 0 else { return false }
            count += more
        }
        return true
    }
}

/// The size of a file.
///
/// Reads the size with `stat`: the type of a file's size attribute differs between FoundationEssentials and Foundation,
/// and the other libraries of a process decide which one it uses.
package enum FileSize {
    /// The size in bytes, or nil if the path is not a regular file. Links are followed.
    package static func ofRegularFile(_ path: String) -> Int? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    /// The size in bytes, or nil if the open file is not a regular file.
    static func ofRegularFile(_ descriptor: Int32) -> Int? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }
}
