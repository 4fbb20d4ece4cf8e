/// The time of the next probe, and the result of the last one: a pure state machine.
struct ProbeSchedule: Hashable, Sendable {
    /// Whether the last probe succeeded over the current path; nil while that is unknown.
    private(set) var isConfirmed: Bool?
    /// The time to start a probe; nil while one runs or none is needed.
    private(set) var deadline: ContinuousClock.Instant?

    private let interval: Duration
    private var path: ReachabilityPath?
    private var isRunning = false
    /// Whether the path has changed since the running probe began.
    private var isOutdated = false
    private var lastStart: ContinuousClock.Instant?

    init(interval: Duration) { self.interval = min(max(interval, .seconds(1)), .seconds(86_400)) }

    /// Notes the current path. A changed path makes a probe necessary.
    mutating func note(_ path: ReachabilityPath?, at now: ContinuousClock.Instant) {
        guard path != self.path else { return }
        self.path = path
        isConfirmed = nil
        isOutdated = isRunning
        deadline = nil
        if path != nil, !isRunning { schedule(at: now) }
    }

    /// Returns whether a probe must start now.
    mutating func takeDeadline(at now: ContinuousClock.Instant) -> Bool {
        guard let deadline, deadline <= now else { return false }
        self.deadline = nil
        isRunning = true
        isOutdated = false
        lastStart = now
        return true
    }

    /// Takes the result of the running probe. After a failure, another probe follows.
    mutating func finish(_ succeeded: Bool, at now: ContinuousClock.Instant) {
        isRunning = false
        guard path != nil else { return }
        if !isOutdated { isConfirmed = succeeded }
        if isOutdated || !succeeded { schedule(at: now) }
    }

    private mutating func schedule(at now: ContinuousClock.Instant) {
        deadline = max(now, lastStart?.advanced(by: interval) ?? now)
    }
}
