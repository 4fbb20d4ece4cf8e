internal import NIOCore
internal import Synchronization

/// The received parts of a connection or stream, for the one task that reads them.
///
/// A full queue stops reading from the socket, so that a handler which does not read applies backpressure to its
/// client.
final class InboundQueue<Part: Sendable>: Sendable {
    private struct Shared {
        var machine = InboundQueueMachine<Part>()
        /// Released at the end of the connection, because it retains the handler, which retains the queue.
        var demand: (@Sendable () -> Void)?
    }

    private let shared = Mutex(Shared())

    /// Sets the closure that is called, on any thread, when the channel can read again.
    func onDemand(_ demand: @escaping @Sendable () -> Void) {
        shared.withLock { if !$0.machine.isFinished { $0.demand = demand } }
    }

    /// Whether the channel can read. When it cannot, the demand closure is called once it can.
    func mayRead() -> Bool {
        shared.withLock { $0.machine.mayRead() }
    }

    func push(_ part: Part) {
        perform { $0.push(part) }
    }

    func finish(_ error: (any Error)? = nil) {
        perform { $0.finish(error) }
    }

    /// Finishes the queue without a reader: drops what it has and what comes.
    func abandon() {
        perform { $0.abandon() }
    }

    /// Returns the next part; nil when the connection was closed.
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

    /// The action to perform after the lock is released.
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
        // Reading continues, so that the end of the connection is detected.
        defer { isReadHeld = false }
        guard let waiter else {
            self.error = error
            return Action(reads: isReadHeld)
        }
        self.waiter = nil
        return Action(delivery: (waiter, error.map { .failure($0) } ?? .success(nil)), reads: isReadHeld)
    }

    mutating func abandon() -> Action {
        parts = []
        return finish(nil)
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
        // Received parts are also delivered to a cancelled task: a client can close right after its last bytes.
        if isCancelled { return Action(delivery: (continuation, .failure(CancellationError()))) }
        guard waiter == nil else {
            let error = TestingError(.concurrentRead, "Another task already reads from the connection.")
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

/// The last handler of a connection's or stream's pipeline: adds received parts to a queue, and pauses reading while
/// the queue is full.
final class InboundHandler<Part: Sendable>: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = Part
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let queue: InboundQueue<Part>
    private let connection: ServerConnection
    private let onPart: (Part) -> Void
    private var context: ChannelHandlerContext?

    init(_ queue: InboundQueue<Part>, connection: ServerConnection, onPart: @escaping (Part) -> Void) {
        self.queue = queue
        self.connection = connection
        self.onPart = onPart
    }

    /// Adds a handler to the end of a pipeline, and returns its queue.
    static func addQueue(
        of type: Part.Type, to channel: any Channel, _ connection: ServerConnection,
        onPart: @escaping (Part) -> Void = { _ in }
    ) throws -> InboundQueue<Part> {
        let queue = InboundQueue<Part>()
        let handler = InboundHandler(queue, connection: connection, onPart: onPart)
        try channel.pipeline.syncOperations.addHandler(handler)
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        queue.onDemand { bound.eventLoop.execute { bound.value.resumeReading() } }
        return queue
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        queue.finish()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        onPart(part)
        queue.push(part)
    }

    func read(context: ChannelHandlerContext) {
        if queue.mayRead() { context.read() }
    }

    func resumeReading() {
        context?.read()
    }

    func channelInactive(context: ChannelHandlerContext) {
        queue.finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        queue.finish(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        connection.note(event)
        context.fireUserInboundEventTriggered(event)
    }
}
