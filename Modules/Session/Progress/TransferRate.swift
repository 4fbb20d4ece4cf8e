/// Measures the throughput over the last three seconds at most, with a sample every tenth of a second.
struct TransferRate {
    private static let window: Duration = .seconds(3)
    private static let step: Duration = .milliseconds(100)
    /// The minimum time for a meaningful measurement.
    private static let shortest: Duration = .milliseconds(200)

    private var samples: [(time: ContinuousClock.Instant, completed: Int64)] = []

    /// Records the total number of bytes transferred so far.
    mutating func note(_ completed: Int64, at now: ContinuousClock.Instant) {
        guard let last = samples.last else {
            samples = [(now, completed)]
            return
        }
        // Samples within one step replace the newest; the oldest is the start of the measurement.
        if samples.count > 1, let before = samples.dropLast().last, now - before.time < Self.step {
            samples[samples.count - 1] = (now, completed)
        } else if last.completed != completed || last.time != now {
            samples.append((now, completed))
        }
        let start = now - Self.window
        while samples.count > 2, samples[1].time <= start { samples.removeFirst() }
    }

    func bytesPerSecond(at now: ContinuousClock.Instant) -> Double? {
        guard let first = samples.first, let last = samples.last, samples.count > 1 else { return nil }
        let time = now - first.time
        guard time >= Self.shortest else { return nil }
        return Double(last.completed - first.completed) / (time / .seconds(1))
    }

    /// Discards the samples, so that the time until the next one does not count.
    mutating func restart() {
        samples = []
    }
}
