internal import Synchronization

/// Holds the current status, and hands changes to every subscriber.
///
/// One thread publishes, and `finish()` comes after its last call, so every subscriber sees the changes in order.
final class StatusHub: Sendable {
    private typealias Machine = StatusStateMachine<AsyncStream<ReachabilityStatus>.Continuation>

    private let machine: Mutex<Machine>

    init(status: ReachabilityStatus) { machine = Mutex(Machine(status: status)) }

    var status: ReachabilityStatus { machine.withLock { $0.status } }

    func publish(_ status: ReachabilityStatus) {
        for subscriber in machine.withLock({ $0.publish(status) }) { subscriber.yield(status) }
    }

    func finish() {
        for subscriber in machine.withLock({ $0.finish() }) { subscriber.finish() }
    }

    /// The current status, and a stream of what comes after it, in which a newer status replaces one that nobody took.
    func subscribe() -> (current: ReachabilityStatus, changes: AsyncStream<ReachabilityStatus>) {
        let (changes, continuation) = AsyncStream.makeStream(
            of: ReachabilityStatus.self, bufferingPolicy: .bufferingNewest(1))
        let (current, id) = machine.withLock { $0.subscribe(continuation) }
        if let id {
            continuation.onTermination = { [weak self] _ in self?.machine.withLock { $0.unsubscribe(id) } }
        } else {
            continuation.finish()
        }
        return (current, changes)
    }
}
