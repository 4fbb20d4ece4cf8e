internal import Synchronization

/// Counts running requests, and lets others wait until there are none.
///
/// ```swift
/// let group = CompletionGroup()
/// let session = try Session { $0.completionGroup = group }
/// // … start requests …
/// await group.wait()
/// ```
/// A request counts from its start until its callbacks were called, a suspended one too. One that was never started does
/// not count. Sessions may share a group, and whoever has work of their own can add it with ``enter()`` and ``leave()``.
public final class CompletionGroup: Sendable {
    private struct State {
        var count = 0
        var lastKey: UInt64 = 0
        var waiters: [UInt64: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// Makes a group in which nothing runs.
    public init() {}

    /// How many run now.
    public var count: Int { state.withLock { $0.count } }

    /// Something began.
    public func enter() {
        state.withLock { $0.count += 1 }
    }

    /// Something that began is over. Without anything running, it does nothing.
    public func leave() {
        let waiters = state.withLock { state -> [@Sendable () -> Void] in
            state.count = max(0, state.count - 1)
            guard state.count == 0 else { return [] }
            defer { state.waiters = [:] }
            return state.waiters.sorted { $0.key < $1.key }.map(\.value)
        }
        for waiter in waiters { waiter() }
    }

    /// Returns when nothing runs, or when the caller's task is cancelled.
    public func wait() async {
        let key = nextKey()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                add(key, unlessCancelled: true) { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: key) }?()
        }
    }

    /// Calls a function once, when nothing runs, on an executor.
    public func notify(on executor: CallbackExecutor, _ observer: @escaping @Sendable () -> Void) {
        add(nextKey()) { executor.execute(observer) }
    }

    private func add(_ key: UInt64, unlessCancelled: Bool = false, _ waiter: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.count == 0 || unlessCancelled && Task.isCancelled { return true }
            state.waiters[key] = waiter
            return false
        }
        if isOver { waiter() }
    }

    private func nextKey() -> UInt64 {
        state.withLock { state in
            state.lastKey += 1
            return state.lastKey
        }
    }
}
