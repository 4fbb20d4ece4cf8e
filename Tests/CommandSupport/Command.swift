internal import Dispatch
public import FoundationEssentials

#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// The result of running another program, for tests that compare with it.
///
/// Foundation's `Process` reads past the end of a directory's entries when the process has many open descriptors, for
/// example hundreds of servers.
public struct Command: Sendable {
    /// The exit code, or 128 plus the number of the signal.
    public let status: Int32
    /// The standard output.
    public let output: Data
    /// The standard error.
    public let errors: String

    /// The output as UTF-8.
    public var text: String { String(decoding: output, as: UTF8.self) }

    /// A program that could not be started.
    public struct CannotStart: Error {
        /// The program and its arguments.
        public let command: [String]
        /// The system's error number.
        public let code: Int32
    }

    /// Runs a program, blocking the thread.
    public static func run(_ command: [String], input: String = "") throws -> Command {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "linnet-command-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let files = ["in", "out", "err"].map { scratch.appending(path: $0).path }
        try Data(input.utf8).write(to: URL(filePath: files[0]))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, files[0], O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, files[1], O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, files[2], O_WRONLY | O_CREAT, 0o600)
        // The threads of Dispatch block most signals, and a program inherits that: a server would not notice its
        // children's end.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var process = pid_t()
        let code = posix_spawnp(&process, command[0], &actions, &attributes, &arguments, environ)
        guard code == 0 else { throw CannotStart(command: command, code: code) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return Command(
            status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal,
            output: try Data(contentsOf: URL(filePath: files[1])),
            errors: String(decoding: try Data(contentsOf: URL(filePath: files[2])), as: UTF8.self))
    }

    /// Runs a program without blocking the thread.
    public static func run(_ command: [String], input: String = "") async throws -> Command {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try run(command, input: input) })
            }
        }
    }
}
