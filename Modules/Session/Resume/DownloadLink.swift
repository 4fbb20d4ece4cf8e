internal import Synchronization

/// The state that a download shares with its handle: what happens to its part, and whether it resumed.
final class DownloadLink: Sendable {
    /// What happens to the part when the download ends early.
    enum Ending: Sendable {
        /// The download's options apply.
        case asOptionsSay
        case discard
        case keep
    }

    private struct State {
        var ending = Ending.asOptionsSay
        var resumption: DownloadResumption?
    }

    private let state = Mutex(State())

    var ending: Ending { state.withLock { $0.ending } }
    var resumption: DownloadResumption? { state.withLock { $0.resumption } }

    /// Only the first call has an effect.
    func setEnding(_ ending: Ending) {
        state.withLock { state in
            if case .asOptionsSay = state.ending { state.ending = ending }
        }
    }

    func setResumption(_ resumption: DownloadResumption) {
        state.withLock { $0.resumption = resumption }
    }
}
