public import Synchronization

/// Tasks that wait for a value, in order of arrival: a part of the state that a mutex guards.
///
/// `Mutex.wait(in:ifCancelled:_:)` adds a waiter. It is resumed once: by the code that takes it out of the state, after
/// the lock is released, or when its task is cancelled.
///
/// It can be inlined, because other modules use it for each message, and unspecialized generic code costs several times
/// as much.
@usableFromInline package struct Waiters<Value: Sendable>: Sendable {
    @usableFromInline package typealias Waiter = CheckedContinuation<Value, Never>

    /// Calls a function with the waiters of a state.
    @usableFromInline package typealias Place<State: ~Copyable> =
        @Sendable (inout State, (inout Waiters) -> Waiter?) -> Waiter?

    @usableFromInline var waiters: [(id: UInt64, waiter: Waiter)] = []

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { waiters.isEmpty }
    @inlinable package var count: Int { waiters.count }

    /// Removes and returns the waiter that came first.
    @inlinable package mutating func takeFirst() -> Waiter? {
        waiters.isEmpty ? nil : waiters.removeFirst().waiter
    }

    /// Removes and returns all waiters.
    @inlinable package mutating func takeAll() -> [Waiter] {
        defer { waiters = [] }
        return waiters.map { $0.waiter }
    }

    @inlinable mutating func add(_ waiter: Waiter, id: UInt64) {
        waiters.append((id, waiter))
    }

    @inlinable mutating func take(_ id: UInt64) -> Waiter? {
        waiters.firstIndex { $0.id == id }.map { waiters.remove(at: $0).waiter }
    }
}

extension Mutex {
    /// Waits for a value.
    ///
    /// - Parameters:
    ///   - place: The place of the waiters in the state: `{ $1(&$0.waiters) }`. A key path would be made anew by each
    ///     call.
    ///   - cancelled: Makes the value for a task that is cancelled; nil to wait in spite of that.
    ///   - ready: Returns the value if it is available already, even for a cancelled task. It is called with the lock
    ///     held, once or twice, and changes nothing when it returns nil.
    @inlinable package func wait<Answer: Sendable>(
        in place: @escaping Waiters<Answer>.Place<Value>,
        ifCancelled cancelled: (@Sendable () -> Answer)?, _ ready: (inout Value) -> Answer?
    ) async -> Answer {
        // Usually the value is there, and needs neither a number nor a cancellation handler.
        if let answer = withLock({ ready(&$0) }) { return answer }
        let id = WaiterID.next()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let answer = withLock { state -> Answer? in
                    // It may have come since the first look.
                    if let answer = ready(&state) { return answer }
                    // The cancellation handler may have run already, and found no waiter.
                    if let cancelled, Task.isCancelled { return cancelled() }
                    _ = place(&state) { waiters in
                        waiters.add(waiter, id: id)
                        return nil
                    }
                    return nil
                }
                if let answer { waiter.resume(returning: answer) }
            }
        } onCancel: {
            guard let cancelled else { return }
            withLock { place(&$0) { $0.take(id) } }?.resume(returning: cancelled())
        }
    }
}

/// The numbers of the waiters of the process.
@usableFromInline enum WaiterID {
    private static let last = Atomic<UInt64>(0)

    @usableFromInline static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
