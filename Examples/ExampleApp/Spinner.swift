/// An animation on a line of the terminal.
@MainActor
final class Spinner {
    private static let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
    private static let eraseLine = "\r\u{1B}[K"

    private let label: String
    private let clock: any Clock<Duration>
    private let write: @MainActor (String) -> Void
    private var turning: Task<Void, Never>?

    /// Creates a hidden spinner.
    init(
        _ label: String, clock: any Clock<Duration> = ContinuousClock(), write: @escaping @MainActor (String) -> Void
    ) {
        self.label = label
        self.clock = clock
        self.write = write
    }

    /// Whether the spinner is shown.
    var isShown: Bool { turning != nil }

    /// Shows the spinner. It has no effect while the spinner is shown.
    func show() {
        guard turning == nil else { return }
        draw(0)
        turning = Task { [clock] in
            for frame in 1... {
                guard (try? await clock.sleep(for: .milliseconds(80))) != nil, !Task.isCancelled else { return }
                draw(frame)
            }
        }
    }

    /// Erases the spinner. It has no effect while the spinner is hidden.
    func hide() {
        guard let turning else { return }
        turning.cancel()
        self.turning = nil
        write(Self.eraseLine)
    }

    private func draw(_ frame: Int) {
        write("\(Self.eraseLine)\(Self.frames[frame % Self.frames.count]) \(label)")
    }
}
