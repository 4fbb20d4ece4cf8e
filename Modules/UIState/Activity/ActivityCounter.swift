internal import LinnetSession

/// A change to the number of running requests. A source reports requests: a session, or the notifications of the
/// process.
enum ActivityChange: Sendable {
    case increment
    case decrement
    /// Begins to count the reports of a source.
    case follow(source: UInt64)
    /// Stops counting a source, its earlier reports, and reports on their way.
    case unfollow(source: UInt64)
    /// A request started or was resumed.
    case began(UInt64, source: UInt64)
    /// A request was suspended or ended.
    case paused(UInt64)
    /// A request that existed when its session began to be followed. Its state is read when the change is applied: if
    /// it runs then, its end has not been reported yet, so the report follows in the order of the changes.
    case known(WeakTask, source: UInt64)
}

extension ActivityChange {
    init?(_ event: TaskEvent, source: UInt64) {
        switch event.kind {
        case .created, .decided: return nil
        case .resumed: self = .began(event.taskID, source: source)
        case .suspended, .completed: self = .paused(event.taskID)
        }
    }

    init(_ notification: TaskNotification, source: UInt64) {
        switch notification.kind {
        case .didResume: self = .began(notification.taskID, source: source)
        case .didSuspend, .didComplete: self = .paused(notification.taskID)
        }
    }
}

/// A task that is not retained.
struct WeakTask: Sendable {
    weak let task: (any SessionTask)?

    init(_ task: any SessionTask) { self.task = task }
}

/// Counts running requests by task ID, so that each counts once, and activities that the program counts.
struct ActivityCounter {
    /// The source of each running request.
    private var running: [UInt64: UInt64] = [:]
    private var sources: Set<UInt64> = []
    private var manualCount = 0

    var count: Int { running.count + manualCount }

    mutating func apply(_ change: ActivityChange) {
        switch change {
        case .increment: manualCount += 1
        case .decrement: manualCount = max(0, manualCount - 1)
        case .follow(let source): sources.insert(source)
        case .unfollow(let source):
            sources.remove(source)
            running = running.filter { $0.value != source }
        case .began(let id, let source): begin(id, source)
        case .paused(let id): running[id] = nil
        case .known(let known, let source):
            if let task = known.task, task.state.isBusy { begin(task.id, source) }
        }
    }

    private mutating func begin(_ id: UInt64, _ source: UInt64) {
        if sources.contains(source) { running[id] = source }
    }
}

/// Delivers changes from any thread to the main actor, in order.
final class ActivityChanges: Sendable {
    let stream: AsyncStream<ActivityChange>
    private let continuation: AsyncStream<ActivityChange>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func send(_ change: ActivityChange) {
        continuation.yield(change)
    }

    func finish() {
        continuation.finish()
    }
}
