public import FoundationEssentials

#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// A small file system in memory, for tests of a full disk.
public enum SmallDisk {
    /// Whether this process is allowed to mount a file system.
    public static let isPossible: Bool = {
        guard geteuid() == 0 else { return false }
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-disk-\(UUID().uuidString)")
        guard mkdir(folder.path, 0o700) == 0 else { return false }
        defer { rmdir(folder.path) }
        return (try? mount(at: folder)) != nil && (try? unmount(folder)) != nil
    }()

    /// A file system that could not be mounted or unmounted.
    public struct Failure: Error {
        /// The output of the program.
        public let message: String
    }

    /// Mounts a file system of 1 MiB, or changes the options of the mounted one.
    public static func mount(at folder: URL, options: String = "size=1m,mode=0700") throws {
        try run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder.path])
    }

    /// Unmounts it at once for new users, and wholly when the last open file is closed.
    public static func unmount(_ folder: URL) throws { try run(["umount", "-l", folder.path]) }

    private static func run(_ words: [String]) throws {
        let command = try Command.run(words)
        guard command.status == 0 else { throw Failure(message: command.errors) }
    }
}

/// Limits the size of the files that this process writes, and ignores the signal, so that writing fails with EFBIG.
///
/// - Returns: Whether the system accepted the limit.
public func limitFileSize(_ bytes: UInt) -> Bool {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
    #if canImport(Glibc)
    return setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0
    #else
    return setrlimit(RLIMIT_FSIZE, &limit) == 0
    #endif
}
