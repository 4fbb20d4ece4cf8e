internal import Synchronization

/// The state that a download shares with its handle: the treatment of its part, and whether it resumed.
final class DownloadLink: Sendable {
    /// The treatment of the part when the download ends early.
    enum Ending: Sendable {
        /// The download's options apply.
        case asOptionsSay
        case discard
        case keep
    }

    private struct State {
        var ending = Ending.asOptionsSay
        var resumption: DownloadOptions.Resumption?
        var pace: Pace?
    }

    /// Waits after this number of bytes was written, before more are read.
    typealias Pace = @Sendable (_ bytes: Int) async -> Void

    private let state = Mutex(State())

    var ending: Ending { state.withLock { $0.ending } }
    var resumption: DownloadOptions.Resumption? { state.withLock { $0.resumption } }

    var pace: Pace? {
        get { state.withLock { $0.pace } }
        set { state.withLock { $0.pace = newValue } }
    }

    /// Only the first call has an effect.
    func setEnding(_ ending: Ending) {
        state.withLock { state in
            if case .asOptionsSay = state.ending { state.ending = ending }
        }
    }

    func setResumption(_ resumption: DownloadOptions.Resumption) {
        state.withLock { $0.resumption = resumption }
    }
}

extension DownloadOptions {
    /// Whether a download resumed from its part or started over.
    public enum Resumption: Sendable, Hashable {
        /// The server sent the rest of the entity, which was appended at this offset.
        case resumed(at: Int64)
        /// The server sent the whole entity, and the part was discarded.
        case startedOver(Reason)

        /// The reason that a download started over.
        public struct Reason: Sendable, Hashable, CustomStringConvertible {
            /// The reason's name.
            public let description: String

            private init(_ description: String) { self.description = description }

            /// The entity has changed, or the server sent a range without confirming the version (RFC 9110, section
            /// 15.3.7.3).
            public static let entityChanged = Reason("entityChanged")
            /// The entity has not changed as far as its validators show, but the server does not support ranges.
            public static let rangesIgnored = Reason("rangesIgnored")
            /// The entity ends before the requested range (416), which shows that it has changed.
            public static let rangeNotSatisfiable = Reason("rangeNotSatisfiable")
            /// Neither the first response nor the response with the range declared the length of the entity, so the
            /// range may end before it (RFC 9110, section 15.3.7).
            public static let lengthUnknown = Reason("lengthUnknown")
        }
    }
}
