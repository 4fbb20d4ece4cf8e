/// Turns a burst of changes into one moment at which to look: a pure state machine that is told the time.
struct ChangeDebouncer: Sendable {
    private let quietTime: Duration
    /// When to look; nil while nothing has changed.
    private(set) var deadline: ContinuousClock.Instant?
    private var limit: ContinuousClock.Instant?

    /// - Parameter quietTime: how long nothing must change; a burst that does not end is cut after ten times that.
    init(quietTime: Duration) {
        self.quietTime = min(max(quietTime, .zero), Self.longestQuietTime)
    }

    mutating func noticeChange(at now: ContinuousClock.Instant) {
        let limit = limit ?? now.advanced(by: quietTime * 10)
        self.limit = limit
        deadline = min(now.advanced(by: quietTime), limit)
    }

    /// Asks for another look, after one that failed.
    mutating func retry(at now: ContinuousClock.Instant) {
        let moment = now.advanced(by: Self.retryDelay)
        limit = moment
        deadline = moment
    }

    /// Whether it is time to look; then waits for the next change.
    mutating func takeDeadline(at now: ContinuousClock.Instant) -> Bool {
        guard let deadline, deadline <= now else { return false }
        self.deadline = nil
        limit = nil
        return true
    }

    /// The time until the deadline as `poll` wants it: in milliseconds, rounded up, and -1 for none.
    func timeout(at now: ContinuousClock.Instant) -> Int32 {
        guard let deadline else { return -1 }
        let (seconds, attoseconds) = now.duration(to: deadline).components
        guard seconds >= 0, attoseconds > 0 || seconds > 0 else { return 0 }
        let milliseconds = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: min(seconds, 1_000_000) * 1000 + milliseconds)
    }

    private static let retryDelay = Duration.seconds(1)
    private static let longestQuietTime = Duration.seconds(3600)
}
