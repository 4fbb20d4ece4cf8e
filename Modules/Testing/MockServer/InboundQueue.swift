internal import Synchronization

/// What has arrived on a connection and waits for the one task that reads it.
///
/// A full queue stops the reading from the socket, so that a server which does not ask lets its client wait.
final class InboundQueue<Part: Sendable>: Sendable {
    private struct Shared {
        var machine = InboundQueueMachine<Part>()
        /// It holds the handler, which holds the queue: it goes when the connection has ended.
        var demand: (@Sendable () -> Void)?
    }

    private let shared = Mutex(Shared())

    /// Sets what is called, on any thread, when the channel is to read again.
    func onDemand(_ demand: @escaping @Sendable () -> Void) {
        shared.withLock { if !$0.machine.isFinished { $0.demand = demand } }
    }

    /// Whether the channel may read; when not, demand is called once it may.
    func mayRead() -> Bool {
        shared.withLock { $0.machine.mayRead() }
    }

    func push(_ part: Part) {
        perform { $0.push(part) }
    }

    func finish(_ error: (any Error)? = nil) {
        perform { $0.finish(error) }
    }

    /// The next part; nil when the connection was closed.
    func next() async throws -> Part? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                perform { $0.pull(continuation, isCancelled: Task.isCancelled) }
            }
        } onCancel: {
            perform { $0.cancel() }
        }
    }

    private func perform(_ event: (inout InboundQueueMachine<Part>) -> InboundQueueMachine<Part>.Action) {
        let (action, demand) = shared.withLock { shared in
            let demand = shared.demand
            let action = event(&shared.machine)
            if shared.machine.isFinished { shared.demand = nil }
            return (action, demand)
        }
        if let (continuation, result) = action.delivery { continuation.resume(with: result) }
        if action.reads { demand?() }
    }
}

/// The state of an ``InboundQueue``.
struct InboundQueueMachine<Part: Sendable> {
    typealias Continuation = CheckedContinuation<Part?, any Error>

    /// What is to be done once the lock is free.
    struct Action {
        var delivery: (Continuation, Result<Part?, any Error>)?
        var reads = false
    }

    private static var capacity: Int { 4 }

    private var parts: [Part] = []
    private var waiter: Continuation?
    private var isReadHeld = false
    private(set) var isFinished = false
    private var error: (any Error)?

    mutating func mayRead() -> Bool {
        isReadHeld = parts.count >= Self.capacity && !isFinished
        return !isReadHeld
    }

    mutating func push(_ part: Part) -> Action {
        guard !isFinished else { return Action() }
        guard let waiter else {
            parts.append(part)
            return Action()
        }
        self.waiter = nil
        return Action(delivery: (waiter, .success(part)))
    }

    mutating func finish(_ error: (any Error)?) -> Action {
        guard !isFinished else { return Action() }
        isFinished = true
        // What comes after is let through, so that the end of the connection is seen.
        defer { isReadHeld = false }
        guard let waiter else {
            self.error = error
            return Action(reads: isReadHeld)
        }
        self.waiter = nil
        return Action(delivery: (waiter, error.map { .failure($0) } ?? .success(nil)), reads: isReadHeld)
    }

    mutating func pull(_ continuation: Continuation, isCancelled: Bool) -> Action {
        if !parts.isEmpty {
            let part = parts.removeFirst()
            return Action(delivery: (continuation, .success(part)), reads: takeHeldRead())
        }
        if isFinished {
            defer { error = nil }
            return Action(delivery: (continuation, error.map { .failure($0) } ?? .success(nil)))
        }
        // What has arrived is handed out also to a cancelled task: a client may leave right after its last word.
        if isCancelled { return Action(delivery: (continuation, .failure(CancellationError()))) }
        guard waiter == nil else {
            let error = TestingError(.concurrentRead, "Only one task at a time can read from a connection.")
            return Action(delivery: (continuation, .failure(error)))
        }
        waiter = continuation
        return Action(reads: takeHeldRead())
    }

    mutating func cancel() -> Action {
        guard let waiter else { return Action() }
        self.waiter = nil
        return Action(delivery: (waiter, .failure(CancellationError())))
    }

    private mutating func takeHeldRead() -> Bool {
        guard isReadHeld, parts.count < Self.capacity else { return false }
        isReadHeld = false
        return true
    }
}
