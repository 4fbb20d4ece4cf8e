/// The waiters of a suspended transfer: a value guarded by the task's lock. The task decides whether the gate is closed.
struct SuspensionGate {
    typealias Waiter = CheckedContinuation<Bool, Never>

    private var waiters: [UInt64: Waiter] = [:]

    mutating func add(_ waiter: Waiter, key: UInt64) {
        waiters[key] = waiter
    }

    mutating func remove(_ key: UInt64) -> Waiter? {
        waiters.removeValue(forKey: key)
    }

    /// Removes and returns all waiters, for the caller to resume after the lock is released.
    mutating func open() -> [Waiter] {
        defer { waiters = [:] }
        return Array(waiters.values)
    }
}
