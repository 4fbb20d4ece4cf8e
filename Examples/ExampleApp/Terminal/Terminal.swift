import ExampleSupport
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The terminal of the process.
enum Terminal {
    /// Whether the standard streams are a terminal in which a screen can be drawn.
    static var isInteractive: Bool {
        let term = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].allSatisfy { isatty($0) == 1 }
            && !["", "dumb"].contains(term)
    }

    /// The current size.
    static var size: TerminalSize {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return TerminalSize(columns: 0, rows: 0) }
        return TerminalSize(columns: size.ws_col, rows: size.ws_row)
    }
}

extension TerminalSize {
    /// The largest width and height. A frame has a cell for each place, and a terminal can state 65,535 columns and
    /// rows.
    static let limit = 1_000

    /// The reported size of a terminal: 80 x 24 if it reports none, and at most ``limit`` columns and rows.
    init(columns: UInt16, rows: UInt16) {
        let isStated = columns > 0 && rows > 0
        width = isStated ? min(Int(columns), Self.limit) : 80
        height = isStated ? min(Int(rows), Self.limit) : 24
    }
}

/// The mode in which a program draws the whole screen: the alternate screen without a cursor, and keys that arrive at
/// once and are not echoed. Keys that send signals, such as Ctrl-C, still do.
struct FullScreenMode {
    private static let alternateScreen = "\u{1B}[?1049h"
    /// No cursor, no line wrapping.
    private static let settings = "\u{1B}[?25l\u{1B}[?7l"
    private static let leave = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let original: termios
    /// Whether the alternate screen is the program's. Otherwise the terminal belongs to another program, for example
    /// the shell.
    private(set) var isEntered = false

    /// Enters the mode; nil if standard input is not a terminal.
    init?() {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        original = settings
        guard resume() else { return nil }
    }

    /// Enters the mode again, and returns whether that was possible.
    @discardableResult
    mutating func resume() -> Bool {
        var settings = original
        cfmakeraw(&settings)
        settings.c_lflag |= tcflag_t(ISIG)
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) == 0 else { return false }
        // Entering the alternate screen twice would replace the shell's saved cursor by its own.
        try? StandardStream.output.write((isEntered ? "" : Self.alternateScreen) + Self.settings)
        isEntered = true
        return true
    }

    /// Restores the terminal, and discards keys that were not read.
    mutating func end() {
        isEntered = false
        try? StandardStream.output.write(Self.leave)
        var settings = original
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }
}
