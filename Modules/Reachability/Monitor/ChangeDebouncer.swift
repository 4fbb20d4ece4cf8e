/// Combines a burst of changes into one deadline for reading the network state again.
///
/// A pure state machine: the current time is a parameter.
struct ChangeDebouncer: Sendable {
    private let quietTime: Duration
    /// The time to read the state again; nil if nothing has changed since the last read.
    private(set) var deadline: ContinuousClock.Instant?
    private var limit: ContinuousClock.Instant?

    /// - Parameter quietTime: The time without a change after which a burst is over. A burst lasts at most ten times as
    ///   long.
    init(quietTime: Duration) {
        self.quietTime = min(max(quietTime, .zero), Self.longestQuietTime)
    }

    mutating func noticeChange(at now: ContinuousClock.Instant) {
        let limit = limit ?? now.advanced(by: quietTime * 10)
        self.limit = limit
        deadline = min(now.advanced(by: quietTime), limit)
    }

    /// Ends the burst now.
    mutating func expire(at now: ContinuousClock.Instant) {
        deadline = now
        limit = now
    }

    /// Returns whether the deadline has passed, and resets it if so.
    mutating func takeDeadline(at now: ContinuousClock.Instant) -> Bool {
        guard let deadline, deadline <= now else { return false }
        self.deadline = nil
        limit = nil
        return true
    }

    private static let longestQuietTime = Duration.seconds(3600)
}

/// A timeout for `poll`.
enum PollTimeout {
    /// The time until a deadline in milliseconds, rounded up; -1 when there is no deadline.
    static func until(_ deadline: ContinuousClock.Instant?, at now: ContinuousClock.Instant) -> Int32 {
        guard let deadline else { return -1 }
        let (seconds, attoseconds) = now.duration(to: deadline).components
        guard seconds >= 0, attoseconds > 0 || seconds > 0 else { return 0 }
        let milliseconds = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: min(seconds, 1_000_000) * 1000 + milliseconds)
    }
}
