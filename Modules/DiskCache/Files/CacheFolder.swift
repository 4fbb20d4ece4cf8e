internal import FoundationEssentials
internal import LinnetCache
internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The directory of a cache, and the names of its files. All functions block.
struct CacheFolder: Sendable {
    /// Distinguishes a file from another one of the same name.
    struct FileIdentity: Hashable, Sendable {
        let device: UInt64
        let node: UInt64
    }

    let path: String

    var index: String { path + "/index.sqlite" }
    var changes: String { path + "/changes" }
    /// The log that SQLite keeps beside the index.
    var log: String { index + "-wal" }
    private var sharedMemory: String { index + "-shm" }
    private var damagedIndex: String { index + Self.damaged }
    private var lock: String { path + "/lock" }
    private var bodies: String { path + "/bodies" }

    init(_ directory: URL) throws(CacheError) {
        guard directory.isFileURL else {
            throw CacheError(
                code: .untrustedDirectory, message: "A cache is kept in a directory, and the URL is not that of a file."
            )
        }
        let path = directory.absoluteURL.path
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    // MARK: Trust

    /// Creates the missing parts of the directory, and checks that only this user can change its contents. Sets aside a
    /// file in the place of a directory, and anything but a file in the place of a file.
    func prepare() throws(CacheError) {
        try Self.prepare(path)
        try Self.setAside(bodies, unless: S_IFDIR)
        try Self.prepare(bodies)
        for file in [lock, changes, index, log, sharedMemory] { try Self.setAside(file, unless: S_IFREG) }
    }

    /// Whether the directory is read-only, because of its permissions or its file system.
    var isReadOnly: Bool { access(path, W_OK) != 0 && [EROFS, EACCES, EPERM].contains(errno) }

    /// Creates a directory and its parents if they are missing, and checks the directory.
    static func prepare(_ folder: String) throws(CacheError) {
        do throws(PrivateFolder.Problem) {
            try PrivateFolder.prepare(folder)
        } catch {
            throw CacheError(error)
        }
    }

    /// Throws if the directory exists and others could have written it.
    func checkTrust() throws(CacheError) {
        do throws(PrivateFolder.Problem) {
            try PrivateFolder.check(path)
            // Only the owner of the directory can have put another item there. It is set aside when the cache is used.
            try PrivateFolder.check(bodies, acceptsOtherKinds: true)
        } catch {
            throw CacheError(error)
        }
    }

    private static let damaged = ".damaged"

    /// Renames an item of another kind, so that it is not lost and the cache has its place. A renamed directory is kept
    /// when the next one is set aside; a renamed file is replaced.
    private static func setAside(_ path: String, unless kind: mode_t) throws(CacheError) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT != kind else { return }
        for suffix in [damaged] + (2...99).map({ "\(damaged)-\($0)" }) where rename(path, path + suffix) == 0 { return }
        throw .failedCall(path, "is in the place of a part of the cache, and cannot be renamed")
    }

    // MARK: The index

