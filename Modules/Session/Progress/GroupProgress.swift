/// The combined progress of the tasks of a ``ProgressGroup``.
public struct GroupProgress: Sendable, Hashable {
    /// The transferred bytes of all tasks: those sent by uploads, and those received by other tasks.
    public var completed: Int64 = 0
    /// The total number of bytes; nil while that of any task is unknown.
    public var total: Int64? = 0
    /// The completed fraction, from 0 to 1, as the weighted average of the tasks. A running task counts with the fraction of its
    /// bytes, or 0 while its total is unknown; a task that has ended counts as 1, with or without an error.
    public var fraction = 0.0
    /// The number of tasks, including those of nested groups.
    public var tasks = 0
    /// The number of tasks that have ended.
    public var endedTasks = 0
    /// The total throughput in bytes per second; nil while that of all tasks is unknown.
    public var bytesPerSecond: Double?

    /// Creates the progress of no tasks.
    public init() {}

    /// Whether there is at least one task, and all have ended.
    public var isFinished: Bool { tasks > 0 && endedTasks == tasks }

    /// The estimated remaining time at the recent throughput; nil while the total or the throughput is unknown, or the
    /// throughput is zero.
    public var estimatedTimeRemaining: Duration? {
        TransferProgress(completed: completed, total: total, bytesPerSecond: bytesPerSecond).estimatedTimeRemaining
    }
}

extension GroupProgress {
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
