internal import FoundationEssentials
internal import LinnetTransport
internal import Synchronization

/// Passes a stream task's response from its work to its reader: first the head, then the body, with one chunk buffered at
/// most.
final class StreamLink: Sendable {
    typealias Completion = TransportResponseBody.Completion
    typealias Head = Result<StreamedResponse, SessionError>

    private struct State {
        /// The response with an empty body, or the task's error; nil until either is known.
        var head: Head?
        weak var reader: HandedReader?
        var hasReader = false
        var chunk: Data?
        var end: Result<Completion?, SessionError>?
        var headWaiters: [UInt64: CheckedContinuation<Head, Never>] = [:]
        var lastKey: UInt64 = 0
        var taker: CheckedContinuation<Result<Data?, SessionError>, Never>?
        var giver: CheckedContinuation<Bool, Never>?
        var isReaderGone = false
    }

    private let state = Mutex(State())

    // MARK: Methods for the work

    /// Delivers the head.
    func begin(_ response: StreamedResponse) {
        var head = response
        head.body = .whole(Data())
        settle(.success(head))
    }

    /// Delivers a chunk once the previous one was taken; returns false if the reader is gone or the work was cancelled.
    func give(_ chunk: Data) async -> Bool {
        guard await waitForRoom() else { return false }
        let taker = state.withLock { state in
            if state.taker == nil { state.chunk = chunk }
            defer { state.taker = nil }
            return state.taker
        }
        taker?.resume(returning: .success(chunk))
        return true
    }

    /// Ends the stream. Only the first call has an effect.
    func end(_ end: Result<Completion?, SessionError>) {
        let (taker, giver) = state.withLock { state in
            if state.end == nil { state.end = end }
            defer { (state.taker, state.giver) = (nil, nil) }
            return (state.taker, state.giver)
        }
        taker?.resume(returning: end.map { _ in nil })
        giver?.resume(returning: false)
        settle(.failure(end.error ?? .cancelled(nil)))
    }

    private func settle(_ head: Head) {
        let waiters = state.withLock { state in
            guard state.head == nil else { return [CheckedContinuation<Head, Never>]() }
            state.head = head
            defer { state.headWaiters = [:] }
            return Array(state.headWaiters.values)
        }
        for waiter in waiters { waiter.resume(returning: head) }
    }

    private func waitForRoom() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { giver in
                let answer = state.withLock { state -> Bool? in
                    if state.isReaderGone || state.end != nil || Task.isCancelled { return false }
                    if state.chunk == nil { return true }
                    state.giver = giver
                    return nil
                }
                if let answer { giver.resume(returning: answer) }
            }
        } onCancel: {
            takeGiver()?.resume(returning: false)
        }
    }

    private func takeGiver() -> CheckedContinuation<Bool, Never>? {
        state.withLock { state in
            defer { state.giver = nil }
            return state.giver
        }
    }

    // MARK: Methods for the reader

    var completion: Completion? {
        state.withLock { state in
            if state.chunk == nil, case .success(let completion) = state.end { completion } else { nil }
        }
    }

    /// Waits for the head, and returns the response. All callers share one reader; if it is deallocated before the end, the task
    /// is cancelled.
    func response(leaving: @escaping @Sendable () -> Void) async throws(SessionError) -> StreamedResponse {
        var response = try await head().get()
        let reader = state.withLock { state -> HandedReader? in
            if let reader = state.reader { return reader }
            guard !state.hasReader else { return nil }
            let reader = HandedReader(self, leaving: leaving)
            state.hasReader = true
            state.reader = reader
            return reader
        }
        guard let reader else {
            throw SessionError(.cancelled, "The response was dropped before its end.", url: response.url)
        }
        response.body = .handed(reader)
        return response
    }

    private func head() async -> Head {
        let key = state.withLock { state in
            state.lastKey += 1
            return state.lastKey
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let head = state.withLock { state -> Head? in
                    if let head = state.head { return head }
                    if Task.isCancelled { return .failure(.cancelled(nil)) }
                    state.headWaiters[key] = waiter
                    return nil
                }
                if let head { waiter.resume(returning: head) }
            }
        } onCancel: {
            state.withLock { $0.headWaiters.removeValue(forKey: key) }?.resume(returning: .failure(.cancelled(nil)))
        }
    }

    /// Waits for the next chunk, and returns nil at the end. Cancelling the caller's task ends the stream for its reader.
    func take() async throws(SessionError) -> Data? {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { taker in
                let (answer, giver) = state.withLock { state in Self.take(&state, taker) }
                giver?.resume(returning: true)
                if let answer { taker.resume(returning: answer) }
            }
        } onCancel: {
            readerLeft()
            let taker = state.withLock { state in
                defer { state.taker = nil }
                return state.taker
            }
            taker?.resume(returning: .failure(.cancelled(nil)))
        }
        return try result.get()
    }

    private static func take(
        _ state: inout State, _ taker: CheckedContinuation<Result<Data?, SessionError>, Never>
    ) -> (Result<Data?, SessionError>?, CheckedContinuation<Bool, Never>?) {
        if let chunk = state.chunk {
            defer { (state.chunk, state.giver) = (nil, nil) }
            return (.success(chunk), state.giver)
        }
        if let end = state.end { return (end.map { _ in nil }, nil) }
        if state.isReaderGone || Task.isCancelled { return (.failure(.cancelled(nil)), nil) }
        guard state.taker == nil else { return (.failure(.secondReader), nil) }
        state.taker = taker
        return (nil, nil)
    }

    /// Records that the reader is gone; returns whether the stream had already ended.
    @discardableResult
    func readerLeft() -> Bool {
        let hasEnded = state.withLock { state in
            state.isReaderGone = true
            return state.end != nil
        }
        takeGiver()?.resume(returning: false)
        return hasEnded
    }
}

extension SessionError {
    fileprivate static var secondReader: SessionError {
        SessionError(.transportFailed, "The body has a reader that waits for its next bytes; only one is allowed.")
    }
}

/// The only reader of a ``StreamLink``. Its deallocation before the end cancels the task.
final class HandedReader: Sendable {
    private let link: StreamLink
    private let leaving: @Sendable () -> Void

    init(_ link: StreamLink, leaving: @escaping @Sendable () -> Void) {
        self.link = link
        self.leaving = leaving
    }

    deinit {
        if !link.readerLeft() { leaving() }
    }

    var completion: StreamLink.Completion? { link.completion }

    func next() async throws(SessionError) -> Data? {
        try await link.take()
    }
}
