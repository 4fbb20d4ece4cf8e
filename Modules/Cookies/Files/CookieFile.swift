internal import FoundationEssentials

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file that several processes share. Each write replaces the whole file, and one process writes at a time. All
/// functions block.
struct CookieFile {
    let path: String

    /// The size limit. 3,000 cookies of the largest size take less, even in the longest spelling.
    private static var largestSize: Int { 128 << 20 }
    /// The time to wait for another process to release the lock.
    var patience = Duration.seconds(10)

    init(_ file: URL, _ code: CookieError.Code) throws(CookieError) {
        guard file.isFileURL else {
            throw CookieError(
                code, message: "Cookies are read from and written to files, and the URL is not that of a file.")
        }
        path = file.path
    }

    /// Runs a function that no other process and no other thread runs for the same file meanwhile.
    ///
    /// The lock is on a file beside the cookie file, because replacing a locked file would leave two processes with
    /// locks on different files. The lock file stays. A process that holds the lock for longer than ``patience`` has
    /// been stopped, and is not waited for.
    func locked<Result>(_ body: () throws(CookieError) -> Result) throws(CookieError) -> Result {
        let lock = path + ".lock"
        let descriptor = Self.retrying { open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else {
            throw CookieError(.unwritableFile, file: lock, "cannot be opened", errorNumber: errno)
        }
        // Closing the descriptor releases the lock.
        defer { close(descriptor) }
        let deadline = ContinuousClock.now + patience
        while Self.retrying({ flock(descriptor, LOCK_EX | LOCK_NB) }) != 0 {
            guard errno == EWOULDBLOCK else {
                throw CookieError(.unwritableFile, file: lock, "cannot be locked", errorNumber: errno)
            }
            guard .now < deadline else {
                throw CookieError(
                    .unwritableFile, file: lock, "is locked by another process", errorNumber: EWOULDBLOCK)
            }
            // A blocking flock has no time limit, so the lock is polled.
            usleep(5_000)
        }
        return try body()
    }

    /// Reads the file; nil if there is none.
    func read() throws(CookieError) -> Data? {
        // Without O_NONBLOCK, opening a named pipe would wait for its writer.
        let descriptor = Self.retrying { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw CookieError(.unreadableFile, file: path, "cannot be opened", errorNumber: errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw CookieError(.unreadableFile, file: path, "cannot be inspected", errorNumber: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw CookieError(.unreadableFile, file: path, "is not a regular file")
        }
        guard status.st_size <= Self.largestSize else {
            throw CookieError(.corruptFile, file: path, "is larger than a store of cookies can be")
        }
        return try contents(descriptor, size: Int(status.st_size))
    }

    private func contents(_ descriptor: Int32, size: Int) throws(CookieError) -> Data {
        var bytes = [UInt8](repeating: 0, count: size)
        var filled = 0
        while filled < size {
            let count = Self.retrying {
                bytes.withUnsafeMutableBytes {
                    pread(descriptor, $0.baseAddress?.advanced(by: filled), size - filled, off_t(filled))
                }
            }
            guard count >= 0 else {
                throw CookieError(.unreadableFile, file: path, "cannot be read", errorNumber: errno)
            }
            if count == 0 { break }
            filled += count
        }
        return Data(bytes[..<filled])
    }

    /// Replaces the file completely or not at all, even if the machine stops meanwhile. Only the owner can read the
    /// file.
    ///
    /// Requires the lock. Overwrites the unfinished file of a process that was killed.
    func replace(with data: Data) throws(CookieError) {
        let new = path + ".new"
        // A file with the permissions of its predecessor could be readable for others.
        unlink(new)
        let descriptor = Self.retrying { open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else {
            throw CookieError(.unwritableFile, file: new, "cannot be created", errorNumber: errno)
        }
        let failure = Self.write(data, to: descriptor)
        close(descriptor)
        if let failure {
            unlink(new)
            throw CookieError(.unwritableFile, file: new, "cannot be written", errorNumber: failure)
        }
        guard rename(new, path) == 0 else {
            let code = errno
            unlink(new)
            throw CookieError(.unwritableFile, file: path, "cannot be replaced", errorNumber: code)
        }
        synchronizeFolder()
    }

    /// Renames the file to a free name. Requires the lock.
    ///
    /// - Returns: The new path.
    func setAside() throws(CookieError) -> String {
        var number = 1
        var status = stat()
        while lstat("\(path).corrupt-\(number)", &status) == 0 { number += 1 }
        let aside = "\(path).corrupt-\(number)"
        guard rename(path, aside) == 0 else {
            throw CookieError(.unwritableFile, file: path, "is corrupt, and cannot be renamed", errorNumber: errno)
        }
        return aside
    }

    /// Writes data to the disk; returns the error number of a failure.
    private static func write(_ data: Data, to descriptor: Int32) -> Int32? {
        let bytes = [UInt8](data)
        var written = 0
        while written < bytes.count {
            let count = retrying {
                bytes.withUnsafeBytes {
                    pwrite(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written, off_t(written))
                }
            }
            guard count >= 0 else { return errno }
            written += count
        }
        return retrying { fsync(descriptor) } == 0 ? nil : errno
    }

    /// Makes the new name durable. On a file system that cannot, the old file may be back after a power failure.
    private func synchronizeFolder() {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = Self.retrying { open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { return }
        _ = Self.retrying { fsync(descriptor) }
        close(descriptor)
    }

    /// Repeats a system call that a signal interrupted.
    private static func retrying<Result: BinaryInteger>(_ call: () -> Result) -> Result {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}
