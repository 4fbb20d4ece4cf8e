internal import NIOCore
internal import Synchronization

/// Carries a response's bytes from a connection's event loop to the task that reads them, under backpressure.
///
/// The loop pushes; once more than the high-water mark is waiting it stops reading from the socket, until the reader has
/// taken all of it. The reader takes all that waits at once, so that the socket is read on while it works.
final class ResponseBodyChannel: Sendable {
    typealias Batch = CircularBuffer<ByteBuffer>
    typealias Waiter = UnsafeContinuation<Result<Batch?, TransportError>, Never>

    private struct State {
        var buffers = Batch()
        var bytes = 0
        var isPaused = false
        var isWakeUpDue = false
        var waiter: Waiter?
        var end: Result<TransportResponseBody.Completion, TransportError>?
        /// What fills the channel, until the body's end.
        var producer: Producer?
        /// What goes with the bytes that wait behind the end.
        var kept: (any AnyObject & Sendable)?
    }

    /// What the reader asks of the connection. It holds the exchange, which holds the channel: the channel lets it go with
    /// the body's end, so that the two hold each other no longer than the exchange lasts.
    private struct Producer {
        let resumeReading: @Sendable () -> Void
        let abandonExchange: @Sendable (TransportError) -> Void
    }

    private enum Step {
        case ready(Result<Batch?, TransportError>, resuming: Producer?)
        case wait
    }

    /// What a push leads to.
    private enum PushAction {
        case none
        case wake(Waiter, Batch)
        case wakeLater
    }

    private static let highWaterMark = 256 * 1024

    private let state: Mutex<State>
    private let runLater: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

    /// Makes a channel. `runLater` runs a closure on the event loop once the socket was read as far as it goes: a reader
    /// that waits is woken then, once for all that came; without it, it is woken by each push. It must not hold the
    /// exchange; the other two may, and are let go with the body's end.
    init(
        runLater: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil,
        resumeReading: @escaping @Sendable () -> Void,
        abandonExchange: @escaping @Sendable (TransportError) -> Void
    ) {
        self.runLater = runLater
        state = Mutex(
            State(producer: Producer(resumeReading: resumeReading, abandonExchange: abandonExchange)))
    }

    // MARK: The event loop's end

    /// Hands over bytes; false when the socket should not be read until the reader asks.
    func push(_ buffer: ByteBuffer) -> Bool {
        push(CollectionOfOne(buffer))
    }

    /// Hands over all that has come at a time.
    func push(_ buffers: some Collection<ByteBuffer>) -> Bool {
        let (action, goesOn) = state.withLock { state -> (PushAction, Bool) in
            guard state.end == nil else { return (.none, true) }
            state.buffers.append(contentsOf: buffers)
            for buffer in buffers { state.bytes += buffer.readableBytes }
            if state.waiter != nil { return (wakingAction(&state), true) }
            // Stays set until the reader has asked: the loop has stopped reading by then, whatever came after.
            state.isPaused = state.isPaused || state.bytes >= Self.highWaterMark
            return (.none, !state.isPaused)
        }
        switch action {
        case .none: break
        case .wake(let waiter, let batch): waiter.resume(returning: .success(batch))
        case .wakeLater: runLater? { self.wake() }
        }
        return goesOn
    }

    /// Holds something until the last bytes are read or dropped. The body's end follows.
    func keep(_ object: (any AnyObject & Sendable)?) {
        guard let object else { return }
        state.withLock { if !$0.buffers.isEmpty { $0.kept = object } }
    }

    /// Says that the body is complete, or why it will not be. Only the first call counts.
    func finish(_ end: Result<TransportResponseBody.Completion, TransportError>) {
        // The producer goes after the lock: it may be the last to hold the exchange.
        let (woken, _) = state.withLock { state -> ((Waiter, Result<Batch?, TransportError>)?, Producer?) in
            guard state.end == nil else { return (nil, nil) }
            state.end = end
            let producer = state.producer.take()
            guard let waiter = state.waiter, case .ready(let result, _) = Self.take(&state) else {
                return (nil, producer)
            }
            state.waiter = nil
            return ((waiter, result), producer)
        }
        if let (waiter, result) = woken { waiter.resume(returning: result) }
    }

