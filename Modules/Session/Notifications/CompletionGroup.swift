internal import Synchronization

/// Counts running requests, and waits until there are none.
///
/// ```swift
/// let group = CompletionGroup()
/// let session = try HTTPSession { $0.completionGroup = group }
/// // … start requests …
/// await group.wait()
/// ```
/// A request counts from its start, also while it is suspended, until its callbacks were called. Sessions can share a group;
/// ``enter()`` and ``leave()`` add other work to it.
public final class CompletionGroup: Sendable {
    private struct State {
        var count = 0
        var lastKey: UInt64 = 0
        var waiters: [UInt64: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// Creates an empty group.
    public init() {}

    /// The number of running requests and other work.
    public var count: Int { state.withLock { $0.count } }

    /// Adds one to the count.
    public func enter() {
        state.withLock { $0.count += 1 }
    }

    /// Subtracts one from the count. Does nothing when the count is zero.
    public func leave() {
        let waiters = state.withLock { state -> [@Sendable () -> Void] in
            state.count = max(0, state.count - 1)
            guard state.count == 0 else { return [] }
            defer { state.waiters = [:] }
            return state.waiters.sorted { $0.key < $1.key }.map(\.value)
        }
        for waiter in waiters { waiter() }
    }

    /// Waits until the count is zero, or the caller's task is cancelled.
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

    /// Calls a function once, on an executor, when the count is zero.
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
