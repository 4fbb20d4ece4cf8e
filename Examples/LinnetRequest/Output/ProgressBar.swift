import ExampleSupport

/// The line that shows how far a transfer is. It appears after half a second.
struct ProgressBar {
    private static let delay = Duration.milliseconds(500)
    private static let interval = Duration.milliseconds(100)

    /// The text that removes the line.
    static let erasure = "\r\u{1B}[K"

    private let start: ContinuousClock.Instant
    private var last: ContinuousClock.Instant?

    /// Whether the line is on the screen.
    var isShown: Bool { last != nil }

    init(start: ContinuousClock.Instant) { self.start = start }

    /// Returns the line that replaces the last one; nil if it is too early for one.
    mutating func draw(_ completed: Int64, of total: Int64?, at now: ContinuousClock.Instant) -> String? {
        guard now - start >= Self.delay else { return nil }
        if let last, now - last < Self.interval { return nil }
        last = now
        return Self.erasure + line(completed, of: total, at: now)
    }

    private func line(_ completed: Int64, of total: Int64?, at now: ContinuousClock.Instant) -> String {
        let speed = Double(completed) / max((now - start) / .seconds(1), 0.001)
        let rate = "\(ByteCount.text(Int64(speed)))/s"
        guard let total, total > 0 else { return "\(ByteCount.text(completed)), \(rate)" }
        let share = min(1, Double(completed) / Double(total))
        let left = speed > 0 ? ", \(Int(Double(max(0, total - completed)) / speed)) s left" : ""
        return
            "\(TextBar.text(share)) \(Int(share * 100)) %, \(ByteCount.text(completed)) of \(ByteCount.text(total)), \(rate)\(left)"
    }
}
