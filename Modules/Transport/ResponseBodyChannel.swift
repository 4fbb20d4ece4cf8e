internal import NIOCore
internal import Synchronization

/// Carries a response's bytes from a connection's event loop to the task that reads them, under backpressure.
///
/// The loop pushes; once more than the high-water mark is waiting it stops reading from the socket, until the reader has
/// taken all of it and asks for more.
final class ResponseBodyChannel: Sendable {
    typealias Waiter = UnsafeContinuation<Result<ByteBuffer?, TransportError>, Never>

    private struct State {
        var buffers = CircularBuffer<ByteBuffer>()
        var bytes = 0
        var isPaused = false
        var waiter: Waiter?
        var end: Result<TransportResponseBody.Completion, TransportError>?
    }

    private enum Step {
        case ready(Result<ByteBuffer?, TransportError>, resumesReading: Bool)
        case wait
    }

    private static let highWaterMark = 256 * 1024

    private let state = Mutex(State())
    private let resumeReading: @Sendable () -> Void
    private let abandonExchange: @Sendable (TransportError) -> Void

    init(
        resumeReading: @escaping @Sendable () -> Void,
        abandonExchange: @escaping @Sendable (TransportError) -> Void
    ) {
        self.resumeReading = resumeReading
        self.abandonExchange = abandonExchange
    }

    // MARK: The event loop's end

    /// Hands over bytes; false when the socket should not be read until the reader asks.
    func push(_ buffer: ByteBuffer) -> Bool {
        let (waiter, goesOn) = state.withLock { state -> (Waiter?, Bool) in
            guard state.end == nil else { return (nil, true) }
            if let waiter = state.waiter {
                state.waiter = nil
                return (waiter, true)
            }
            state.buffers.append(buffer)
            state.bytes += buffer.readableBytes
            // Stays set until the reader has asked: the loop has stopped reading by then, whatever came after.
            state.isPaused = state.isPaused || state.bytes >= Self.highWaterMark
            return (nil, !state.isPaused)
        }
        waiter?.resume(returning: .success(buffer))
        return goesOn
    }

    /// Says that the body is complete, or why it will not be. Only the first call counts.
    func finish(_ end: Result<TransportResponseBody.Completion, TransportError>) {
        let waiter = state.withLock { state -> Waiter? in
            guard state.end == nil else { return nil }
            state.end = end
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: end.map { _ in nil })
    }

    // MARK: The reader's end

    var completion: TransportResponseBody.Completion? {
        state.withLock { state in
            if state.buffers.isEmpty, case .success(let completion) = state.end { completion } else { nil }
        }
    }

    func next() async throws(TransportError) -> ByteBuffer? {
        if Task.isCancelled { abandon(.readerCancelled) }
        if case .ready(let result, let resumes) = state.withLock({ Self.take(&$0) }) {
            if resumes { resumeReading() }
            return try result.get()
        }
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let step = state.withLock { state -> Step in
                    let step = Self.take(&state)
                    if case .wait = step { state.waiter = continuation }
                    return step
                }
                guard case .ready(let result, let resumes) = step else { return }
                if resumes { resumeReading() }
                continuation.resume(returning: result)
            }
        } onCancel: {
            abandon(.readerCancelled)
        }.get()
    }

    /// Ends the exchange, unless the body's end is there already.
    func abandon(_ error: TransportError) {
        let isOver = state.withLock { $0.end != nil }
        guard !isOver else { return }
        finish(.failure(error))
        abandonExchange(error)
    }

    private static func take(_ state: inout State) -> Step {
        if let buffer = state.buffers.popFirst() {
            state.bytes -= buffer.readableBytes
            let resumes = state.isPaused && state.buffers.isEmpty
            if resumes { state.isPaused = false }
            return .ready(.success(buffer), resumesReading: resumes)
        }
        guard let end = state.end else { return .wait }
        return .ready(end.map { _ in nil }, resumesReading: false)
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

    func next() async throws(TransportError) -> ByteBuffer? {
        try await channel.next()
    }
}

extension TransportError {
    static var readerCancelled: TransportError { TransportError(.cancelled, "The request was cancelled.") }
}
