import CSoak
import Glibc

/// A process with pipes, without the threads and run loops of `Foundation.Process`, whose memory would be measured.
package struct Spawn: Sendable {
    private let pid: pid_t
    /// Writes to its standard input.
    private let input: Int32
    /// Reads its standard output.
    private let output: Int32

    package init(_ arguments: [String]) throws {
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var (pid, input, output) = (pid_t(), Int32(), Int32())
        let error = spawn_with_pipes(&words, &pid, &input, &output)
        guard error == 0 else { throw Failure("\(arguments[0]) cannot be started: error \(error)") }
        (self.pid, self.input, self.output) = (pid, input, output)
    }

    /// Reads a line of its output, which blocks.
    package func readLine() throws -> String {
        var line: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            let count = read(output, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { throw Failure("The process ended before its first line.") }
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
    }

    package func write(_ line: String) {
        _ = (line + "\n").utf8CString.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count - 1) }
    }

    /// Ends the process with a signal, waits for it, and returns its status.
    @discardableResult
    package func end(_ signal: Int32 = SIGKILL) -> Int32 {
        kill(pid, signal)
        return wait()
    }

    package func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        close(input)
        close(output)
        return status
    }

    /// Runs a command to its end. Returns whether it succeeded.
    package static func run(_ line: String) -> Bool {
        guard let process = try? Spawn(["sh", "-c", line + " >/dev/null 2>&1"]) else { return false }
        return process.wait() == 0
    }
}
