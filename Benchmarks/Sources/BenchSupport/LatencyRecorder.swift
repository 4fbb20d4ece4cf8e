import Synchronization

/// Notes the latencies of requests that run at the same time.
final class LatencyRecorder: Sendable {
    private struct State {
        var latencies: [Double] = []
        var errors = 0
        var left: Int
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>

    /// - Parameter count: The number of requests, with those that are not recorded.
    init(count: Int) {
        var state = State(left: count)
        state.latencies.reserveCapacity(count)
        self.state = Mutex(state)
    }

    /// Notes that a request has ended. One without a latency is not recorded.
    func end(_ latency: Double?, isError: Bool) {
        let waiter = state.withLock { state in
            if let latency { state.latencies.append(latency) }
            if isError { state.errors += 1 }
            state.left -= 1
            return state.left == 0 ? state.waiter.take() : nil
        }
        waiter?.resume()
    }

    /// Waits until all requests have ended.
    func allEnded() async {
        await withCheckedContinuation { continuation in
            let haveEnded = state.withLock { state in
                if state.left > 0 { state.waiter = continuation }
                return state.left == 0
            }
            if haveEnded { continuation.resume() }
        }
    }

    /// The percentiles of what was recorded, and the number of all requests that failed.
    var result: (Percentiles, errors: Int) {
        state.withLock { (Percentiles($0.latencies), $0.errors) }
    }
}
