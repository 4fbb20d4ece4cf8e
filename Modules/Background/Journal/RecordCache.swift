internal import Synchronization

/// The tasks of a journal as this process has read or written them last, so that their rows are decoded seldom.
///
/// Each change of a task has a revision of its own, also a change by another process, so a row with the revision of the
/// cached task is the same. The cache is used on the queue of the database alone, where no transaction sees the changes
/// of an unfinished one; after an undone change, it is emptied.
final class RecordCache: Sendable {
    /// The largest number of tasks. Tasks that are transferred or change are read again soon.
    private static let most = 256

    private let records = Mutex<[BackgroundTask.ID: TaskRecord]>([:])

    /// The task of a row; nil if the row has changed since it was stored here.
    func record(_ id: BackgroundTask.ID, revision: Int64) -> TaskRecord? {
        records.withLock { $0[id].flatMap { $0.revision == revision ? $0 : nil } }
    }

    func store(_ record: TaskRecord) {
        records.withLock { records in
            if records.count >= Self.most, records[record.id] == nil { records.removeAll(keepingCapacity: true) }
            records[record.id] = record
        }
    }

    func removeAll() { records.withLock { $0.removeAll(keepingCapacity: true) } }
}
