internal import Synchronization

/// The transports and test servers that a test's tasks make, for the trait that requires them to be closed.
///
/// A ledger gets the resources of the task that binds ``current``, of its child tasks, and of unstructured tasks that
/// inherit task-local values. Without a ledger, a new transport costs the read of one task-local value.
package final class ResourceLedger: Sendable {
    /// The ledger of the current task.
    @TaskLocal package static var current: ResourceLedger?

    private let entries = Mutex<[@Sendable () -> String?]>([])

    /// Creates an empty ledger.
    package init() {}

    /// Adds a resource.
    ///
    /// - Parameter describe: Describes the resource while it is open; nil once it is closed or released.
    package func add(_ describe: @escaping @Sendable () -> String?) {
        entries.withLock { $0.append(describe) }
    }

    /// The descriptions of the resources that are open.
    package var open: [String] {
        // Without the lock, since a description may hold the last reference to its resource.
        entries.withLock { $0 }.compactMap { $0() }
    }
}
