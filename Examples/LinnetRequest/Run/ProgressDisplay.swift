import ExampleSupport
import Synchronization

/// Draws the progress of a request on standard error, if that is a terminal.
final class ProgressDisplay: Sendable {
    private let bar = Mutex<ProgressBar?>(nil)

    init() {
        if StandardStream.error.isTerminal { bar.withLock { $0 = ProgressBar(start: .now) } }
    }

    func update(_ completed: Int64, of total: Int64?) {
        let line = bar.withLock { $0?.draw(completed, of: total, at: .now) }
        if let line { try? StandardStream.error.write(line) }
    }

    /// Removes the line for good.
    func end() {
        let isShown = bar.withLock { bar in
            defer { bar = nil }
            return bar?.isShown == true
        }
        if isShown { try? StandardStream.error.write(ProgressBar.erasure) }
    }
}
