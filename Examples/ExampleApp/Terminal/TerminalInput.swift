import Dispatch
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Input from the terminal and the system for a program that draws the screen.
enum TerminalEvent: Sendable, Hashable {
    case bytes([UInt8])
    /// The terminal was closed.
    case closed
    case signal(Int32)
}

/// Reads standard input and signals on the main queue, from its creation to ``end()``.
@MainActor
final class TerminalInput {
    /// SIGWINCH: the size has changed. SIGTSTP and SIGCONT: the user stops and continues the program. The others end
    /// it.
    static let signals = [SIGWINCH, SIGTSTP, SIGCONT, SIGINT, SIGQUIT, SIGTERM, SIGHUP]

    let events: AsyncStream<TerminalEvent>
    private let continuation: AsyncStream<TerminalEvent>.Continuation
    private let sources: [any DispatchSourceRead]
    private let pipe: SignalPipe

    /// Starts to read; nil if the process has no more descriptors.
    init?() {
        guard let pipe = SignalPipe(Self.signals) else { return nil }
        self.pipe = pipe
        let (events, continuation) = AsyncStream.makeStream(of: TerminalEvent.self)
        (self.events, self.continuation) = (events, continuation)
        sources = [
            DescriptorReading.start(STDIN_FILENO) { continuation.yield($0.isEmpty ? .closed : .bytes($0)) },
            DescriptorReading.start(pipe.readEnd) { numbers in
                for number in numbers { continuation.yield(.signal(Int32(number))) }
            },
        ]
    }

    /// Ends the sequence of events, and gives the signals their default effects.
    func end() {
        for source in sources { source.cancel() }
        pipe.close()
        continuation.finish()
    }
}
