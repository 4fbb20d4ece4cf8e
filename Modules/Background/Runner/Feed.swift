internal import FoundationEssentials
internal import LinnetSession
internal import Synchronization

/// Delivers the news of the journal to the subscribers of a session.
///
/// All news comes from the journal, also news of this process, so that events are the same whichever process transfers.
final class Feed: Sendable {
    /// A reader of events. The functions are called with the lock held, and only fill buffers.
    private struct Subscriber: Sendable {
        /// Returns what resumes a reader that waits, which is called after unlocking.
        typealias Receive = @Sendable (BackgroundEvent) -> (() -> Void)?

        let receive: Receive
        let finish: @Sendable () -> Void
        let readsProgress: Bool
    }

    private struct State {
        var lastKey: UInt64 = 0
        var subscribers: [(key: UInt64, subscriber: Subscriber)] = []
        /// Events that wait for the first subscriber; nil once there was one.
        var backlog: [BackgroundEvent]? = []
        var revision: Int64 = 0
        /// Reads the tasks of an earlier process.
        var opening: Task<Void, Never>?
        var isPulling = false
        var pullsAgain = false
        var progress: [BackgroundTask.ID: TransferProgress] = [:]
        var isFinished = false

        /// Adds events to the buffers of all subscribers. Returns what resumes their readers.
        func deliver(_ events: [BackgroundEvent]) -> [() -> Void] {
            subscribers.flatMap { _, subscriber in events.compactMap { subscriber.receive($0) } }
        }
    }

    private let journal: Journal
    /// Whether the subscribers are a program's, which is told each end once.
    private let isProgram: Bool
    private let state = Mutex(State())

    init(_ journal: Journal, isProgram: Bool) {
        self.journal = journal
        self.isProgram = isProgram
    }

    // MARK: Subscribers

    /// Returns the events from now on. With the backlog, it begins with the adopted tasks, unless an earlier subscriber
    /// had them.
    func events(withBacklog takesBacklog: Bool) -> EventSequence<BackgroundEvent> {
        EventSequence(coalescing: Self.coalesces, limit: EventSequence<BackgroundEvent>.limit) { buffer in
            subscribe(withBacklog: takesBacklog, buffer.take, finish: buffer.finish)
        }
    }

    /// Returns a value when tasks have ended, or were paused. Several ends before it is read are one value.
    func rests() -> EventSequence<Void> {
        EventSequence(coalescing: { _, _ in true }) { buffer in
            subscribe(
                withBacklog: false, readsProgress: false,
                { event in
                    guard event.kind == .changed, let state = event.task?.state else { return nil }
                    return state.isEnd || state == .paused ? buffer.take(()) : nil
                }, finish: buffer.finish)
        }
    }

    /// Returns a part of each task from now on, after its present value; it ends with the session. A value that was not
    /// read is replaced by the next one.
    func values<Value: Sendable>(
        of id: BackgroundTask.ID, now: @escaping @Sendable () async -> BackgroundTask?,
        _ select: @escaping @Sendable (BackgroundTask) -> Value
    ) -> EventSequence<Value> {
        EventSequence(coalescing: { _, _ in true }) { buffer in
            let observation = subscribe(
                withBacklog: false,
                { event in
                    guard let task = event.task, task.id == id else { return nil }
                    return buffer.take(select(task))
                }, finish: buffer.finish)
            Task {
                if let task = await now() { buffer.append(select(task)) } else { buffer.finish() }
            }
            return observation
        }
    }

    private func subscribe(
        withBacklog takesBacklog: Bool, readsProgress: Bool = true,
        _ receive: @escaping Subscriber.Receive,
        finish: @escaping @Sendable () -> Void
    ) -> SessionObservation {
        // The buffer is new, so that no reader waits that would have to be resumed.
        let (key, backlog) = state.withLock { state in
            state.lastKey += 1
            guard !state.isFinished else {
                finish()
                return (state.lastKey, [BackgroundEvent]())
            }
            var backlog: [BackgroundEvent] = []
            if takesBacklog {
                backlog = state.backlog ?? []
                state.backlog = nil
            }
            // Under the lock, so that no later event comes before them.
            for event in backlog { _ = receive(event) }
            let subscriber = Subscriber(receive: receive, finish: finish, readsProgress: readsProgress)
            state.subscribers.append((state.lastKey, subscriber))
            return (state.lastKey, backlog)
        }
        noteTold(backlog)
        return SessionObservation { [weak self] in
            let removed = self?.state.withLock { state in
                state.subscribers.firstIndex { $0.key == key }.map { state.subscribers.remove(at: $0) }
            }
            // Released after unlocking.
            withExtendedLifetime(removed) {}
        }
    }

