internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The lock of the session that transfers the tasks of a directory.
///
/// It is a lock of an open file description: the kernel releases it when the process ends, however it ends, and two
/// sessions of one process exclude each other too. The object has the lock until it is released.
///
/// The holder also keeps a pipe of the directory open for writing. Other sessions have it open for reading, and `poll`
/// tells them that the last writer has gone: they wait for the lock without a thread that is blocked in it, and can
/// stop waiting.
final class RunnerLock: Sendable {
    private let lock: Int32
    private let gate: Int32

    private init(lock: Int32, gate: Int32) {
        self.lock = lock
        self.gate = gate
    }

    deinit {
        // The lock goes first: the sessions that wait try to take it when the pipe has no writer.
        close(lock)
        close(gate)
    }

    /// Takes the lock of a directory; returns nil if another session has it.
    static func take(_ folder: BackgroundFolder) throws(BackgroundError) -> RunnerLock? {
        let lock = SystemCall.retrying { open(folder.lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        guard lock >= 0 else { throw .failedCall(folder.lock, "cannot be opened") }
        let gate: Int32
        do {
            // Before the lock is taken: a session that finds the lock taken then finds a writer of the pipe.
            gate = try Gate.openForWriting(folder)
        } catch {
            close(lock)
            throw error
        }
        let both = RunnerLock(lock: lock, gate: gate)
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        if SystemCall.retrying({ fcntl(lock, setLock, &range) }) == 0 { return both }
        guard errno == EAGAIN || errno == EACCES else { throw .failedCall(folder.lock, "cannot be locked") }
        return nil
    }

    /// Whether a session has the lock of a directory.
    static func isTaken(_ folder: BackgroundFolder) -> Bool {
        let lock = SystemCall.retrying { open(folder.lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW) }
        guard lock >= 0 else { return false }
        defer { close(lock) }
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        return SystemCall.retrying({ fcntl(lock, getLock, &range) }) == 0 && range.l_type != Int16(F_UNLCK)
    }

    #if os(Linux)
    /// `F_OFD_GETLK` of fcntl(2).
    private static let getLock: Int32 = 36
    /// `F_OFD_SETLK` of fcntl(2).
    private static let setLock: Int32 = 37
    #else
    private static let getLock = F_GETLK
    private static let setLock = F_SETLK
    #endif
}

/// The pipe of a directory whose writers are the session that transfers, and for a moment those that try to.
enum Gate {
    static func make(_ folder: BackgroundFolder) throws(BackgroundError) {
        guard mkfifo(folder.gate, 0o600) == 0 || errno == EEXIST else {
            throw .failedCall(folder.gate, "cannot be created")
        }
    }

    /// Opens the pipe for writing; it needs no reader.
    static func openForWriting(_ folder: BackgroundFolder) throws(BackgroundError) -> Int32 {
        // With O_WRONLY, a pipe that no process reads cannot be opened without blocking (ENXIO).
        try open(folder, O_RDWR)
    }

    static func openForReading(_ folder: BackgroundFolder) throws(BackgroundError) -> Int32 {
        try open(folder, O_RDONLY)
    }

    private static func open(_ folder: BackgroundFolder, _ access: Int32) throws(BackgroundError) -> Int32 {
        let descriptor = SystemCall.retrying { openFile(folder.gate, access | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW) }
        guard descriptor >= 0 else { throw .failedCall(folder.gate, "cannot be opened") }
        // Another kind of file would never tell that its writers have gone.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
            close(descriptor)
            throw .failedCall(folder.gate, "is not a pipe", EINVAL)
        }
        return descriptor
    }
}

private func openFile(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }
