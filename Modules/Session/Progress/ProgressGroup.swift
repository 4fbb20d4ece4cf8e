internal import Synchronization

/// Combines the progress of several tasks and groups.
///
/// ```swift
/// let group = ProgressGroup()
/// for file in files { group.add(session.call(file).downloadTask(into: folder)) }
/// for await progress in group.updates { print(progress.fraction, progress.estimatedTimeRemaining ?? "?") }
/// ```
/// Add the tasks first: adding one later lowers the fraction. Otherwise it never decreases, and reaches 1 when the last task
/// ends. The group holds its tasks' progress, not the tasks; it neither starts nor ends them.
public final class ProgressGroup: Sendable {
    private struct State {
        var children: [UInt64: (progress: GroupProgress, weight: Double)] = [:]
        var observers: [UInt64: @Sendable (GroupProgress) -> Void] = [:]
        var lastKey: UInt64 = 0
        var progress = GroupProgress()
        /// The undelivered news, in order, for all observers or one that was added since; one thread at a time delivers it.
        var news: [(progress: GroupProgress, only: UInt64?)] = []
        var isTelling = false

        mutating func nextKey() -> UInt64 {
            lastKey += 1
            return lastKey
        }

        /// Nil when there is no news, or another thread is delivering it.
        mutating func nextNews() -> (GroupProgress, [@Sendable (GroupProgress) -> Void])? {
            guard !isTelling, !news.isEmpty else { return nil }
            isTelling = true
            let (progress, only) = news.removeFirst()
            guard let only else { return (progress, Array(observers.values)) }
            return (progress, observers[only].map { [$0] } ?? [])
        }
    }

    private let state = Mutex(State())

    /// Makes a group without tasks.
    public init() {}

    /// The combined progress.
    public var progress: GroupProgress { state.withLock { $0.progress } }

    /// Adds a task. Its weight is relative to the others; a weight that is not above 0 counts as 1.
    public func add(_ task: any SessionTask, weight: Double = 1) {
        let kind = task.kind
        let child = addChild(weight, GroupProgress(task.progress, of: kind))
        // Both are called on the session's executor, one after the other: the end is the last.
        task.onProgress { [weak self] in self?.update(child, GroupProgress($0, of: kind)) }
        task.onStateChange { [weak self] in if $0 == .completed { self?.end(child) } }
    }

    /// Adds a group. Its weight is relative to the others; a weight that is not above 0 counts as 1.
    ///
    /// The added group does not retain the group that it is added to; keep both.
    public func add(_ group: ProgressGroup, weight: Double = 1) {
        let child = addChild(weight, group.progress)
        group.observe { [weak self] in self?.update(child, $0) }
    }

    /// The current progress, then each change, in order; a slow reader misses intermediate values, never the last. Ends when
    /// the group is deallocated.
    public var updates: EventSequence<GroupProgress> {
        EventSequence(coalescing: { _, _ in true }) { buffer in observe { buffer.append($0) } }
    }

    /// Calls a function with the current progress, then with each change, in order, on an executor.
    @discardableResult
    public func onProgress(
        on executor: CallbackExecutor = .serial(), _ observer: @escaping @Sendable (GroupProgress) -> Void
    ) -> SessionObservation {
        observe { progress in executor.execute { observer(progress) } }
    }

    // MARK: Children

    private func addChild(_ weight: Double, _ progress: GroupProgress) -> UInt64 {
        var key: UInt64 = 0
        change { state in
            key = state.nextKey()
            state.children[key] = (progress, weight > 0 && weight.isFinite ? weight : 1)
        }
        return key
    }

    private func update(_ child: UInt64, _ progress: GroupProgress) {
        change { state in
            guard let old = state.children[child]?.progress, !(old.isFinished && old.tasks == progress.tasks) else {
                return
            }
            var progress = progress
            // A total that turns out larger takes nothing back; a task that is added does.
            if progress.tasks == old.tasks { progress.fraction = max(progress.fraction, old.fraction) }
            state.children[child]?.progress = progress
        }
    }

    private func end(_ child: UInt64) {
        change { $0.children[child]?.progress.end() }
    }

    // MARK: News

    @discardableResult
    private func observe(_ observer: @escaping @Sendable (GroupProgress) -> Void) -> SessionObservation {
        let key = state.withLock { state in
            let key = state.nextKey()
            state.observers[key] = observer
            state.news.append((state.progress, only: key))
            return key
        }
        tell()
        return SessionObservation { [weak self] in self?.state.withLock { $0.observers[key] = nil } }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            let progress = GroupProgress(state.children.values)
            guard progress != state.progress else { return }
            state.progress = progress
            state.news.append((progress, only: nil))
        }
        tell()
    }

    /// Delivers the news in order, on one thread at a time, until none is left.
    private func tell() {
        while let (progress, observers) = state.withLock({ $0.nextNews() }) {
            for observer in observers { observer(progress) }
            state.withLock { $0.isTelling = false }
        }
    }
}
