/// Members in the order of their ranks. Each can be given another rank, or be taken out, at any time.
///
/// A binary heap. What is outdated stays in it until it comes to the top or outnumbers the rest, so that each change costs
/// O(log n), amortised. Members of equal rank come in no order, so ranks should differ.
struct RankedQueue<Member: Hashable, Rank: Comparable> {
    struct Entry {
        let member: Member
        let rank: Rank
    }

    private var ranks: [Member: Rank] = [:]
    /// Its first entry is never outdated.
    private var heap: [Entry] = []

    var isEmpty: Bool { ranks.isEmpty }
    var count: Int { ranks.count }
    var first: Entry? { heap.first }

    func contains(_ member: Member) -> Bool { ranks[member] != nil }

    /// Adds a member, or gives one another rank.
    mutating func set(_ rank: Rank, of member: Member) {
        guard ranks.updateValue(rank, forKey: member) != rank else { return }
        heap.append(Entry(member: member, rank: rank))
        siftUp(heap.count - 1)
        tidy()
    }

    /// False when there is no such member.
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

    /// Takes all members out, and returns them in order.
    mutating func removeAll() -> [Member] {
        let sorted = ranks.sorted { $0.value < $1.value }
        self = RankedQueue()
        return sorted.map(\.key)
    }

    // MARK: The heap

    private mutating func tidy() {
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
