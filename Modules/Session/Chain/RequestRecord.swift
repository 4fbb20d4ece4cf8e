internal import LinnetSerialization
internal import Synchronization

/// What the links of the chain note about one request: its numbers for the log, and what the retriers look at.
final class RequestRecord: Sendable {
    private struct State {
        var attempts = 0
        var sends = 0
        var adapted: Request?
    }

    /// The number of the request in the process.
    let id: UInt64
    private let state = Mutex(State())

    init(id: UInt64) {
        self.id = id
    }

    /// The number of the last attempt, from 1.
    var attempts: Int { state.withLock { $0.attempts } }

    /// The request of the last attempt as the adapters changed it.
    var adapted: Request? { state.withLock { $0.adapted } }

    /// Begins an attempt, and returns its number.
    func nextAttempt() -> Int {
        state.withLock { state in
            state.attempts += 1
            state.adapted = nil
            return state.attempts
        }
    }

    /// Returns the number of a send, from 1. An attempt sends several times when it is redirected or authenticated.
    func nextSend() -> Int {
        state.withLock { state in
            state.sends += 1
            return state.sends
        }
    }

    func adapt(_ request: Request) {
        state.withLock { $0.adapted = request }
    }
}
