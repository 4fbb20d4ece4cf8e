internal import FoundationEssentials
internal import LinnetSecurity
internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// System calls for resuming downloads.
extension SystemFile {
    private static let pieceSize = 1024 * 1024

    /// The error number for changed bytes.
    static let notWhatItWas = EILSEQ

    static func close(_ descriptor: Int32) {
        closeDescriptor(descriptor)
    }

    /// Opens a part of at least this size for appending; fails if another download is writing to it.
    static func openPart(_ path: String, size: Int64) throws(FileFailure) -> Int32 {
        // Without O_NONBLOCK, opening a pipe in place of the file would block indefinitely.
        let descriptor = SystemCall.retrying { open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        guard descriptor >= 0 else { throw failure(path, "cannot be opened") }
        do throws(FileFailure) {
            try checkSize(descriptor, path, size)
            try lock(descriptor, path)
            return descriptor
        } catch {
            closeDescriptor(descriptor)
            throw error
        }
    }

    /// Checks that a part of at least this size exists, before the request is sent.
    static func checkPart(_ path: String, size: Int64) throws(FileFailure) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure(path, "cannot be opened") }
        try check(status, path, size)
    }

    private static func checkSize(_ descriptor: Int32, _ path: String, _ size: Int64) throws(FileFailure) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path, "cannot be inspected") }
        try check(status, path, size)
    }

    private static func check(_ status: stat, _ path: String, _ size: Int64) throws(FileFailure) {
        guard status.st_mode & S_IFMT == S_IFREG else { throw failure(path, "is not a file", EINVAL) }
        guard Int64(status.st_size) >= size else { throw failure(path, "is shorter than the received part", EIO) }
    }

    /// Locks the part against other downloads until the file is closed.
    static func lock(_ descriptor: Int32, _ path: String) throws(FileFailure) {
        // Not waiting: two downloads that append to one part would destroy it, whichever comes first.
        guard SystemCall.retrying({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 else {
            throw failure(path, "is being written by another download")
        }
    }

    /// Truncates a file, and moves its file offset to the new end.
    static func truncate(_ descriptor: Int32, _ path: String, to size: Int64) throws(FileFailure) {
        guard SystemCall.retrying({ ftruncate(descriptor, off_t(size)) }) == 0,
            lseek(descriptor, off_t(size), SEEK_SET) >= 0
        else {
            throw failure(path, "cannot be truncated")
        }
    }

    /// Updates a hasher with a range of a file.
    static func hash(
        _ descriptor: Int32, _ path: String, _ range: Range<Int64>, into hasher: SHA256Hasher
    ) throws(FileFailure) {
        var piece = [UInt8](repeating: 0, count: Int(min(Int64(pieceSize), range.upperBound - range.lowerBound)))
        var offset = range.lowerBound
        while offset < range.upperBound {
            let wanted = Int(min(Int64(piece.count), range.upperBound - offset))
            let count = piece.withUnsafeMutableBytes { bytes in
                SystemCall.retrying { pread(descriptor, bytes.baseAddress, wanted, off_t(offset)) }
            }
            guard count > 0 else { throw failure(path, "cannot be read", count < 0 ? errno : EIO) }
            piece.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            offset += Int64(count)
        }
    }

    /// Returns the size of a file.
    static func size(of path: String) throws(FileFailure) -> Int64 {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure(path, "cannot be inspected") }
        try check(status, path, 0)
        return Int64(status.st_size)
    }

    /// Returns the SHA-256 digest of a file's first bytes, in hexadecimal.
    static func digest(of path: String, upTo size: Int64) throws(FileFailure) -> String {
        let descriptor = SystemCall.retrying { open(path, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw failure(path, "cannot be read") }
        defer { closeDescriptor(descriptor) }
        let hasher = SHA256Hasher()
        try hash(descriptor, path, 0..<size, into: hasher)
        return hasher.hexadecimalDigest
    }

    /// Returns the first bytes of a file, up to a limit; nil if the file does not exist.
    static func contents(of path: String, upTo limit: Int) throws(FileFailure) -> Data? {
        // O_NONBLOCK as above, for a pipe in place of the file.
        let descriptor = SystemCall.retrying { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(path, "cannot be read")
        }
        defer { closeDescriptor(descriptor) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = bytes.withUnsafeMutableBytes { room in
            SystemCall.retrying { read(descriptor, room.baseAddress, limit) }
        }
        guard count >= 0 else { throw failure(path, "cannot be read") }
        return Data(bytes[..<count])
    }

    /// Atomically replaces a small file with one that only its owner can read.
    static func replace(_ place: FilePlace, with bytes: Data) throws(FileFailure) {
        let path = place.makePartialPath()
        guard let descriptor = try create(path, permissions: 0o600) else {
            throw failure(place.path, "cannot be written", EEXIST)
        }
        do throws(FileFailure) {
            defer { closeDescriptor(descriptor) }
            try writeAll([UInt8](bytes)[...], to: descriptor, place.path)
        } catch {
            unlink(path)
            throw error
        }
        do throws(FileFailure) {
            // Not synchronized: after a power failure, the digests and seals in such a file show that it does not fit
            // its part.
            try move(path, to: place.path)
        } catch {
            unlink(path)
            throw error
        }
    }

    private static func writeAll(
        _ bytes: ArraySlice<UInt8>, to descriptor: Int32, _ path: String
    ) throws(FileFailure) {
        guard let number = SystemCall.writeAll(bytes, to: descriptor) else { return }
        throw failure(path, "cannot be written", number)
    }

    static func remove(_ path: String) {
        unlink(path)
    }

    /// Appends a file's bytes to another file, for a destination on another file system.
    static func copy(_ path: String, to target: Int32, _ targetPath: String) throws(FileFailure) {
        let source = SystemCall.retrying { open(path, O_RDONLY | O_CLOEXEC) }
        guard source >= 0 else { throw failure(path, "cannot be read") }
        defer { closeDescriptor(source) }
        var piece = [UInt8](repeating: 0, count: pieceSize)
        while true {
            let count = piece.withUnsafeMutableBytes { room in
                SystemCall.retrying { read(source, room.baseAddress, room.count) }
            }
            guard count >= 0 else { throw failure(path, "cannot be read") }
            guard count > 0 else { return }
            try writeAll(piece[..<count], to: target, targetPath)
        }
    }
}

private func closeDescriptor(_ descriptor: Int32) {
    _ = close(descriptor)
}
