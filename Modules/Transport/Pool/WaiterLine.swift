/// Who waits for an origin's connections: by priority, and among equals in the order in which they came.
struct WaiterLine {
    struct Entry: Comparable {
        let id: UInt64
        let priority: RequestPriority

        /// Whether the first is served earlier.
        static func < (first: Entry, second: Entry) -> Bool {
            first.priority == second.priority ? first.id < second.id : first.priority > second.priority
        }
    }

    private var entries = RankedQueue<UInt64, Entry>()

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    var first: Entry? { entries.first?.rank }

    /// Adds one who waits, or moves one to where the priority belongs.
    mutating func set(_ priority: RequestPriority, of id: UInt64) {
        entries.set(Entry(id: id, priority: priority), of: id)
    }

    /// False when it is not in the line.
    mutating func remove(_ id: UInt64) -> Bool {
        entries.remove(id)
    }

    mutating func popFirst() -> UInt64? {
        entries.popFirst()?.member
    }

    /// Everybody, in the order of the line.
    mutating func removeAll() -> [UInt64] {
        entries.removeAll()
    }

    /// The same, and everybody stays.
    var ids: [UInt64] {
        var copy = entries
        return copy.removeAll()
    }

    func contains(_ id: UInt64) -> Bool { entries.contains(id) }
}
