internal import Synchronization

/// The tasks of a session that have not ended, without retaining them.
final class TaskRegistry: Sendable {
    private struct Entry {
        weak var task: (any EndableTask)?
    }

    private let entries = Mutex<[UInt64: Entry]>([:])

    func add(_ task: any EndableTask) {
        entries.withLock { $0[task.id] = Entry(task: task) }
    }

    func remove(_ id: UInt64) {
        _ = entries.withLock { $0.removeValue(forKey: id) }
    }

    /// The tasks in the order of their creation.
    var tasks: [any EndableTask] {
        entries.withLock { entries in
            entries.sorted { $0.key < $1.key }.compactMap(\.value.task)
        }
    }
}

/// A task that its session can end.
protocol EndableTask: SessionTask {
    /// Whether the task was ever resumed.
    var hasStarted: Bool { get }
    /// Ends the task with an error, unless it has ended.
    func fail(_ error: SessionError)
}

extension TransferTask: EndableTask {}
