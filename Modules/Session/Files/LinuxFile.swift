#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// System calls of Linux that Swift does not import. Where a system lacks them, they do nothing.
enum LinuxFile {
    private typealias Allocate = @convention(c) @Sendable (Int32, Int32, off_t, off_t) -> Int32
    private typealias SynchronizeRange = @convention(c) @Sendable (Int32, off_t, off_t, UInt32) -> Int32

    private static let allocate = find("fallocate", as: Allocate.self)
    private static let synchronizeRange = find("sync_file_range", as: SynchronizeRange.self)

    /// `FALLOC_FL_KEEP_SIZE` of fallocate(2).
    private static let keepSize: Int32 = 1
    /// `SYNC_FILE_RANGE_WAIT_BEFORE`, `_WRITE` and `_WAIT_AFTER` of sync_file_range(2).
    private static let (waitBefore, write, waitAfter): (UInt32, UInt32, UInt32) = (1, 2, 4)

    /// Reserves room for bytes after the end of a file, whose size stays as it is.
    ///
    /// - Returns: 0, the error number, or `ENOSYS` if the system has no such call.
    static func reserve(_ descriptor: Int32, _ range: Range<Int64>) -> Int32 {
        guard let allocate else { return ENOSYS }
        while allocate(descriptor, keepSize, off_t(range.lowerBound), off_t(range.count)) != 0 {
            if errno != EINTR { return errno }
        }
        return 0
    }

    /// Writes the bytes of a range to the disk, if they are not there. This is no promise: the file's size and its
    /// blocks need `fsync`, which has less to do then.
    ///
    /// - Parameter waiting: Whether to wait until they are written.
    static func writeBack(_ descriptor: Int32, _ range: Range<Int64>, waiting: Bool) {
        guard let synchronizeRange else { return }
        let flags = waiting ? waitBefore | write | waitAfter : write
        _ = synchronizeRange(descriptor, off_t(range.lowerBound), off_t(range.count), flags)
    }

    private static func find<Function>(_ name: String, as type: Function.Type) -> Function? {
        dlsym(nil, name).map { unsafeBitCast($0, to: type) }
    }
}
