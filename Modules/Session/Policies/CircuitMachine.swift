/// The circuit of one origin: a state machine without a clock. Times are durations since any fixed moment.
struct CircuitMachine: OriginMachine {
    /// Identifies the phase in which a request was admitted. The outcome of a request from an earlier phase says
    /// nothing about the origin now, and is ignored.
    typealias Phase = UInt64

    enum Admission: Equatable {
        case admitted(Phase)
        /// The request is refused, and another one will be admitted after this time at the earliest.
        case refused(Duration)
    }

    enum Outcome { case success, failure, unknown }

    let settings: CircuitBreaker.Configuration
    private(set) var state = CircuitBreaker.State.closed
    private var phase: Phase = 0
    private var counts = RecentCounts()
    /// The time of the opening or, if half open, of the last probe's beginning.
    private var start = Duration.zero
    /// The phase of the first probe since the circuit was last open.
    private var firstProbe: Phase = 0

    init(_ settings: CircuitBreaker.Configuration) { self.settings = settings }

    func isIdle(at now: Duration) -> Bool { state == .closed && counts.sums(at: now.components.seconds).all == 0 }

    /// No host in the URLs of others makes the breaker forget that an origin fails.
    var importance: OriginImportance { state == .closed ? .known : .notable }

    mutating func admit(at now: Duration) -> Admission {
        guard state != .closed else { return .admitted(phase) }
        // Half open, the probe can have vanished without an outcome: its task was abandoned at its deadline.
        let left = settings.openDuration - (now - start)
        guard left <= .zero else { return .refused(left) }
        let isFirst = state == .open
        change(to: .halfOpen, at: now)
        if isFirst { firstProbe = phase }
        return .admitted(phase)
    }

    mutating func record(_ outcome: Outcome, of phase: Phase, at now: Duration) {
        // A probe that was replaced was slow, and no sign of a failure; its success is one of the origin all the same.
        // Otherwise an origin that answers more slowly than probes are sent would never be let in again.
        let isLateSuccess = state == .halfOpen && outcome == .success && phase >= firstProbe
        guard phase == self.phase || isLateSuccess else { return }
        switch (state, outcome) {
        case (.closed, .unknown), (.open, _): break
        case (.closed, .success): counts.add(all: 1, at: now.components.seconds)
        case (.closed, .failure):
            counts.add(all: 1, some: 1, at: now.components.seconds)
            let (all, failures) = counts.sums(at: now.components.seconds)
            guard all >= settings.minimumRequests, Double(failures) >= Double(all) * settings.failureShare else {
                return
            }
            change(to: .open, at: now)
        case (.halfOpen, .success): change(to: .closed, at: now)
        case (.halfOpen, .failure): change(to: .open, at: now)
        case (.halfOpen, .unknown):
            // The probe was cancelled, so the next request is one.
            change(to: .open, at: now - settings.openDuration)
        }
    }

    private mutating func change(to state: CircuitBreaker.State, at now: Duration) {
        self.state = state
        start = now
        phase += 1
        counts = RecentCounts()
    }
}
