#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The terminal, if there is one.
enum Terminal {
    /// Whether a person sees what is written, and a spinner can be drawn.
    static var isInteractive: Bool {
        let term = getenv("TERM").map { String(cString: $0) }
        return [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].allSatisfy { isatty($0) == 1 } && term != "dumb"
    }

    /// Writes to standard error at once.
    static func writeError(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(0, written))
        }
    }
}
