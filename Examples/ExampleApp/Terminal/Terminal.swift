import Dispatch
import ExampleSupport
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The size of a terminal, in columns and rows.
struct TerminalSize: Hashable, Sendable {
    var width: Int
    var height: Int
}

/// The terminal of the process while a program draws its whole screen: the alternate screen without a cursor, and keys
/// that arrive at once and are not echoed. Keys that send signals, such as Ctrl-C, still do.
@MainActor
final class Terminal {
    /// The news of the terminal and of the system.
    enum Event: Sendable {
        case keys([String])
        case signal(Int32)
        /// The terminal was closed.
        case closed
    }

    /// SIGWINCH: the size has changed. SIGTSTP and SIGCONT: the user stops and continues the program. The others end
    /// it.
    private static let signals = [SIGWINCH, SIGTSTP, SIGCONT, SIGINT, SIGQUIT, SIGTERM, SIGHUP]

    /// The events, until ``end()``.
    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let original: termios
    private var sources: [any DispatchSourceProtocol] = []
    /// Whether the screen is the program's. Otherwise it belongs to another program, for example the shell.
    private var isEntered = false

    /// Takes the terminal; nil if standard input is none.
    init?() {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        original = settings
        (events, continuation) = AsyncStream.makeStream(of: Event.self)
        let signals = Signals.start(Self.signals) { [continuation] in continuation.yield(.signal($0)) }
        sources = signals + [startReading()]
        enter()
    }

    /// Takes the screen, also after ``leave()``.
    func enter() {
        var settings = original
        cfmakeraw(&settings)
        settings.c_lflag |= tcflag_t(ISIG)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        // Entering the alternate screen twice would replace the shell's saved cursor by its own.
        let screen = isEntered ? "" : "\u{1B}[?1049h"
        isEntered = true
        // No cursor, no line wrapping.
        write(screen + "\u{1B}[?25l\u{1B}[?7l")
    }

    /// Restores the terminal, and discards keys that were not read.
    func leave() {
        write("\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        isEntered = false
        var settings = original
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }

    /// Leaves the terminal, and gives the signals their default effects.
    func end() {
        leave()
        for source in sources { source.cancel() }
        continuation.finish()
    }

    /// Writes on the program's screen. A terminal that cannot be written is closed, which its events report.
    func write(_ text: String) {
        guard isEntered else { return }
        try? StandardStream.output.write(text)
    }

    private func startReading() -> any DispatchSourceProtocol {
        let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .main)
        source.setEventHandler { @Sendable [continuation] in
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            if count > 0 {
                continuation.yield(.keys(Keys.names(in: String(decoding: bytes.prefix(count), as: UTF8.self))))
            } else if count == 0 || errno != EINTR && errno != EAGAIN {
                continuation.yield(.closed)
            }
        }
        source.activate()
        return source
    }
}

extension Terminal {
    /// Whether the standard streams are a terminal in which a screen can be drawn.
    nonisolated static var isInteractive: Bool {
        [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].allSatisfy { isatty($0) == 1 }
            && !["", "dumb"].contains(ProcessInfo.processInfo.environment["TERM"] ?? "")
    }

    /// The current size: 80 x 24 if the terminal states none.
    nonisolated static var size: TerminalSize {
        var size = winsize()
        let isStated = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        return TerminalSize(width: isStated ? Int(size.ws_col) : 80, height: isStated ? Int(size.ws_row) : 24)
    }
}
