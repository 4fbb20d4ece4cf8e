internal import LinnetCache
internal import LinnetTransport
internal import Synchronization

/// The validations that run in the background (RFC 5861, section 3): at most one for each key. They end with their
/// session.
final class CacheRefreshes: Sendable {
    private struct State {
        var tasks: [CacheKey: Task<Void, Never>] = [:]
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// Runs an operation, unless one runs for the key, or the session has ended.
    func start(_ key: CacheKey, _ operation: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.hasEnded, state.tasks[key] == nil else { return }
            // It cannot reach its end before the lock is released.
            state.tasks[key] = Task {
                await operation()
                self.ended(key)
            }
        }
    }

    /// Starts no more validations, and waits for the running ones; an immediate shutdown cancels them.
    func end(_ mode: ShutdownMode) async {
        let tasks = state.withLock { state in
            state.hasEnded = true
            return Array(state.tasks.values)
        }
        if mode == .immediate {
            for task in tasks { task.cancel() }
        }
        for task in tasks { await task.value }
    }

    private func ended(_ key: CacheKey) {
        _ = state.withLock { $0.tasks.removeValue(forKey: key) }
    }
}
