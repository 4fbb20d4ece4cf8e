/// The number of requests that an origin may have at once: a state machine without a clock and without waiters.
///
/// The limit grows by one when as many requests as it allows have succeeded, and shrinks by a factor when one shows an
/// overload (additive increase, multiplicative decrease).
struct ConcurrencyMachine {
    /// Identifies the time since the last decrease. The requests of an earlier round met the overload that caused the
    /// decrease, and do not cause another one.
    typealias Round = UInt64

    enum Outcome { case success, overload, unknown }

    let settings: ConcurrencyLimiter.Configuration
    private(set) var running = 0
    /// The limit. It grows by fractions.
    private var exact: Double
    /// The highest number of requests that ran since the last change of the limit.
    private var peak = 0
    private var round: Round = 0

    init(_ settings: ConcurrencyLimiter.Configuration) {
        self.settings = settings
        exact = Double(settings.initialLimit)
    }

    /// The highest limit can be a number that `Double` rounds up, beyond all integers.
    var limit: Int { exact < Double(settings.maximumLimit) ? Int(exact) : settings.maximumLimit }

    /// Whether nothing is known that a new machine would not know.
    var isIdle: Bool { running == 0 && exact == Double(settings.initialLimit) }

    /// Begins a request, or returns nil if it must wait.
    mutating func begin() -> Round? {
        guard running < limit else { return nil }
        running += 1
        peak = max(peak, running)
        return round
    }

    mutating func end(_ outcome: Outcome, of round: Round) {
        running -= 1
        switch outcome {
        case .unknown: break
        case .success:
            // Without half of the limit in use, nothing is known about what the origin could serve beyond it.
            if peak * 2 > limit { change(to: min(exact + 1 / exact, Double(settings.maximumLimit))) }
        case .overload:
            guard round == self.round else { return }
            change(to: max(exact * settings.decreaseFactor, Double(settings.minimumLimit)))
            self.round += 1
        }
    }

    private mutating func change(to new: Double) {
        let old = limit
        exact = new
        if limit != old { peak = running }
    }
}
