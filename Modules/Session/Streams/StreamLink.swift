internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetTransport
internal import Synchronization

/// Passes a stream task's response from its work to its reader: first the head, then the body, with one chunk buffered
/// at most.
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
        var headWaiters = Waiters<Head>()
        /// The reader that waits for a chunk, at most one.
        var takers = Waiters<Result<Data?, SessionError>>()
        /// The work that waits for the chunk to be taken, at most one.
        var givers = Waiters<Bool>()
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
            let taker = state.takers.takeFirst()
            if taker == nil { state.chunk = chunk }
            return taker
        }
        taker?.resume(returning: .success(chunk))
        return true
    }

    /// Ends the stream. Only the first call has an effect.
    func end(_ end: Result<Completion?, SessionError>) {
        let (taker, giver) = state.withLock { state in
            if state.end == nil { state.end = end }
            return (state.takers.takeFirst(), state.givers.takeFirst())
        }
        taker?.resume(returning: end.map { _ in nil })
        giver?.resume(returning: false)
        // Without effect once the head has been delivered.
        settle(.failure(end.error ?? .cancelled(nil)))
    }

    private func settle(_ head: Head) {
        let waiters = state.withLock { state in
            guard state.head == nil else { return [Waiters<Head>.Waiter]() }
            state.head = head
            return state.headWaiters.takeAll()
        }
        for waiter in waiters { waiter.resume(returning: head) }
    }

    private func waitForRoom() async -> Bool {
        await state.wait(in: { $1(&$0.givers) }, ifCancelled: { false }) { state in
            if state.isReaderGone || state.end != nil || Task.isCancelled { return false }
            return state.chunk == nil ? true : nil
        }
    }

    // MARK: Methods for the reader

    var completion: Completion? {
        state.withLock { state in
            if state.chunk == nil, case .success(let completion) = state.end { completion } else { nil }
        }
    }

    /// Waits for the head, and returns the response. All callers share one reader; if it is deallocated before the end,
    /// the task is cancelled.
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
        response.body = HTTPResponseBody(reader)
        return response
    }

    private func head() async -> Head {
        await state.wait(in: { $1(&$0.headWaiters) }, ifCancelled: { .failure(.cancelled(nil)) }) { $0.head }
    }

    /// Waits for the next chunk, and returns nil at the end.
    func take() async throws(SessionError) -> Data? {
        var giver: Waiters<Bool>.Waiter?
        let result = await state.wait(in: { $1(&$0.takers) }, ifCancelled: { .failure(.cancelled(nil)) }) { state in
            // Before the end, which may be known while the last chunk still waits.
            if let chunk = state.chunk {
                state.chunk = nil
                giver = state.givers.takeFirst()
                return .success(chunk)
            }
            if let end = state.end { return end.map { _ in nil } }
            if state.isReaderGone || Task.isCancelled { return .failure(.cancelled(nil)) }
            return state.takers.isEmpty ? nil : .failure(.bodyHasReader(nil))
        }
        giver?.resume(returning: true)
        return try result.get()
    }

    /// Records that the reader is gone; returns whether the stream had already ended.
    func readerLeft() -> Bool {
        let (hasEnded, giver) = state.withLock { state in
            state.isReaderGone = true
            return (state.end != nil, state.givers.takeFirst())
        }
        giver?.resume(returning: false)
        return hasEnded
    }
}

/// The only reader of a ``StreamLink``. Its deallocation before the end cancels the task, and so does cancelling a
/// read.
final class HandedReader: ResponseBodyLayer {
    private let claim = ReaderClaim()
    private let link: StreamLink
    private let leaving: @Sendable () -> Void

    init(_ link: StreamLink, leaving: @escaping @Sendable () -> Void) {
        self.link = link
        self.leaving = leaving
    }

    deinit {
        leave()
    }

    var base: HTTPResponseBody? { nil }
    var completion: StreamLink.Completion? { link.completion }

    func claimReader() -> Bool { claim.take() }

    func makeSource() -> any ResponseBodySource { HandedSource(reader: self) }

    func next() async throws(SessionError) -> Data? {
        let chunk = await withTaskCancellationHandler {
            await Result { () async throws(SessionError) in try await link.take() }
        } onCancel: {
            leave()
        }
        return try chunk.get()
    }

    private func leave() {
        if !link.readerLeft() { leaving() }
    }
}
