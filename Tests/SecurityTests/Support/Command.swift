import FoundationEssentials
import Glibc

/// Another program, run to its end.
enum Command {
    struct Result {
        var status: Int32
        /// What it wrote to its standard output.
        var output: Data

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    struct CannotStart: Error {
        var command: [String]
        var code: Int32
    }

    /// Runs a program with nothing on its standard input.
    static func run(_ command: String...) throws -> Result { try run(command) }

    static func run(_ command: [String]) throws -> Result {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw CannotStart(command: command, code: errno)
        }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var process = pid_t()
        let code = posix_spawnp(&process, command[0], &actions, nil, &arguments, environ)
        close(ends[1])
        guard code == 0 else { throw CannotStart(command: command, code: code) }
        let output = readAll(ends[0])
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return Result(status: status, output: output)
    }

    private static func readAll(_ descriptor: Int32) -> Data {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
        }
    }
}
