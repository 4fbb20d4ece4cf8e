import Glibc

/// Runs another program and waits for its end.
enum Command {
    struct Failure: Error {
        var command: [String]
        var status: Int32
        var output: String
    }

    /// What the program wrote to both of its outputs; throws unless it ended with 0.
    @discardableResult
    static func run(_ command: [String]) throws -> String {
        var numbers: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &numbers) == 0 else {
            throw Failure(command: command, status: errno, output: "no sockets")
        }
        defer { close(numbers[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, numbers[1], 1)
        posix_spawn_file_actions_adddup2(&actions, numbers[1], 2)
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var process = pid_t()
        let code = posix_spawnp(&process, command[0], &actions, nil, &arguments, environ)
        close(numbers[1])
        guard code == 0 else { throw Failure(command: command, status: code, output: "not started") }

        let output = readAll(numbers[0])
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw Failure(command: command, status: status, output: output) }
        return output
    }

    private static func readAll(_ descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}
