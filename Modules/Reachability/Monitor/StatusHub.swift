internal import Synchronization

/// Holds the current status and distributes changes to the subscribers.
///
/// A single thread publishes, and `finish()` is called after its last call, so every subscriber sees the changes in order.
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

    /// Returns the current status and a stream of later ones, which buffers only the newest.
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

/// The current status and its subscribers: a pure state machine.
struct StatusStateMachine<Subscriber> {
    private(set) var status: ReachabilityStatus
    private(set) var isFinished = false
    private var subscribers: [UInt64: Subscriber] = [:]
    private var nextID: UInt64 = 0

    init(status: ReachabilityStatus) { self.status = status }

    /// Adds a subscriber. Returns the current status, and the subscriber's id unless the hub has finished.
    mutating func subscribe(_ subscriber: Subscriber) -> (current: ReachabilityStatus, id: UInt64?) {
        guard !isFinished else { return (status, nil) }
        nextID += 1
        subscribers[nextID] = subscriber
        return (status, nextID)
    }

    mutating func unsubscribe(_ id: UInt64) { subscribers[id] = nil }

    /// Returns the subscribers to notify: none when the status has not changed.
    mutating func publish(_ status: ReachabilityStatus) -> [Subscriber] {
        guard !isFinished, status != self.status else { return [] }
        self.status = status
        return Array(subscribers.values)
    }

    /// Returns the subscribers whose streams are to be finished, and removes them.
    mutating func finish() -> [Subscriber] {
        isFinished = true
        defer { subscribers = [:] }
        return Array(subscribers.values)
    }
}

/// The current status, followed by each change. Each iterator is a subscription.
struct StatusSequence: AsyncSequence, Sendable {
    typealias Element = ReachabilityStatus
    typealias Failure = Never

    let hub: StatusHub

    func makeAsyncIterator() -> Iterator {
        let (current, changes) = hub.subscribe()
        return Iterator(current: current, changes: changes.makeAsyncIterator())
    }

    struct Iterator: AsyncIteratorProtocol {
        private var first: ReachabilityStatus?
        private var last: ReachabilityStatus
        private var changes: AsyncStream<ReachabilityStatus>.Iterator

        init(current: ReachabilityStatus, changes: AsyncStream<ReachabilityStatus>.Iterator) {
            first = current
            last = current
            self.changes = changes
        }

        mutating func next() async -> ReachabilityStatus? {
            await next(isolation: #isolation)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async -> ReachabilityStatus? {
            if let status = first {
                first = nil
                return status
            }
            // The buffer keeps the newest status only, which can equal the one that was read last.
            while let status = await changes.next(isolation: actor) {
                if status == last { continue }
                last = status
                return status
            }
            return nil
        }
    }
}
