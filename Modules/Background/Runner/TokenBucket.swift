/// Limits a rate: bytes are taken from a bucket that fills with time, and who takes more than it has waits.
///
/// Bytes are taken after they were transferred, so the bucket can have a debt. Several transfers share a bucket by
/// taking turns in the debt, each waits until its own part is paid.
struct TokenBucket: Sendable {
    /// The time for which unused bytes are saved up.
    private static let burst = 0.25

    /// Bytes a second; nil for no limit.
    private(set) var rate: Double?
    private var available = 0.0
    private var updated: ContinuousClock.Instant

    init(rate: Int64? = nil, at now: ContinuousClock.Instant) {
        updated = now
        setRate(rate, at: now)
    }

    /// Changes the rate; returns whether it is another. A debt is forgiven, since it was made at another rate.
    @discardableResult
    mutating func setRate(_ rate: Int64?, at now: ContinuousClock.Instant) -> Bool {
        let rate = rate.map { Double(max(1, $0)) }
        guard rate != self.rate else { return false }
        self.rate = rate
        available = 0
        updated = now
        return true
    }

    /// Takes bytes; returns the wait after which they are paid for.
    mutating func take(_ bytes: Int, at now: ContinuousClock.Instant) -> Duration {
        guard let rate else { return .zero }
        let elapsed = max(0, (now - updated) / .seconds(1))
        updated = max(updated, now)
        available = min(available + elapsed * rate, rate * Self.burst) - Double(bytes)
        return available < 0 ? .seconds(-available / rate) : .zero
    }
}
