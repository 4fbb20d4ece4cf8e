/// The combined progress of the tasks of a ``ProgressGroup``.
public struct GroupProgress: Sendable, Hashable {
    /// The bytes of all tasks so far: those sent by uploads, and those received by other tasks.
    public var completed: Int64 = 0
    /// The bytes in all; nil while some task's are unknown.
    public var total: Int64? = 0
    /// The completed fraction, from 0 to 1, with each task counted by its weight: by its bytes while it runs, if their number
    /// is known, and in full once it has ended, with or without an error.
    public var fraction = 0.0
    /// The number of tasks, including those of nested groups.
    public var tasks = 0
    /// The number of tasks that have ended.
    public var endedTasks = 0
    /// The total throughput in bytes per second; nil while no task's is known.
    public var bytesPerSecond: Double?

    /// No tasks.
    public init() {}

    /// Whether there is at least one task, and all have ended.
    public var isFinished: Bool { tasks > 0 && endedTasks == tasks }

    /// The estimated time for the rest at the recent throughput; nil while the total or the throughput is unknown.
    public var estimatedTimeRemaining: Duration? {
        TransferProgress(completed: completed, total: total, bytesPerSecond: bytesPerSecond).estimatedTimeRemaining
    }
}

extension GroupProgress {
    /// Of one task that runs.
    init(_ progress: TaskProgress, of kind: TaskKind) {
        let direction = kind == .upload ? progress.upload : progress.download
        completed = direction.completed
        total = direction.total
        fraction = direction.fraction ?? 0
        tasks = 1
        bytesPerSecond = direction.bytesPerSecond
    }

    /// The one task has ended.
    mutating func end() {
        total = completed
        fraction = 1
        endedTasks = tasks
        bytesPerSecond = nil
    }

    /// Of several, with their weights.
    init(_ children: some Sequence<(progress: GroupProgress, weight: Double)>) {
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
        // Not a rounding error below.
        if isFinished { fraction = 1 }
    }

    /// Nil where one is not known, or where servers promise more than an `Int64` holds, which is to say nothing.
    private static func sum(_ first: Int64?, _ second: Int64?) -> Int64? {
        guard let first, let second else { return nil }
        let (sum, overflowed) = first.addingReportingOverflow(second)
        return overflowed ? nil : sum
    }
}
