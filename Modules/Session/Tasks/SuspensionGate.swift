/// Who waits for bytes to flow again. A value under its task's lock: whether the gate is closed is the task's to say.
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
