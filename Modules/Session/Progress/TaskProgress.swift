/// The progress of a task in each direction.
public struct TaskProgress: Sendable, Hashable {
    /// The request's body: bytes that the socket accepted.
    public var upload = TransferProgress()
    /// The response's body: bytes that arrived.
    public var download = TransferProgress()

    /// No bytes in either direction.
    public init() {}
}

/// The progress of the bytes in one direction.
public struct TransferProgress: Sendable, Hashable {
    /// The bytes so far. The number never decreases, even when a request is sent again.
    public var completed: Int64
    /// The bytes in all; nil while the number is unknown. After a success it is known.
    public var total: Int64?
    /// The throughput in bytes per second, over the last three seconds at most; it decreases while no bytes arrive. Nil until
    /// it can be measured, and once the task has ended.
    public var bytesPerSecond: Double?

    /// Makes a progress.
    public init(completed: Int64 = 0, total: Int64? = nil, bytesPerSecond: Double? = nil) {
        self.completed = completed
        self.total = total
        self.bytesPerSecond = bytesPerSecond
    }

    /// The completed fraction, from 0 to 1; nil while the total is unknown.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }

    /// The estimated time for the rest at the recent throughput; nil while the total or the throughput is unknown, or the
    /// throughput is zero.
    public var estimatedTimeRemaining: Duration? {
        guard let total, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        let seconds = Double(max(0, total - completed)) / bytesPerSecond
        return seconds < 1e9 ? .seconds(seconds) : nil
    }

    /// Whether all bytes were transferred.
    public var isFinished: Bool {
        total.map { completed >= $0 } ?? false
    }
}
