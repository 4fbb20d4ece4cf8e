internal import NIOCore

/// The waiting requests of an origin, by priority and then in order of arrival. A request that waits again, because the
/// server has not processed it, has the place of its first arrival, before later requests.
struct WaiterLine {
    struct Entry: Comparable {
        let id: UInt64
        let priority: RequestPriority
        /// When the request was made.
        var arrival = Tick.earliest

        /// Whether the first is served before the second.
        static func < (first: Entry, second: Entry) -> Bool {
            if first.priority != second.priority { return first.priority > second.priority }
            return first.arrival == second.arrival ? first.id < second.id : first.arrival < second.arrival
        }
    }

    private var entries = RankedQueue<UInt64, Entry>()

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    var first: Entry? { entries.first?.rank }

    mutating func add(_ entry: Entry) {
        entries.set(entry, of: entry.id)
    }

    /// Changes the priority of a waiter, if it is in the line.
    mutating func set(_ priority: RequestPriority, of id: UInt64) {
        guard let entry = entries.rank(of: id) else { return }
        entries.set(Entry(id: id, priority: priority, arrival: entry.arrival), of: id)
    }

    /// Removes a waiter. Returns false if it is not in the line.
    mutating func remove(_ id: UInt64) -> Bool {
        entries.remove(id)
    }

    mutating func popFirst() -> UInt64? {
        entries.popFirst()?.member
    }

    /// Removes and returns all waiters in order.
    mutating func removeAll() -> [UInt64] {
        entries.removeAll()
    }

    /// All waiters in order.
    var ids: [UInt64] {
        var copy = entries
        return copy.removeAll()
    }
}

/// The deadlines of waiting requests. They share one timer, since cancelling a timer takes time proportional to their
/// number. Pure.
struct WaitDeadlines {
    private struct Due: Comparable {
        let time: NIODeadline
        let id: UInt64

        static func < (first: Due, second: Due) -> Bool {
            first.time == second.time ? first.id < second.id : first.time < second.time
        }
    }

    private var queue = RankedQueue<UInt64, Due>()
    /// The time for which the timer is set.
    private(set) var armed: NIODeadline?

    /// Adds a waiter. Returns the time for which to set the timer, if it is earlier than the current one.
    mutating func add(_ id: UInt64, _ time: NIODeadline) -> NIODeadline? {
        queue.set(Due(time: time, id: id), of: id)
        guard time < armed ?? .distantFuture else { return nil }
        armed = time
        return time
    }

    /// Removes a waiter.
    mutating func remove(_ id: UInt64) {
        queue.remove(id)
    }

    /// Called when the timer has fired. Takes the expired waiters, and returns the next time for the timer.
    mutating func expire(now: NIODeadline) -> (expired: [UInt64], next: NIODeadline?) {
        var expired: [UInt64] = []
        while let first = queue.first, first.rank.time <= now {
            expired.append(first.member)
            queue.remove(first.member)
        }
        armed = queue.first?.rank.time
        return (expired, armed)
    }
}

/// A priority queue whose members can be re-ranked or removed at any time.
///
/// A binary heap. Outdated entries stay until they reach the top or outnumber the others, so that each change costs
/// O(log n) amortised. Members of equal rank have no defined order.
struct RankedQueue<Member: Hashable, Rank: Comparable> {
    struct Entry {
        let member: Member
        let rank: Rank
    }

    private var ranks: [Member: Rank] = [:]
    /// The first entry is never outdated.
    private var heap: [Entry] = []

    var isEmpty: Bool { ranks.isEmpty }
    var count: Int { ranks.count }
    var first: Entry? { heap.first }

    func contains(_ member: Member) -> Bool { ranks[member] != nil }
    func rank(of member: Member) -> Rank? { ranks[member] }

    /// Adds a member, or changes its rank.
    mutating func set(_ rank: Rank, of member: Member) {
        // An old entry stays in the heap as outdated, since finding it would take linear time.
        guard ranks.updateValue(rank, forKey: member) != rank else { return }
        heap.append(Entry(member: member, rank: rank))
        siftUp(heap.count - 1)
        tidy()
    }

    /// Removes a member. Returns false if there is none.
    @discardableResult
    mutating func remove(_ member: Member) -> Bool {
        guard ranks.removeValue(forKey: member) != nil else { return false }
        tidy()
        return true
    }

    mutating func popFirst() -> Entry? {
        guard let first = heap.first else { return nil }
        ranks[first.member] = nil
        tidy()
        return first
    }

    /// Removes all members and returns them in order.
    mutating func removeAll() -> [Member] {
        let sorted = ranks.sorted { $0.value < $1.value }
        self = RankedQueue()
        return sorted.map(\.key)
    }

    // MARK: Heap

    private mutating func tidy() {
        // Rebuilding takes linear time, which the changes since the last time have paid for.
        if heap.count > 2 * ranks.count + 16 {
            heap = ranks.map { Entry(member: $0.key, rank: $0.value) }
            for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
        }
        while let first = heap.first, ranks[first.member] != first.rank {
            heap.swapAt(0, heap.count - 1)
            heap.removeLast()
            if !heap.isEmpty { siftDown(0) }
        }
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        while index > 0, heap[index].rank < heap[(index - 1) / 2].rank {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        while true {
            let (left, right) = (2 * index + 1, 2 * index + 2)
            guard left < heap.count else { return }
            let least = right < heap.count && heap[right].rank < heap[left].rank ? right : left
            guard heap[least].rank < heap[index].rank else { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
