internal import NIOCore

/// The table that grows with what was sent, its newest entry first (RFC 7541, 2.3.2 and 4).
struct HPACKDynamicTable<Entry> {
    private var entries: CircularBuffer<(entry: Entry, size: Int)>
    private(set) var size = 0
    /// The most that `size` may be.
    private(set) var capacity: Int
    /// How many entries there ever were: the number of the newest.
    private(set) var insertions = 0

    init(capacity: Int) {
        self.capacity = capacity
        entries = CircularBuffer(initialCapacity: 16)
    }

    var count: Int { entries.count }

    /// An entry by its distance from the newest.
    subscript(distance: Int) -> Entry { entries[offset: distance].entry }

    /// How far an entry is from the newest; nil when it is gone.
    func distance(ofInsertion number: Int) -> Int? {
        let distance = insertions - number
        return distance < count ? distance : nil
    }

    /// Adds an entry, and drops as many old ones as it takes; one that is larger than the table leaves it empty.
    mutating func insert(_ entry: Entry, size: Int) {
        insertions += 1
        evict(downTo: capacity - size)
        guard size <= capacity else {
            // Numbers are places: this one stays empty.
            return
        }
        entries.prepend((entry, size))
        self.size += size
    }

    mutating func resize(_ capacity: Int) {
        self.capacity = capacity
        evict(downTo: capacity)
    }

    private mutating func evict(downTo limit: Int) {
        while size > limit, let last = entries.popLast() { size -= last.size }
    }
}

extension CircularBuffer {
    fileprivate subscript(offset offset: Int) -> Element { self[index(startIndex, offsetBy: offset)] }
}
