import ExampleSupport
import FoundationEssentials
import LinnetImageSerialization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Shows the program in the terminal: keys and signals become events, and states become frames.
@MainActor
final class TimelineScreen {
    /// How long a lone ESC waits for the rest of a sequence.
    private static let escapeDelay = Duration.milliseconds(50)
    private static let animationInterval = Duration.milliseconds(100)
    /// How often the ages of the posts are shown anew.
    private static let restingInterval = Duration.seconds(5)

    private let program: TimelineProgram
    private var mode: FullScreenMode
    private let input: TerminalInput
    private let renderer: TimelineRenderer
    private var writer: ScreenWriter
    private var parser = KeyParser()
    private var escapeTimer: Task<Void, Never>?
    private var ticker: Task<Void, Never>?
    private var isTickerFast = false
    /// The number of the last picture that the terminal has, by the protocol of kitty.
    private var sentPicture = 0

    /// Takes the terminal; nil if the process has none.
    init?(_ program: TimelineProgram) {
        guard let input = TerminalInput() else { return nil }
        guard let mode = FullScreenMode() else {
            input.end()
            return nil
        }
        let depth = ColorDepth(environment: ProcessInfo.processInfo.environment)
        (self.program, self.input, self.mode) = (program, input, mode)
        renderer = TimelineRenderer(depth: depth)
        writer = ScreenWriter(depth: depth)
    }

    /// Runs until the user or a signal ends the program, restores the terminal, and returns the exit code.
    func run() async -> Int32 {
        program.onChange = { [weak self] in self?.show($0) }
        if writer.depth == .trueColor { write(KittyGraphics.query) }
        tick(isFast: false)
        program.send(.started)
        for await event in input.events {
            handle(event)
            if program.state.exitCode != nil { break }
        }
        program.onChange = nil
        ticker?.cancel()
        escapeTimer?.cancel()
        if sentPicture > 0 { write(KittyGraphics.removeAll) }
        mode.end()
        input.end()
        return program.state.exitCode ?? 0
    }

    private func handle(_ event: TerminalEvent) {
        switch event {
        case .bytes(let bytes):
            escapeTimer?.cancel()
            press(parser.keys(bytes))
            if parser.isWaiting { waitForSequence() }
        case .closed: program.send(.ended(128 + SIGHUP))
        case .signal(SIGWINCH): redraw()
        case .signal(SIGTSTP):
            mode.end()
            kill(getpid(), SIGSTOP)
        case .signal(SIGCONT):
            mode.resume()
            sentPicture = 0
            redraw()
        case .signal(let number): program.send(.ended(128 + number))
        }
    }

    private func press(_ keys: [Key]) {
        for key in keys { program.send(.key(key)) }
    }

    private func waitForSequence() {
        escapeTimer = Task { [weak self] in
            guard (try? await Task.sleep(for: Self.escapeDelay)) != nil, let self else { return }
            press(parser.finish())
        }
    }

    private func redraw() {
        writer.invalidate()
        program.send(.resized(Terminal.size))
    }

    private func show(_ state: TimelineState) {
        if state.usesKitty { sendPictures(state) }
        write(writer.sequences(for: renderer.frame(state)))
        if state.isAnimated != isTickerFast { tick(isFast: state.isAnimated) }
    }

    private func sendPictures(_ state: TimelineState) {
        guard state.lastAvatar > sentPicture else { return }
        for avatar in state.avatars.values.sorted(by: { $0.number < $1.number }) where avatar.number > sentPicture {
            guard let png = try? avatar.picture.pngData() else { continue }
            write(
                KittyGraphics.transmission(
                    png, id: avatar.number, columns: TimelineLayout.avatarColumns, rows: TimelineLayout.avatarRows))
        }
        sentPicture = state.lastAvatar
    }

    /// Lets time pass: often while something moves, and rarely otherwise.
    private func tick(isFast: Bool) {
        isTickerFast = isFast
        ticker?.cancel()
        let interval = isFast ? Self.animationInterval : Self.restingInterval
        ticker = Task { [weak program] in
            while (try? await Task.sleep(for: interval)) != nil { program?.send(.tick(Date())) }
        }
    }

    /// A terminal that cannot be written is closed, which its input reports. Between the stop and the continuation of
    /// the program it is the shell's: events that come before the signal to continue write nothing on it.
    private func write(_ text: String) {
        guard !text.isEmpty, mode.isEntered else { return }
        try? StandardStream.output.write(text)
    }
}
