public import Synchronization

/// Tasks that wait for a value, in order of arrival: a part of the state that a mutex guards. Removing one of n waiters
/// takes a time of O(log n), also for one that is cancelled.
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

    /// In ascending order of their numbers. A waiter that left is nil until the places are compacted, and the places
    /// before ``first`` are empty, so that removing one of many does not move the others.
    @usableFromInline var places: [(id: UInt64, waiter: Waiter?)] = []
    @usableFromInline var first = 0
    @usableFromInline package private(set) var count = 0

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { count == 0 }

    /// Removes and returns the waiter that came first.
    @inlinable package mutating func takeFirst() -> Waiter? {
        while first < places.count {
            let waiter = places[first].waiter
            places[first].waiter = nil
            first += 1
            if let waiter {
                remove()
                return waiter
            }
        }
        return nil
    }

    /// Removes and returns all waiters.
    @inlinable package mutating func takeAll() -> [Waiter] {
        defer { self = Waiters() }
        return places.compactMap { $0.waiter }
    }

    @inlinable mutating func add(_ waiter: Waiter, id: UInt64) {
        count += 1
        guard let last = places.last, last.id > id else { return places.append((id, waiter)) }
        // Tasks take their numbers before they come here, and one may have overtaken another.
        places.insert((id, waiter), at: max(first, place(of: id)))
    }

    @inlinable mutating func take(_ id: UInt64) -> Waiter? {
        let place = place(of: id)
        guard place < places.count, places[place].id == id, let waiter = places[place].waiter else { return nil }
        places[place].waiter = nil
        remove()
        return waiter
    }

    /// Counts a waiter that was removed. Each compaction moves no more places than were emptied since the last one.
    @inlinable mutating func remove() {
        count -= 1
        if count == 0 {
            places.removeAll(keepingCapacity: places.capacity <= 16)
            first = 0
        } else if places.count > 2 * count + 16 {
            places.removeAll { $0.waiter == nil }
            first = 0
        }
    }

    /// The first place whose number is at least this one.
    @inlinable func place(of id: UInt64) -> Int {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
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
