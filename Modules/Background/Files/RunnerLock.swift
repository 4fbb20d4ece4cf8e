internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The lock of the process that transfers the tasks of a directory.
///
/// It is a lock of an open file description: the kernel releases it when the process ends, however it ends, and two
/// sessions of one process exclude each other too. The object has the lock until it is released.
final class RunnerLock: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Takes the lock of a file, which is created if it is missing; returns nil if another session has it.
    static func take(_ path: String) throws(BackgroundError) -> RunnerLock? {
        let descriptor = SystemCall.retrying { open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        guard descriptor >= 0 else { throw .failedCall(path, "cannot be opened") }
        let lock = RunnerLock(descriptor)
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        if SystemCall.retrying({ fcntl(descriptor, setLock, &range) }) == 0 { return lock }
        guard errno == EAGAIN || errno == EACCES else { throw .failedCall(path, "cannot be locked") }
        return nil
    }

    #if os(Linux)
    /// `F_OFD_SETLK` of fcntl(2).
    private static let setLock: Int32 = 37
    #else
    private static let setLock = F_SETLK
    #endif
}
