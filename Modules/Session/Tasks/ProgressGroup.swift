internal import Synchronization

/// Combines the progress of several tasks and groups.
///
/// ```swift
/// let group = ProgressGroup()
/// let tasks = files.map { session.get($0).downloadTask(into: folder) }
/// for task in tasks { group.add(task) }
/// for task in tasks { task.resume() }
/// for await progress in group.updates {
///     print(progress.fraction)
///     if progress.isFinished { break }
/// }
/// ```
/// Add all tasks before they start, because adding one later lowers the fraction. Otherwise the fraction never
/// decreases, and it reaches 1 when the last task ends. The group does not retain its tasks, and neither starts nor
/// ends them.
public final class ProgressGroup: Sendable {
    private struct Observer {
        var tell: @Sendable (Progress) -> Void
        /// Called when the group is deallocated, which ends a sequence of updates.
        var end: (@Sendable () -> Void)?
    }

    private struct State {
        var children: [UInt64: (progress: Progress, weight: Double)] = [:]
        var observers: [UInt64: Observer] = [:]
        var lastKey: UInt64 = 0
        var progress = Progress()
        /// The undelivered updates, in order, for all observers or only for a new one. One thread at a time delivers
        /// them.
        var news: [(progress: Progress, only: UInt64?)] = []
        var isTelling = false

        mutating func nextKey() -> UInt64 {
            lastKey += 1
            return lastKey
        }

        /// Returns the next update and its observers; nil if there is none, or if another thread is delivering.
        mutating func nextNews() -> (Progress, [@Sendable (Progress) -> Void])? {
            guard !isTelling, !news.isEmpty else { return nil }
            isTelling = true
            let (progress, only) = news.removeFirst()
            guard let only else { return (progress, observers.values.map(\.tell)) }
            return (progress, observers[only].map { [$0.tell] } ?? [])
        }
    }

    private let state = Mutex(State())

    /// Creates a group without tasks.
    public init() {}

    deinit {
        for end in state.withLock({ $0.observers.values.compactMap(\.end) }) { end() }
    }

    /// The combined progress.
    public var progress: Progress { state.withLock { $0.progress } }

    /// Adds a task. Its weight is relative to the other weights; a weight that is not positive and finite counts as 1.
    public func add(_ task: any SessionTask, weight: Double = 1) {
        let kind = task.kind
        let child = addChild(weight, Progress(task.progress, of: kind))
        // Both observers are called on the session's executor in order, so the end comes last.
        task.onProgress { [weak self] in self?.update(child, Progress($0, of: kind)) }
        task.onStateChange { [weak self] in if $0 == .completed { self?.end(child) } }
    }

    /// Adds a group. Its weight is relative to the other weights; a weight that is not positive and finite counts as 1.
    ///
    /// Neither group retains the other; keep a reference to both.
    public func add(_ group: ProgressGroup, weight: Double = 1) {
        let child = addChild(weight, group.progress)
        group.observe { [weak self] in self?.update(child, $0) }
    }

    /// The current progress, then each change, in order; a slow reader misses intermediate values, never the last. The
    /// sequence ends when the group is deallocated, because tasks can be added until then; leave the loop at
    /// ``ProgressGroup/Progress/isFinished``.
    public var updates: EventSequence<Progress> {
        EventSequence(coalescing: { _, _ in true }) { buffer in
            observe(onEnd: { buffer.finish() }) { buffer.append($0) }
        }
    }

    /// Calls a function with the current progress, then with each change, in order, on an executor.
    @discardableResult
    public func onProgress(
        on executor: CallbackExecutor = .serial(), _ observer: @escaping @Sendable (Progress) -> Void
    ) -> SessionObservation {
        observe { progress in executor.execute { observer(progress) } }
    }

    // MARK: Children

    private func addChild(_ weight: Double, _ progress: Progress) -> UInt64 {
        var key: UInt64 = 0
        change { state in
            key = state.nextKey()
            state.children[key] = (progress, weight > 0 && weight.isFinite ? weight : 1)
        }
        return key
    }

    private func update(_ child: UInt64, _ progress: Progress) {
        change { state in
            guard let old = state.children[child]?.progress, !(old.isFinished && old.tasks == progress.tasks) else {
                return
            }
            var progress = progress
            // A larger total does not lower the fraction; only an added task does.
            if progress.tasks == old.tasks { progress.fraction = max(progress.fraction, old.fraction) }
            state.children[child]?.progress = progress
        }
    }

