internal import LinnetSession

/// Something that changes how many requests run.
enum ActivityChange: Sendable {
    case increment
    case decrement
    case task(TaskEvent)
}

/// Counts what runs: requests by their numbers, so that none counts twice and none is left behind, and the rest by hand.
struct ActivityCounter {
    private var running: Set<UInt64> = []
    private var byHand = 0

    var count: Int { running.count + byHand }

    mutating func apply(_ change: ActivityChange) {
        switch change {
        case .increment: byHand += 1
        case .decrement: byHand = max(0, byHand - 1)
        case .task(let event): apply(event)
        }
    }

    private mutating func apply(_ event: TaskEvent) {
        switch event.kind {
        case .created: break
        case .resumed: running.insert(event.taskID)
        case .suspended, .completed: running.remove(event.taskID)
        }
    }
}

/// Carries changes from any thread to the main actor, in order.
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
