internal import NIOCore

/// Who waits for an origin's connections: by priority, and among equals in the order in which they came.
///
/// While all have the same priority, it is a queue.
struct WaiterLine {
    struct Entry: Comparable {
        let id: UInt64
        let priority: RequestPriority

        /// Whether the first is served earlier.
        static func < (first: Entry, second: Entry) -> Bool {
            first.priority == second.priority ? first.id < second.id : first.priority > second.priority
        }
    }

    private var entries = CircularBuffer<Entry>()

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    var first: Entry? { entries.first }
    var ids: [UInt64] { entries.map(\.id) }

    mutating func add(_ id: UInt64, _ priority: RequestPriority) {
        let entry = Entry(id: id, priority: priority)
        var index = entries.endIndex
        while index > entries.startIndex, entry < entries[entries.index(before: index)] {
            index = entries.index(before: index)
        }
        if index == entries.endIndex { entries.append(entry) } else { entries.insert(entry, at: index) }
    }

    /// False when it is not in the line.
    mutating func remove(_ id: UInt64) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
        entries.remove(at: index)
        return true
    }

    mutating func popFirst() -> UInt64? {
        entries.popFirst()?.id
    }

    mutating func removeAll() -> [UInt64] {
        defer { entries = [] }
        return ids
    }
}