    private func end(_ child: UInt64) {
        change { $0.children[child]?.progress.end() }
    }

    // MARK: Updates

    @discardableResult
    private func observe(
        onEnd end: (@Sendable () -> Void)? = nil, _ observer: @escaping @Sendable (Progress) -> Void
    ) -> SessionObservation {
        let key = state.withLock { state in
            let key = state.nextKey()
            state.observers[key] = Observer(tell: observer, end: end)
            state.news.append((state.progress, only: key))
            return key
        }
        tell()
        return SessionObservation { [weak self] in self?.removeObserver(key) }
    }

    private func removeObserver(_ key: UInt64) {
        let removed = state.withLock { $0.observers.removeValue(forKey: key) }
        // Released after unlocking: an object that only the observer holds may use the group when it is released.
        withExtendedLifetime(removed) {}
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            let progress = Progress(state.children.values)
            guard progress != state.progress else { return }
            state.progress = progress
            state.news.append((progress, only: nil))
        }
        tell()
    }

    /// Delivers the updates in order, on one thread at a time, until none is left.
    private func tell() {
        while let (progress, observers) = state.withLock({ $0.nextNews() }) {
            for observer in observers { observer(progress) }
            state.withLock { $0.isTelling = false }
        }
    }
}

extension ProgressGroup {
    /// The combined progress of the tasks of a ``ProgressGroup``.
    public struct Progress: Sendable, Hashable {
        /// The transferred bytes of all tasks: sent bytes of uploads, and received bytes of other tasks.
        public var completed: Int64 = 0
        /// The total number of bytes; nil while any task's total is unknown.
        public var total: Int64? = 0
        /// The completed fraction, from 0 to 1, as the weighted average of the tasks. A running task counts with the
        /// fraction of its bytes, or 0 while its total is unknown; a task that has ended counts as 1, with or without
        /// an error.
        public var fraction = 0.0
        /// The number of tasks, including nested groups.
        public var tasks = 0
        /// The number of tasks that have ended.
        public var endedTasks = 0
        /// The total throughput in bytes per second; nil while the throughput of all tasks is unknown.
        public var bytesPerSecond: Double?

        /// Creates the progress of no tasks.
        public init() {}

        /// Whether there is at least one task, and all have ended.
        public var isFinished: Bool { tasks > 0 && endedTasks == tasks }

        /// The estimated remaining time at the recent throughput; nil while the total or the throughput is unknown, or
        /// the throughput is zero.
        public var estimatedTimeRemaining: Duration? {
            TransferProgress(completed: completed, total: total, bytesPerSecond: bytesPerSecond).estimatedTimeRemaining
        }
    }
}

extension ProgressGroup.Progress {
    /// The progress of one running task.
    init(_ progress: TaskProgress, of kind: TaskKind) {
        let direction = kind == .upload ? progress.upload : progress.download
        completed = direction.completed
        total = direction.total
        fraction = direction.fraction ?? 0
        tasks = 1
        bytesPerSecond = direction.bytesPerSecond
    }

    /// Records that the task has ended.
    mutating func end() {
        total = completed
        fraction = 1
        endedTasks = tasks
        bytesPerSecond = nil
    }

    /// The combined progress of several children with their weights.
    init(_ children: some Sequence<(progress: ProgressGroup.Progress, weight: Double)>) {
        var weights = 0.0
        for (child, weight) in children {
            completed += child.completed
            total = Self.sum(total, child.total)
            fraction += child.fraction * weight
            weights += weight
            tasks += child.tasks
            endedTasks += child.endedTasks
            if let rate = child.bytesPerSecond { bytesPerSecond = (bytesPerSecond ?? 0) + rate }
        }
        fraction = weights > 0 ? min(1, fraction / weights) : 0
        // Rounding errors could leave the sum below 1.
        if isFinished { fraction = 1 }
    }

    /// Returns nil if either is unknown, or if the sum of the declared lengths exceeds `Int64`.
    private static func sum(_ first: Int64?, _ second: Int64?) -> Int64? {
        guard let first, let second else { return nil }
        let (sum, overflowed) = first.addingReportingOverflow(second)
        return overflowed ? nil : sum
    }
}
