#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The terminal of the process.
enum Terminal {
    /// Whether the standard streams are a terminal in which a spinner can be drawn.
    static var isInteractive: Bool {
        let term = getenv("TERM").map { String(cString: $0) }
        return [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].allSatisfy { isatty($0) == 1 } && term != "dumb"
    }
}
