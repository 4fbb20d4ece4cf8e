/// The progress of a task in each direction.
public struct TaskProgress: Sendable, Hashable {
    /// The progress of the request's body, in bytes that the socket accepted.
    public var upload = TransferProgress()
    /// The progress of the response's body, in bytes that were received.
    public var download = TransferProgress()

    /// Creates a progress without bytes.
    public init() {}
}

/// The progress of the bytes in one direction.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes transferred so far. It never decreases, even when a request is sent again.
    public var completed: Int64
    /// The total number of bytes; nil while it is unknown. After a success it is known.
    public var total: Int64?
    /// The throughput in bytes per second, measured over the last three seconds at most; it decreases while no bytes
    /// are transferred. Nil until it can be measured, and once the task has ended.
    public var bytesPerSecond: Double?

    /// Creates a progress.
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

    /// The estimated remaining time at the recent throughput; nil while the total or the throughput is unknown, or the
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
