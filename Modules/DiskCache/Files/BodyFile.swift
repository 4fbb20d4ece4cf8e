internal import FoundationEssentials
internal import LinnetCache
internal import LinnetSecurity
internal import LinnetSerialization
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The unfinished file of a body, and its digest.
///
/// The file is locked until the object is released: the lock tells other processes that the writer is alive. The
/// functions block, so they run on the threads for files.
actor BodyFile {
    private let file: LockedFile
    private var hasher = SHA256Hasher()
    private(set) var size: Int64 = 0

    init(_ file: LockedFile) { self.file = file }

    func write(_ bytes: Data) throws(CacheError) {
        let failure = bytes.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> Int32? in
            var written = 0
            while written < bytes.count {
                let count = SystemCall.retrying {
                    pwrite(
                        file.descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written,
                        off_t(size) + off_t(written))
                }
                guard count > 0 else { return count < 0 ? errno : EIO }
                written += count
            }
            // After the whole write, since a failed write is repeated with the same bytes.
            hasher.update(bytes)
            return nil
        }
        if let failure { throw .failedCall(file.path, "cannot be written", failure) }
        size += Int64(bytes.count)
    }

    /// The digest of all bytes.
    var digest: Data { Data(hasher.digest) }
}

/// A file that this process has created and locked. Releasing the object removes the file, unless it was kept.
final class LockedFile: Sendable {
    let descriptor: Int32
    let path: String
    private let isKept = Atomic(false)

    private init(_ descriptor: Int32, _ path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        if !isKept.load(ordering: .relaxed) { unlink(path) }
        close(descriptor)
    }

    static func create(_ path: String) throws(CacheError) -> LockedFile {
        let descriptor = SystemCall.retrying { open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        guard descriptor >= 0 else { throw .failedCall(path, "cannot be created") }
        let file = LockedFile(descriptor, path)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .failedCall(path, "cannot be locked") }
        return file
    }

    /// Gives the file its final name, which it keeps when the object is released.
    func keep(as newPath: String) throws(CacheError) {
        guard rename(path, newPath) == 0 else { throw .failedCall(newPath, "cannot be moved into place") }
        isKept.store(true, ordering: .relaxed)
    }

    /// Takes back the final name, if the file has it. Afterwards the file can be kept again; otherwise it is removed
    /// with the object.
    func takeBack(from newPath: String) {
        guard isKept.load(ordering: .relaxed) else { return }
        if rename(newPath, path) == 0 { isKept.store(false, ordering: .relaxed) } else { unlink(newPath) }
    }

    /// Whether no living process is writing the file, or the file does not exist.
    static func isAbandoned(_ path: String) -> Bool {
        let descriptor = SystemCall.retrying { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        guard descriptor >= 0 else { return errno == ENOENT }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }
}
