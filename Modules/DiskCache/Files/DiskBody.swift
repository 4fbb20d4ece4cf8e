internal import FoundationEssentials
internal import LinnetCache
internal import LinnetSecurity
internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A body that was read completely, and whose digest was checked.
struct WholeBody: StoredBody {
    let data: Data

    var size: Int64 { Int64(data.count) }

    func bytes(in range: Range<Int64>) async throws(CacheError) -> Data {
        guard range.lowerBound >= 0, range.upperBound <= size else { throw .rangeNotStored(in: size) }
        if range == 0..<size { return data }
        return data[data.startIndex + Int(range.lowerBound)..<data.startIndex + Int(range.upperBound)]
    }
}

/// A body that is read from its file in pieces. The file stays readable when its name is removed.
///
/// The pieces are read with `pread`, straight into the result. A mapping would save the copy from the system's cache,
/// but reading a mapped file that was truncated, or whose disk fails, ends the process.
struct FileBody: StoredBody {
    let file: OpenFile
    var size: Int64 { file.state.size }

    func bytes(in range: Range<Int64>) async throws(CacheError) -> Data {
        guard range.lowerBound >= 0, range.upperBound <= size else { throw .rangeNotStored(in: size) }
        return try await onFileThreads { () throws(CacheError) in try file.read(range) }
    }
}

/// A file that is open for reading. Its functions block.
final class OpenFile: Sendable {
    /// A value that changes when the file does.
    struct State: Hashable, Sendable {
        let node: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    private static let pieceSize: Int64 = 1 << 20

    let state: State
    private let descriptor: Int32
    private let path: String

    /// Opens a regular file; nil if there is none.
    init?(_ path: String) throws(CacheError) {
        descriptor = SystemCall.retrying { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        self.path = path
        guard descriptor >= 0 else {
            // The cache makes no links, so a link does not belong to it, and following it could read any file.
            if errno == ENOENT || errno == ELOOP {
                state = State(node: 0, size: 0, seconds: 0, nanoseconds: 0)
                return nil
            }
            throw .failedCall(path, "cannot be opened")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let code = errno
            close(descriptor)
            throw .failedCall(path, "is not a regular file", code)
        }
        state = State(status)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func read(_ range: Range<Int64>) throws(CacheError) -> Data {
        var data = Data(count: range.count)
        let failure = data.withUnsafeMutableBytes { (room: UnsafeMutableRawBufferPointer) -> Int32? in
            var filled = 0
            while filled < room.count {
                let count = SystemCall.retrying {
                    pread(
                        descriptor, room.baseAddress?.advanced(by: filled), room.count - filled,
                        off_t(range.lowerBound) + off_t(filled))
                }
                guard count > 0 else { return count < 0 ? errno : EIO }
                filled += count
            }
            return nil
        }
        if let failure { throw .failedCall(path, "cannot be read", failure) }
        return data
    }

    /// The digest of the whole file.
    func digest() throws(CacheError) -> Data {
        let hasher = SHA256Hasher()
        var offset: Int64 = 0
        while offset < state.size {
            let end = min(state.size, offset + Self.pieceSize)
            try read(offset..<end).withUnsafeBytes { hasher.update($0) }
            offset = end
        }
        return Data(hasher.digest)
    }
}

extension OpenFile.State {
    init(_ status: stat) {
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        self.init(
            node: UInt64(status.st_ino), size: Int64(status.st_size), seconds: Int(time.tv_sec),
            nanoseconds: Int(time.tv_nsec))
    }

    /// Returns nil if the file does not exist.
    init?(path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}

extension Data {
    /// The SHA-256 digest.
    var digest: Data {
        let hasher = SHA256Hasher()
        withUnsafeBytes { hasher.update($0) }
        return Data(hasher.digest)
    }
}
