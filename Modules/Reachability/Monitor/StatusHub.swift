internal import Synchronization

/// Holds the current status and distributes changes to the subscribers.
///
/// A monitor can be started again after it was stopped: each time is a run. A single thread publishes the changes of a run, and
/// those that it publishes after the end of the run are ignored, so every subscriber sees the changes in order.
final class StatusHub: Sendable {
    private typealias Machine = StatusStateMachine<AsyncStream<ReachabilityStatus>.Continuation>

    private let machine: Mutex<Machine>

    init(status: ReachabilityStatus) { machine = Mutex(Machine(status: status)) }

    var status: ReachabilityStatus { machine.withLock { $0.status } }

    /// Begins a run with its first status, and returns the number of the run.
    func begin(_ status: ReachabilityStatus) -> UInt64 { machine.withLock { $0.begin(status) } }

    /// Publishes a status, and returns whether it differs from the one before.
    @discardableResult
    func publish(_ status: ReachabilityStatus, run: UInt64) -> Bool {
        guard let subscribers = machine.withLock({ $0.publish(status, run: run) }) else { return false }
        for subscriber in subscribers { subscriber.yield(status) }
        return true
    }

    /// Ends a run, and finishes the streams of its subscribers. The next run, if it has begun, continues.
    func finish(run: UInt64) {
        for subscriber in machine.withLock({ $0.finish(run: run) }) { subscriber.finish() }
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
    private var run: UInt64 = 0
    /// The subscribers, each with the run that it subscribed in.
    private var subscribers: [UInt64: (run: UInt64, subscriber: Subscriber)] = [:]
    private var nextID: UInt64 = 0

    init(status: ReachabilityStatus) { self.status = status }

    /// Adds a subscriber. Returns the current status, and the subscriber's id unless the hub has finished.
    mutating func subscribe(_ subscriber: Subscriber) -> (current: ReachabilityStatus, id: UInt64?) {
        guard !isFinished else { return (status, nil) }
        nextID += 1
        subscribers[nextID] = (run: run, subscriber: subscriber)
        return (status, nextID)
    }

    mutating func unsubscribe(_ id: UInt64) { subscribers[id] = nil }

    /// Begins a run with its first status, and returns the number of the run.
    mutating func begin(_ status: ReachabilityStatus) -> UInt64 {
        run += 1
        isFinished = false
        self.status = status
        return run
    }

    /// Returns the subscribers to notify; nil when the status has not changed or the run is over.
    mutating func publish(_ status: ReachabilityStatus, run: UInt64) -> [Subscriber]? {
        guard !isFinished, run == self.run, status != self.status else { return nil }
        self.status = status
        return subscribed(in: run)
    }

    /// Ends a run. Returns its subscribers, whose streams are to be finished, and removes them.
    ///
    /// A monitor can be started again while another thread still stops it: the run that has begun then does not end.
    mutating func finish(run: UInt64) -> [Subscriber] {
        if run == self.run { isFinished = true }
        defer { subscribers = subscribers.filter { $0.value.run != run } }
        return subscribed(in: run)
    }

    private func subscribed(in run: UInt64) -> [Subscriber] {
        subscribers.values.filter { $0.run == run }.map { $0.subscriber }
    }
}

/// The current status, followed by each change. Each iterator is a subscription.
struct StatusSequence: AsyncSequence, Sendable {
    typealias Element = ReachabilityStatus
    typealias Failure = Never

    let hub: StatusHub

    func makeAsyncIterator() -> Iterator {
        let (current, changes) = hub.subscribe()
        return Iterator(hub: hub, current: current, changes: changes.makeAsyncIterator())
    }

    struct Iterator: AsyncIteratorProtocol {
        private let hub: StatusHub
        private var first: ReachabilityStatus?
        private var last: ReachabilityStatus
        private var changes: AsyncStream<ReachabilityStatus>.Iterator

        init(hub: StatusHub, current: ReachabilityStatus, changes: AsyncStream<ReachabilityStatus>.Iterator) {
            self.hub = hub
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
