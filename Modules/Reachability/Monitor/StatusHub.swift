internal import Synchronization

/// Holds the current status and distributes changes to the subscribers.
///
/// A monitor can be started again after it was stopped: each time is a run, with a higher number than the previous one.
/// A single thread publishes the changes of a run, and its publications after the end of the run are ignored, so every
/// subscriber sees the changes in order. Nothing is delivered to a subscriber after the end of its run.
final class StatusHub: Sendable {
    private typealias Machine = StatusStateMachine<AsyncStream<ReachabilityStatus>.Continuation>

    private let machine: Mutex<Machine>

    init(status: ReachabilityStatus) { machine = Mutex(Machine(status: status)) }

    var status: ReachabilityStatus { machine.withLock { $0.status } }

    /// Begins a run with its first status. Returns false if it was ended before it began.
    @discardableResult
    func begin(_ status: ReachabilityStatus, run: UInt64) -> Bool {
        machine.withLock { $0.begin(status, run: run) }
    }

    /// Publishes a status, and returns whether it differs from the previous one.
    @discardableResult
    func publish(_ status: ReachabilityStatus, run: UInt64) -> Bool {
        guard let subscribers = machine.withLock({ $0.publish(status, run: run) }) else { return false }
        for subscriber in subscribers { subscriber.yield(status) }
        return true
    }

    /// Ends a run with its subscriptions, and finishes their streams. The next run, if it has begun, continues.
    func finish(run: UInt64) {
        for subscriber in machine.withLock({ $0.finish(run: run) }) { subscriber.finish() }
    }

    /// Whether a run has ended.
    func isOver(_ run: UInt64) -> Bool { machine.withLock { $0.isOver(run) } }

    /// Subscribes to a run that has begun: by default the current one.
    func subscribe(in run: UInt64? = nil) -> StatusSubscription {
        let (changes, continuation) = AsyncStream.makeStream(
            of: ReachabilityStatus.self, bufferingPolicy: .bufferingNewest(1))
        let added = machine.withLock { $0.subscribe(continuation, in: run) }
        if let id = added.id {
            continuation.onTermination = { [weak self] _ in self?.machine.withLock { $0.unsubscribe(id) } }
        } else {
            continuation.finish()
        }
        return StatusSubscription(
            hub: self, run: added.run, isLate: added.id == nil, current: added.current, changes: changes)
    }
}

/// The current status and its subscribers: a pure state machine.
struct StatusStateMachine<Subscriber> {
    private(set) var status: ReachabilityStatus
    /// The latest run.
    private var run: UInt64 = 0
    /// The runs with lower numbers are over.
    private var firstLiveRun: UInt64 = 0
    /// The subscribers, each with the run of its subscription.
    private var subscribers: [UInt64: (run: UInt64, subscriber: Subscriber)] = [:]
    private var nextID: UInt64 = 0

    init(status: ReachabilityStatus) { self.status = status }

    /// Whether no run is in progress.
    var isFinished: Bool { isOver(run) }

    func isOver(_ run: UInt64) -> Bool { run < firstLiveRun }

    /// Adds a subscriber to a run that has begun: by default the current one, or the next one when none is in progress.
    ///
    /// Returns the current status, the run that ends the subscription, and the subscriber's id, which is nil if that
    /// run is not in progress.
    mutating func subscribe(
        _ subscriber: Subscriber, in requested: UInt64? = nil
    ) -> (current: ReachabilityStatus, run: UInt64, id: UInt64?) {
        let chosen = requested ?? (isFinished ? max(run + 1, firstLiveRun) : run)
        guard chosen == run, !isFinished else { return (status, chosen, nil) }
        nextID += 1
        subscribers[nextID] = (run: chosen, subscriber: subscriber)
        return (status, chosen, nextID)
    }

    mutating func unsubscribe(_ id: UInt64) { subscribers[id] = nil }

    /// Begins a run with its first status. Returns false if it was ended before it began.
    mutating func begin(_ status: ReachabilityStatus, run: UInt64) -> Bool {
        guard !isOver(run) else { return false }
        self.run = run
        self.status = status
        return true
    }

    /// Returns the subscribers to notify; nil if the status has not changed or the run is over.
    mutating func publish(_ status: ReachabilityStatus, run: UInt64) -> [Subscriber]? {
        guard !isFinished, run == self.run, status != self.status else { return nil }
        self.status = status
        return subscribers.values.filter { $0.run == run }.map { $0.subscriber }
    }

    /// Ends a run and all earlier ones. Removes and returns their subscribers, whose streams must be finished.
    ///
    /// A monitor can be started again while another thread still stops it: a run that has begun meanwhile does not end.
    /// A run that has not begun yet will not begin.
    mutating func finish(run: UInt64) -> [Subscriber] {
        firstLiveRun = max(firstLiveRun, run + 1)
        let ended = subscribers.filter { isOver($0.value.run) }
        for id in ended.keys { subscribers[id] = nil }
        return ended.values.map { $0.subscriber }
    }
}

/// The current status, followed by each change. Each iterator is a subscription.
struct StatusSequence: AsyncSequence, Sendable {
    typealias Element = ReachabilityStatus
    typealias Failure = Never

    let hub: StatusHub

    func makeAsyncIterator() -> Iterator { Iterator(hub.subscribe()) }

    struct Iterator: AsyncIteratorProtocol {
        private let subscription: StatusSubscription
        private var first: ReachabilityStatus?
        private var last: ReachabilityStatus
        private var changes: AsyncStream<ReachabilityStatus>.Iterator

        init(_ subscription: StatusSubscription) {
            self.subscription = subscription
            first = subscription.current
            last = subscription.current
            changes = subscription.changes.makeAsyncIterator()
        }

        mutating func next() async -> ReachabilityStatus? {
            await next(isolation: #isolation)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async -> ReachabilityStatus? {
            if let status = first {
                first = nil
                return subscription.isOver ? nil : status
            }
            // The buffer keeps only the newest status, which can equal the one that was read last.
            while let status = await changes.next(isolation: actor) {
                if subscription.isOver { return nil }
                if status == last { continue }
                last = status
                return status
            }
            return nil
        }
    }
}
