package import Synchronization

/// Tasks that wait for a value, in order of arrival: a part of the state that a mutex guards.
///
/// `Mutex.wait(in:ifCancelled:_:)` adds a waiter. It is resumed once: by the code that takes it out of the state, after the lock
/// is released, or when its task is cancelled.
package struct Waiters<Value: Sendable>: Sendable {
    package typealias Waiter = CheckedContinuation<Value, Never>

    private var waiters: [(id: UInt64, waiter: Waiter)] = []
    private var lastID: UInt64 = 0

    package init() {}

    package var isEmpty: Bool { waiters.isEmpty }
    package var count: Int { waiters.count }

    /// Removes and returns the waiter that came first.
    package mutating func takeFirst() -> Waiter? {
        waiters.isEmpty ? nil : waiters.removeFirst().waiter
    }

    /// Removes and returns all waiters.
    package mutating func takeAll() -> [Waiter] {
        defer { waiters = [] }
        return waiters.map { $0.waiter }
    }

    fileprivate mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    fileprivate mutating func add(_ waiter: Waiter, id: UInt64) {
        waiters.append((id, waiter))
    }

    fileprivate mutating func take(_ id: UInt64) -> Waiter? {
        waiters.firstIndex { $0.id == id }.map { waiters.remove(at: $0).waiter }
    }
}

extension Mutex {
    /// Waits for a value.
    ///
    /// - Parameters:
    ///   - path: The place of the waiters in the state.
    ///   - cancelled: Makes the value for a task that is cancelled; nil to wait in spite of that.
    ///   - ready: Returns the value if it is there already. It is called once, with the lock held, before cancellation is checked.
    package func wait<Answer: Sendable>(
        in path: any WritableKeyPath<Value, Waiters<Answer>> & Sendable,
        ifCancelled cancelled: (@Sendable () -> Answer)?, _ ready: (inout Value) -> Answer?
    ) async -> Answer {
        let id = withLock { $0[keyPath: path].makeID() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let answer = withLock { state -> Answer? in
                    if let answer = ready(&state) { return answer }
                    if let cancelled, Task.isCancelled { return cancelled() }
                    state[keyPath: path].add(waiter, id: id)
                    return nil
                }
                if let answer { waiter.resume(returning: answer) }
            }
        } onCancel: {
            guard let cancelled else { return }
            withLock { $0[keyPath: path].take(id) }?.resume(returning: cancelled())
        }
    }
}
