internal import Synchronization

/// A clock that stands still until a test moves it.
///
/// Give it to whatever takes a clock, wait until it sleeps, and advance:
///
/// ```swift
/// let clock = ManualClock()
/// async let attempt: Void = retry(clock: clock)
/// try await clock.waitForSleepers(count: 1)
/// clock.advance(by: .seconds(30))
/// try await attempt
/// ```
///
/// A sleeper wakes when the clock reaches its deadline, earliest deadline first. What a woken task does next happens in
/// its own time: before advancing again, wait for the sleep that it is to begin.
public final class ManualClock: Clock, Sendable {
    /// A point in time, counted from when the clock was made.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public var offset: Duration

        /// Makes an instant.
        public init(offset: Duration = .zero) { self.offset = offset }

        /// The instant that lies this much later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// How much later the other instant lies.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether one instant lies before another.
        public static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
    }

    private let machine = Mutex(ManualClockMachine())

    /// Makes a clock that stands at an offset of zero.
    public init() {}

    /// The time it is.
    public var now: Instant { machine.withLock { $0.now } }

    /// The clock has no smallest step.
    public var minimumResolution: Duration { .zero }

    /// How many tasks sleep now.
    public var sleepers: Int { machine.withLock { $0.sleepers.count } }

    /// When the next sleeper wakes; nil when nobody sleeps.
    public var nextDeadline: Instant? { machine.withLock { $0.sleepers.first?.deadline } }

    /// Moves the clock on, and wakes whose deadline it reaches.
    ///
    /// A negative duration does nothing.
    public func advance(by duration: Duration) {
        perform(machine.withLock { $0.advance(to: $0.now.advanced(by: duration)) })
    }

    /// Moves the clock on to an instant, and wakes whose deadline it reaches.
    ///
    /// An instant in the past does nothing.
    public func advance(to instant: Instant) {
        perform(machine.withLock { $0.advance(to: instant) })
    }

    /// Sleeps until the clock reaches an instant; the tolerance has no meaning here.
    ///
    /// Throws `CancellationError` when the task is cancelled, also when the deadline is past already.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await wait { machine, id, continuation in machine.sleep(id, until: deadline, continuation) }
    }

    /// Waits until at least this many tasks sleep.
    ///
    /// Throws `CancellationError` when the task is cancelled.
    public func waitForSleepers(count: Int) async throws {
        try await wait { machine, id, continuation in machine.watch(id, count: count, continuation) }
    }

    private func wait(
        _ enter: (inout ManualClockMachine, UInt64, ManualClockMachine.Continuation) -> ManualClockMachine.Wakeups
    ) async throws {
        let id = machine.withLock { $0.makeID() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                perform(
                    machine.withLock { machine in
                        // A task that was cancelled before it got here finds no handler to wake it.
                        Task.isCancelled
                            ? .init(cancelled: [continuation]) : enter(&machine, id, continuation)
                    })
            }
        } onCancel: {
            perform(machine.withLock { $0.cancel(id) })
        }
    }

    private func perform(_ wakeups: ManualClockMachine.Wakeups) {
        for continuation in wakeups.due { continuation.resume() }
        for continuation in wakeups.cancelled { continuation.resume(throwing: CancellationError()) }
    }
}
