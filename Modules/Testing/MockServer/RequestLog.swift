internal import LinnetMessages
internal import LinnetTransport
internal import Synchronization

/// The requests and failures that a ``MockServer`` has recorded, and the tasks that wait for the next request.
final class RequestLog: Sendable {
    private typealias Next = Result<RecordedRequest, TestingError>

    private struct State {
        var requests: [RecordedRequest] = []
        var failures: [MockServer.ConnectionFailure] = []
        var resets: [MockServer.StreamReset] = []
        /// The number of requests that ``next()`` has returned.
        var returned = 0
        var waiters = Waiters<Next>()
        var isFinished = false
    }

    private let state = Mutex(State())

    var requests: [RecordedRequest] { state.withLock { $0.requests } }
    var failures: [MockServer.ConnectionFailure] { state.withLock { $0.failures } }
    var resets: [MockServer.StreamReset] { state.withLock { $0.resets } }

    /// Adds a request, and returns its index for ``update(_:_:)``.
    @discardableResult
    func record(_ request: RecordedRequest) -> Int {
        var request = request
        // The log must not retain the connection.
        request.bodyChunks = RequestBodyChunks(.bytes(request.body))
        let (place, waiter) = state.withLock { [request] state in
            state.requests.append(request)
            let waiter = state.waiters.takeFirst()
            if waiter != nil { state.returned += 1 }
            return (state.requests.count - 1, waiter)
        }
        waiter?.resume(returning: .success(request))
        return place
    }

    func update(_ place: Int, _ change: (inout RecordedRequest) -> Void) {
        state.withLock { change(&$0.requests[place]) }
    }

    func recordFailure(on connectionIndex: Int, _ description: String) {
        state.withLock {
            $0.failures.append(.init(connectionIndex: connectionIndex, description: description))
        }
    }

    func recordReset(_ reset: MockServer.StreamReset) {
        state.withLock { $0.resets.append(reset) }
    }

    func next() async throws(TestingError) -> RecordedRequest {
        let cancelled: @Sendable () -> Next = { .failure(Self.cancelled) }
        let next = await state.wait(in: { $1(&$0.waiters) }, ifCancelled: cancelled) { state -> Next? in
            if Task.isCancelled { return .failure(Self.cancelled) }
            if state.returned < state.requests.count {
                state.returned += 1
                return .success(state.requests[state.returned - 1])
            }
            return state.isFinished ? .failure(Self.shutDown) : nil
        }
        return try next.get()
    }

    /// Fails the waiters: no more requests are recorded.
    func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            return state.waiters.takeAll()
        }
        for waiter in waiters { waiter.resume(returning: .failure(Self.shutDown)) }
    }

    private static var cancelled: TestingError {
        TestingError(.cancelled, "The task was cancelled while it waited for a request.")
    }

    private static var shutDown: TestingError {
        TestingError(.shutDown, "The server was shut down, and all of its requests were returned.")
    }
}