    /// Creates the file of the index if it is missing. Only its owner can read it, and SQLite gives its own files the
    /// same permissions.
    ///
    /// An existing file is not opened: closing any descriptor of it would release the locks that SQLite holds on it in
    /// this process (POSIX, `fcntl`).
    func makeIndex() throws(CacheError) -> FileIdentity {
        let descriptor = SystemCall.retrying {
            open(index, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        if descriptor >= 0 {
            close(descriptor)
        } else if errno != EEXIST {
            throw .failedCall(index, "cannot be created")
        }
        var status = stat()
        guard lstat(index, &status) == 0 else { throw .failedCall(index, "cannot be inspected") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw CacheError(code: .storageFailed, message: "The index \(index) is not a regular file.")
        }
        return FileIdentity(status)
    }

    /// A value that changes with each change of the index or its log.
    struct IndexState: Hashable, Sendable {
        fileprivate let index: OpenFile.State
        fileprivate let log: OpenFile.State?

        /// Whether the log has changes that the index file does not have.
        var hasLog: Bool { log.map { $0.size > 0 } ?? false }
    }

    /// Nil if there is no index.
    var indexState: IndexState? {
        OpenFile.State(path: index).map { IndexState(index: $0, log: OpenFile.State(path: log)) }
    }

    /// The identity of the file that currently has the name of the index.
    var indexIdentity: FileIdentity? {
        var status = stat()
        return lstat(index, &status) == 0 ? FileIdentity(status) : nil
    }

    /// Renames a damaged index, unless another process has done so already. An index that was set aside before is lost.
    func setIndexAside(_ damaged: FileIdentity) throws(CacheError) {
        let descriptor = SystemCall.retrying { open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        guard descriptor >= 0 else { throw .failedCall(lock, "cannot be opened") }
        // Closing the descriptor releases the lock.
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .failedCall(lock, "is locked by another process") }
        guard indexIdentity == damaged else { return }
        // The log goes first, because SQLite would apply a log without its index to the next one.
        for file in [log, sharedMemory] { unlink(file) }
        // An item of another kind under the target name is not an index, and would make the renaming fail.
        try Self.setAside(damagedIndex, unless: S_IFREG)
        guard rename(index, damagedIndex) == 0 else { throw .failedCall(index, "is damaged, and cannot be renamed") }
    }

    /// Removes the index that was set aside, if any.
    func removeDamagedIndex() { unlink(damagedIndex) }

    // MARK: Bodies

    func body(_ id: StoredResponse.ID) -> String { bodies + "/" + Self.name(id) }

    func unfinishedBody(_ id: StoredResponse.ID) -> String { body(id) + Self.unfinished }

    /// The entries with a file, finished or not. Other file names do not belong to the cache.
    func bodyFiles() -> Set<StoredResponse.ID> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: bodies)) ?? []
        return Set(names.compactMap(Self.id))
    }

    /// Removes the oldest bodies until their files have freed this many bytes. This is for an index that cannot be
    /// opened because the disk is full: only the index knows the least recently used entries.
    ///
    /// - Returns: The entries whose files are removed.
    func removeOldestBodies(of size: Int64) -> [StoredResponse.ID] {
        let files = bodyFiles().flatMap { id in [unfinishedBody(id), body(id)].map { (id: id, path: $0) } }
        let found = files.compactMap { file in
            LockedFile.isAbandoned(file.path) ? Self.status(of: file.path).map { (file: file, status: $0) } : nil
        }
        var (freed, removed): (Int64, [StoredResponse.ID]) = (0, [])
        for (file, status) in found.sorted(by: { $0.status.modified < $1.status.modified }) where freed < size {
            guard unlink(file.path) == 0 else { continue }
            freed += status.space
            removed.append(file.id)
        }
        return removed
    }

    /// The bytes that the index and its log take on the disk.
    var indexSpace: Int64 { [index, log].reduce(0) { $0 + (Self.status(of: $1)?.space ?? 0) } }

    /// Removes the file of a body.
    ///
    /// - Returns: The bytes that it took on the disk; 0 if it does not exist.
    func removeBody(_ id: StoredResponse.ID) -> Int64 {
        let space = Self.status(of: body(id))?.space ?? 0
        return unlink(body(id)) == 0 ? space : 0
    }

    private static func status(of file: String) -> (space: Int64, modified: (seconds: Int, nanoseconds: Int))? {
        var status = stat()
        guard lstat(file, &status) == 0 else { return nil }
        let state = OpenFile.State(status)
        return (Int64(status.st_blocks) * 512, (state.seconds, state.nanoseconds))
    }

    private static let unfinished = ".new"

    private static func name(_ id: StoredResponse.ID) -> String {
        // Not `String(format:)`, because each hit makes a name.
        String(unsafeUninitializedCapacity: 16) { bytes in
            for place in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: id.rawValue >> (60 - 4 * UInt64(place)) & 15)
                bytes[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            }
            return 16
        }
    }

    private static func id(of name: String) -> StoredResponse.ID? {
        let digits = name.hasSuffix(unfinished) ? name.dropLast(unfinished.count) : name[...]
        // SQLite has signed keys, so identifiers have 63 bits.
        guard digits.utf8.count == 16, let number = UInt64(digits, radix: 16), number <= Int64.max else { return nil }
        let id = StoredResponse.ID(rawValue: number)
        return Self.name(id) == digits ? id : nil
    }
}

extension CacheFolder.FileIdentity {
    fileprivate init(_ status: stat) {
        self.init(device: UInt64(truncatingIfNeeded: status.st_dev), node: UInt64(status.st_ino))
    }
}
