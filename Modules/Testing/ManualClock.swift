internal import Synchronization

/// A clock that a test advances.
///
/// Pass it to the code under test, wait until that sleeps, and advance the clock:
///
/// ```swift
/// let clock = ManualClock()
/// async let attempt: Void = retry(clock: clock)
/// try await clock.waitForSleepers(count: 1)
/// clock.advance(by: .seconds(30))
/// try await attempt
/// ```
///
/// Sleeping tasks are resumed in the order of their deadlines when the clock reaches them. A resumed task continues
/// asynchronously: before advancing again, wait until the task sleeps again.
public final class ManualClock: Clock, Sendable {
    /// A point in time, relative to the creation of the clock.
    public struct Instant: InstantProtocol {
        /// The time since the clock was created.
        public var offset: Duration

        /// Creates an instant.
        public init(offset: Duration = .zero) { self.offset = offset }

        /// Returns the instant that is later by a duration.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// Returns the duration from this instant to another.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether one instant is before another.
        public static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
    }

    private let machine = Mutex(ManualClockMachine())

    /// Creates a clock with an offset of zero.
    public init() {}

    /// The current time.
    public var now: Instant { machine.withLock { $0.now } }

    /// Zero: the clock has no minimum resolution.
    public var minimumResolution: Duration { .zero }

    /// The number of tasks that sleep.
    public var sleepers: Int { machine.withLock { $0.sleepers.count } }

    /// The earliest deadline of a sleeping task; nil when no task sleeps.
    public var nextDeadline: Instant? { machine.withLock { $0.sleepers.first?.deadline } }

    /// Advances the clock by a duration, and resumes the tasks whose deadlines are reached.
    ///
    /// A negative duration has no effect.
    public func advance(by duration: Duration) {
        perform(machine.withLock { $0.advance(to: $0.now.advanced(by: duration)) })
    }

    /// Advances the clock to an instant, and resumes the tasks whose deadlines are reached.
    ///
    /// An instant in the past has no effect.
    public func advance(to instant: Instant) {
        perform(machine.withLock { $0.advance(to: instant) })
    }

    /// Suspends the task until the clock reaches a deadline. The tolerance is ignored.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, even when the deadline has passed.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await wait { machine, id, continuation in machine.sleep(id, until: deadline, continuation) }
    }

    /// Waits until at least the given number of tasks sleep.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
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
                        // When the task was cancelled earlier, the cancellation handler has already run.
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

/// The state of a ``ManualClock``: its time, the sleeping tasks, and the tasks that wait for sleeping ones.
struct ManualClockMachine {
    typealias Continuation = CheckedContinuation<Void, any Error>

    /// The continuations to resume after the lock is released.
    struct Wakeups {
        var due: [Continuation] = []
        var cancelled: [Continuation] = []
    }

    struct Sleeper {
        let id: UInt64
        let deadline: ManualClock.Instant
        let continuation: Continuation
    }

    struct Watcher {
        let id: UInt64
        let count: Int
        let continuation: Continuation
    }

    private(set) var now = ManualClock.Instant()
    /// The sleeping tasks in the order of their deadlines, with equal deadlines in the order of arrival.
    private(set) var sleepers: [Sleeper] = []
    private var watchers: [Watcher] = []
    private var lastID: UInt64 = 0

    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    mutating func sleep(_ id: UInt64, until deadline: ManualClock.Instant, _ continuation: Continuation) -> Wakeups {
        guard deadline > now else { return Wakeups(due: [continuation]) }
        let place = sleepers.firstIndex { $0.deadline > deadline } ?? sleepers.endIndex
        sleepers.insert(Sleeper(id: id, deadline: deadline, continuation: continuation), at: place)
        let satisfied = watchers.filter { $0.count <= sleepers.count }
        watchers.removeAll { $0.count <= sleepers.count }
        return Wakeups(due: satisfied.map(\.continuation))
    }

    mutating func watch(_ id: UInt64, count: Int, _ continuation: Continuation) -> Wakeups {
        guard sleepers.count < count else { return Wakeups(due: [continuation]) }
        watchers.append(Watcher(id: id, count: count, continuation: continuation))
        return Wakeups()
    }

    mutating func advance(to instant: ManualClock.Instant) -> Wakeups {
        guard instant > now else { return Wakeups() }
        now = instant
        let due = sleepers.prefix { $0.deadline <= instant }
        sleepers.removeFirst(due.count)
        return Wakeups(due: due.map(\.continuation))
    }

    mutating func cancel(_ id: UInt64) -> Wakeups {
        if let index = sleepers.firstIndex(where: { $0.id == id }) {
            return Wakeups(cancelled: [sleepers.remove(at: index).continuation])
        }
        if let index = watchers.firstIndex(where: { $0.id == id }) {
            return Wakeups(cancelled: [watchers.remove(at: index).continuation])
        }
        return Wakeups()
    }
}