    /// A reader waits, and there are bytes for it.
    private func wakingAction(_ state: inout State) -> PushAction {
        if runLater != nil, state.bytes < Self.highWaterMark {
            guard !state.isWakeUpDue else { return .none }
            state.isWakeUpDue = true
            return .wakeLater
        }
        guard let waiter = state.waiter, case .ready(.success(let batch?), _) = Self.take(&state) else { return .none }
        state.waiter = nil
        return .wake(waiter, batch)
    }

    private func wake() {
        let woken = state.withLock { state -> (Waiter, Result<Batch?, TransportError>)? in
            state.isWakeUpDue = false
            guard let waiter = state.waiter, case .ready(let result, _) = Self.take(&state) else { return nil }
            state.waiter = nil
            return (waiter, result)
        }
        if let (waiter, result) = woken { waiter.resume(returning: result) }
    }

    // MARK: The reader's end

    var completion: TransportResponseBody.Completion? {
        state.withLock { state in
            if state.buffers.isEmpty, case .success(let completion) = state.end { completion } else { nil }
        }
    }

    /// All buffers that wait, at least one; nil at the end.
    func nextBatch() async throws(TransportError) -> Batch? {
        if Task.isCancelled { abandon(.readerCancelled) }
        if case .ready(let result, let producer) = state.withLock({ Self.take(&$0) }) {
            producer?.resumeReading()
            return try result.get()
        }
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let step = state.withLock { state -> Step in
                    let step = Self.take(&state)
                    guard case .wait = step else { return step }
                    guard state.waiter == nil else { return .ready(.failure(.secondReader), resuming: nil) }
                    state.waiter = continuation
                    return step
                }
                guard case .ready(let result, let producer) = step else { return }
                producer?.resumeReading()
                continuation.resume(returning: result)
            }
        } onCancel: {
            abandon(.readerCancelled)
        }.get()
    }

    /// Ends the exchange, unless the body's end is there already.
    func abandon(_ error: TransportError) {
        guard let producer = state.withLock({ $0.producer }) else { return }
        finish(.failure(error))
        producer.abandonExchange(error)
    }

    private static func take(_ state: inout State) -> Step {
        if !state.buffers.isEmpty {
            let batch = state.buffers
            state.buffers = Batch()
            state.kept = nil
            state.bytes = 0
            let producer = state.isPaused ? state.producer : nil
            state.isPaused = false
            return .ready(.success(batch), resuming: producer)
        }
        guard let end = state.end else { return .wait }
        return .ready(end.map { _ in nil }, resuming: nil)
    }
}

/// The one reader of a ``ResponseBodyChannel``. Dropping it before the body's end ends the exchange.
final class ResponseBodyReader: Sendable {
    private let channel: ResponseBodyChannel

    init(_ channel: ResponseBodyChannel) {
        self.channel = channel
    }

    deinit {
        channel.abandon(TransportError(.cancelled, "The response's body was dropped before its end."))
    }

    var completion: TransportResponseBody.Completion? { channel.completion }

    func nextBatch() async throws(TransportError) -> ResponseBodyChannel.Batch? {
        try await channel.nextBatch()
    }

    /// The reader's task was cancelled; what has come by then can still be read.
    func cancel() {
        channel.abandon(.readerCancelled)
    }
}

extension TransportError {
    static var readerCancelled: TransportError { TransportError(.cancelled, "The request was cancelled.") }

    static var secondReader: TransportError {
        TransportError(.bodyHasReader, "Somebody else waits for the next bytes of this body, which has one reader.")
    }
}
