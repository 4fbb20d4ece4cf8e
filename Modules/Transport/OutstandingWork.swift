internal import Synchronization

/// Counts the requests that still need the event loops, so that these are not ended under them.
final class OutstandingWork: Sendable {
    private struct State {
        var count = 0
        var waiters: [UnsafeContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func begin() {
        state.withLock { $0.count += 1 }
    }

    func end() {
        let waiters = state.withLock { state -> [UnsafeContinuation<Void, Never>] in
            state.count -= 1
            guard state.count == 0 else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when nothing is left.
    func drained() async {
        await withUnsafeContinuation { continuation in
            let isDrained = state.withLock { state in
                if state.count > 0 { state.waiters.append(continuation) }
                return state.count == 0
            }
            if isDrained { continuation.resume() }
        }
    }
}
