internal import NIOCore
internal import Synchronization

/// Passes the bytes of a response from a connection's event loop to the task that reads them, with backpressure.
///
/// When the buffered bytes reach the high-water mark, the event loop stops reading from the socket until the reader has
/// taken all of them. The reader takes all buffered bytes at once, so that the socket is read while it processes them.
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
        /// The connection's side, until the end of the body.
        var producer: Producer?
        /// An object kept alive until the bytes buffered before the end are read.
        var kept: (any AnyObject & Sendable)?
    }

    /// The requests of the reader to the connection. They retain the exchange, which retains the channel: the channel
    /// releases them at the end of the body, so that the cycle lasts no longer than the exchange.
    private struct Producer {
        let resumeReading: @Sendable () -> Void
        let abandonExchange: @Sendable (TransportError) -> Void
    }

    private enum Step {
        case ready(Result<Batch?, TransportError>, resuming: Producer?)
        case wait
    }

    /// The action after a push.
    private enum PushAction {
        case none
        case wake(Waiter, Batch)
        case wakeLater
    }

    private static let highWaterMark = 256 * 1024

    private let state: Mutex<State>
    private let runLater: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

    /// Creates a channel. `runLater` schedules a closure on the event loop after the socket has been read as far as
    /// possible: a waiting reader is resumed then, once for all bytes; without it, each push resumes the reader.
    /// `runLater` must not retain the exchange; the other closures may, and are released at the end of the body.
    init(
        runLater: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil,
        resumeReading: @escaping @Sendable () -> Void,
        abandonExchange: @escaping @Sendable (TransportError) -> Void
    ) {
        self.runLater = runLater
        state = Mutex(
            State(producer: Producer(resumeReading: resumeReading, abandonExchange: abandonExchange)))
    }

    // MARK: Event loop

    /// Adds bytes. Returns false if the socket should not be read until the reader asks.
    func push(_ buffer: ByteBuffer) -> Bool {
        push(CollectionOfOne(buffer))
    }

    /// Adds several buffers at once.
    func push(_ buffers: some Collection<ByteBuffer>) -> Bool {
        let (action, goesOn) = state.withLock { state -> (PushAction, Bool) in
            guard state.end == nil else { return (.none, true) }
            state.buffers.append(contentsOf: buffers)
            for buffer in buffers { state.bytes += buffer.readableBytes }
            if state.waiter != nil { return (wakingAction(&state), true) }
            // Stays set until the reader has asked, since the loop stops reading once it is set.
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

    /// Keeps an object alive until the last bytes are read or dropped. Called before the end of the body.
    func keep(_ object: (any AnyObject & Sendable)?) {
        guard let object else { return }
        state.withLock { if !$0.buffers.isEmpty { $0.kept = object } }
    }

    /// Ends the body with its completion or an error. Only the first call has an effect.
    func finish(_ end: Result<TransportResponseBody.Completion, TransportError>) {
        let (woken, producer) = state.withLock { state -> ((Waiter, Result<Batch?, TransportError>)?, Producer?) in
            guard state.end == nil else { return (nil, nil) }
            state.end = end
            let producer = state.producer.take()
            guard let waiter = state.waiter, case .ready(let result, _) = Self.take(&state) else {
                return (nil, producer)
            }
            state.waiter = nil
            return ((waiter, result), producer)
        }
        // Released after unlocking: it may hold the last reference to the exchange.
        withExtendedLifetime(producer) {}
        if let (waiter, result) = woken { waiter.resume(returning: result) }
    }

    /// The action if a reader waits and bytes have arrived.
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

    // MARK: Reader

    var completion: TransportResponseBody.Completion? {
        state.withLock { state in
            if state.buffers.isEmpty, case .success(let completion) = state.end { completion } else { nil }
        }
    }

    /// Returns all buffered bytes, at least one buffer, or nil at the end.
    func nextBatch() async throws(TransportError) -> Batch? {
        // Bytes that are there already are returned without the cancellation handler below.
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

    /// Ends the exchange unless the body has ended.
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

/// The only reader of a ``ResponseBodyChannel``. Releasing it before the end of the body ends the exchange.
final class ResponseBodyReader: Sendable {
    let claim = ReaderClaim()
    private let channel: ResponseBodyChannel

    init(_ channel: ResponseBodyChannel) {
        self.channel = channel
    }

    deinit {
        channel.abandon(TransportError(.cancelled, "The response body was released before its end."))
    }

    var completion: TransportResponseBody.Completion? { channel.completion }

    func nextBatch() async throws(TransportError) -> ResponseBodyChannel.Batch? {
        try await channel.nextBatch()
    }

    /// Cancels the body. Bytes that have arrived can still be read.
    func cancel() {
        channel.abandon(.readerCancelled)
    }
}

extension TransportError {
    static var readerCancelled: TransportError { TransportError(.cancelled, "The request was cancelled.") }

    static var secondReader: TransportError {
        TransportError(
            .bodyHasReader,
            "The body already has a reader; a streamed body can be read only once, by one task at a time.")
    }
}
