internal import Synchronization

/// Something that happens once, and that tests wait for.
public final class Signal: Sendable {
    private struct State {
        var hasFired = false
        var lastKey: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    /// Makes a signal that has not fired.
    public init() {}

    /// Whether it has fired.
    public var hasFired: Bool { state.withLock { $0.hasFired } }

    /// Fires, and lets go on whoever waits. Only the first time counts.
    public func fire() {
        let waiters = state.withLock { state in
            state.hasFired = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when it has fired, or when the caller's task is cancelled.
    public func wait() async {
        let key = state.withLock { state in
            state.lastKey += 1
            return state.lastKey
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = state.withLock { state in
                    if state.hasFired || Task.isCancelled { return true }
                    state.waiters[key] = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: key) }?.resume()
        }
    }
}
