/// The waiters for a suspended transfer. A value under its task's lock; the task decides whether the gate is closed.
struct SuspensionGate {
    typealias Waiter = CheckedContinuation<Bool, Never>

    private var waiters: [UInt64: Waiter] = [:]

    mutating func add(_ waiter: Waiter, key: UInt64) {
        waiters[key] = waiter
    }

    mutating func remove(_ key: UInt64) -> Waiter? {
        waiters.removeValue(forKey: key)
    }

    /// Returns all who waited, to be let through once the lock is released.
    mutating func open() -> [Waiter] {
        defer { waiters = [:] }
        return Array(waiters.values)
    }
}
