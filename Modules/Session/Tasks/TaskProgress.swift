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

    /// Makes a progress.
    public init(completed: Int64 = 0, total: Int64? = nil) {
        self.completed = completed
        self.total = total
    }

    /// The part that is done, from 0 to 1; nil while the total is unknown.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }

    /// Whether all bytes are there.
    public var isFinished: Bool {
        total.map { completed >= $0 } ?? false
    }
}
