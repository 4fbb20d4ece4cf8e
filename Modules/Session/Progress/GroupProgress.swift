/// How far the tasks of a ``ProgressGroup`` have come together.
public struct GroupProgress: Sendable, Hashable {
    /// The bytes of all tasks so far: an upload's are those it sent, any other task's those it received.
    public var completed: Int64 = 0
    /// The bytes in all; nil while some task's are unknown.
    public var total: Int64? = 0
    /// The part that is done, from 0 to 1, each task counted by its weight: by its bytes while it runs, where their number
    /// is known, and whole once it has ended, well or not.
    public var fraction = 0.0
    /// How many tasks there are, those of groups in the group included.
    public var tasks = 0
    /// How many of them have ended.
    public var endedTasks = 0
    /// How many bytes come in a second, in all; nil while nothing is known of any.
    public var bytesPerSecond: Double?

    /// No tasks.
    public init() {}

    /// Whether all tasks have ended; there is at least one.
    public var isFinished: Bool { tasks > 0 && endedTasks == tasks }

    /// How long the rest will take if it goes on as it did of late; nil while the total or the throughput is unknown.
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