    /// An unread progress is replaced by the next one of the task.
    private static func coalesces(_ waiting: BackgroundEvent, _ next: BackgroundEvent) -> Bool {
        waiting.kind == .progressed && next.kind == .progressed && waiting.task?.id == next.task?.id
    }

    private func post(_ events: [BackgroundEvent]) {
        guard !events.isEmpty else { return }
        let (areTold, deliveries) = state.withLock { state in
            if state.backlog != nil {
                // Progress is not worth keeping.
                state.backlog?.append(contentsOf: events.filter { $0.kind != .progressed })
                let excess = (state.backlog?.count ?? 0) - EventSequence<BackgroundEvent>.limit
                if excess > 0 { state.backlog?.removeFirst(excess) }
            }
            // Under the lock, so that all subscribers receive the events in one order.
            let deliveries = state.deliver(events)
            return (state.backlog == nil && !state.subscribers.isEmpty, deliveries)
        }
        // After unlocking: a reader's executor can run it at once.
        for deliver in deliveries { deliver() }
        if areTold { noteTold(events) }
    }

    private func noteTold(_ events: [BackgroundEvent]) {
        let ids = events.compactMap { $0.task?.state.isEnd == true ? $0.task?.id : nil }
        guard isProgram, !ids.isEmpty else { return }
        Task { [journal] in try? await journal.setTold(ids) }
    }

    func finish() {
        let subscribers = state.withLock { state in
            defer { state.subscribers = [] }
            state.isFinished = true
            return state.subscribers
        }
        for (_, subscriber) in subscribers { subscriber.finish() }
    }

    // MARK: The journal

    /// Begins to read the tasks that an earlier process left. They are delivered before all changes.
    func open() {
        let reading = Task {
            // The bounds of the buffers hold for them too.
            let limit = EventSequence<BackgroundEvent>.limit / 2
            if let (records, revision) = try? await journal.leftTasks(limit) {
                state.withLock { $0.revision = revision }
                post(records.map { BackgroundEvent(kind: .adopted, task: $0.task()) })
            }
            post([BackgroundEvent(kind: .didFinishEvents, task: nil)])
        }
        state.withLock { $0.opening = reading }
    }

    /// Tells that this session transfers, after the adopted tasks.
    func postBecameRunner() {
        let opening = state.withLock { $0.opening }
        Task {
            await opening?.value
            post([BackgroundEvent(kind: .becameRunner, task: nil)])
        }
    }

    /// Reads the changes of the journal, and delivers them. Calls at the same time share one reading, so that each
    /// change is delivered once.
    ///
    /// - Returns: Whether this call has delivered changes.
    @discardableResult
    func pull() async -> Bool {
        await state.withLock { $0.opening }?.value
        let isFirst = state.withLock { state in
            state.pullsAgain = state.isPulling
            defer { state.isPulling = true }
            return !state.isPulling
        }
        guard isFirst else { return false }
        var hasNews = false
        while true {
            let revision = state.withLock { $0.revision }
            if let (records, next) = try? await journal.changes(since: revision) {
                state.withLock { $0.revision = next }
                hasNews = hasNews || !records.isEmpty
                post(records.map { BackgroundEvent(kind: .changed, task: $0.task(progress(of: $0))) })
            }
            let isDone = state.withLock { state in
                defer { state.pullsAgain = false }
                if !state.pullsAgain { state.isPulling = false }
                return !state.pullsAgain
            }
            if isDone { return hasNews }
        }
    }

    // MARK: Progress

    func report(_ progress: TransferProgress, _ record: TaskRecord) {
        let isRead = state.withLock { state in
            state.progress[record.id] = progress
            return state.subscribers.contains { $0.subscriber.readsProgress }
        }
        if isRead { post([BackgroundEvent(kind: .progressed, task: record.task(progress))]) }
    }

    /// The progress of a task that this process transfers.
    func progress(of record: TaskRecord) -> TransferProgress? {
        guard record.machine.state == .running else { return nil }
        return state.withLock { $0.progress[record.id] }
    }

    func forget(_ id: BackgroundTask.ID) {
        _ = state.withLock { $0.progress.removeValue(forKey: id) }
    }
}
