/// How far a task has come in each direction.
public struct TaskProgress: Sendable, Hashable {
    /// The request's body: bytes that the socket took.
    public var upload = TransferProgress()
    /// The response's body: bytes that arrived.
    public var download = TransferProgress()

    /// No bytes in either direction.
    public init() {}
}

/// How far the bytes of one direction have come.
public struct TransferProgress: Sendable, Hashable {
    /// The bytes so far. They never go back, not even when a request has to be sent again.
    public var completed: Int64
    /// The bytes in all; nil while the number is unknown. After a success it is known.
    public var total: Int64?
    /// How many bytes came in a second, over the last three seconds at most; it falls while nothing comes. Nil until there is
    /// something to measure, and once the task has ended.
    public var bytesPerSecond: Double?

    /// Makes a progress.
    public init(completed: Int64 = 0, total: Int64? = nil, bytesPerSecond: Double? = nil) {
        self.completed = completed
        self.total = total
        self.bytesPerSecond = bytesPerSecond
    }

    /// The part that is done, from 0 to 1; nil while the total is unknown.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }

    /// How long the rest will take if it goes on as it did of late; nil while the total or the throughput is unknown, or
    /// nothing comes.
    public var estimatedTimeRemaining: Duration? {
        guard let total, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        let seconds = Double(max(0, total - completed)) / bytesPerSecond
        return seconds < 1e9 ? .seconds(seconds) : nil
    }

    /// Whether all bytes are there.
    public var isFinished: Bool {
        total.map { completed >= $0 } ?? false
    }
}
