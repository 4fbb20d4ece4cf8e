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
}
