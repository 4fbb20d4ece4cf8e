import CommandSupport
import Synchronization
import Testing

@testable import LinnetTransport

@Suite("Ranked queue", .timeLimit(.minutes(1)))
struct RankedQueueTests {
    /// Random histories, compared with a sorted array.
    @Test(arguments: 0..<50)
    func theQueueBehavesLikeASortedArray(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var queue = RankedQueue<Int, Int>()
        var naive: [(member: Int, rank: Int)] = []
        for step in 0..<2_000 {
            let member = Int.random(in: 0..<60, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                // No two ranks are equal.
                let rank = Int.random(in: 0..<1_000, using: &random) * 2_000 + step
                queue.set(rank, of: member)
                naive.removeAll { $0.member == member }
                naive.append((member, rank))
            case 5..<7:
                expectEqual(queue.remove(member), naive.contains { $0.member == member })
                naive.removeAll { $0.member == member }
            case 7..<9:
                naive.sort { $0.rank < $1.rank }
                expectEqual(queue.popFirst()?.member, naive.isEmpty ? nil : naive.removeFirst().member)
            default:
                guard step.isMultiple(of: 40) else { continue }
                naive.sort { $0.rank < $1.rank }
                expectEqual(queue.removeAll(), naive.map(\.member))
                naive = []
            }
            #expect(queue.count == naive.count && queue.isEmpty == naive.isEmpty)
            let first = naive.min { $0.rank < $1.rank }
            #expect(queue.first?.member == first?.member && queue.first?.rank == first?.rank)
            #expect(queue.contains(member) == naive.contains { $0.member == member })
        }
    }

    @Test func aChangedRankCountsOnce() {
        var queue = RankedQueue<String, Int>()
        for rank in [1, 5, 1, 5, 1] { queue.set(rank, of: "a") }
        queue.set(3, of: "b")
        expectEqual(queue.popFirst()?.member, "a")
        expectEqual(queue.popFirst()?.member, "b")
        expectEqual(queue.popFirst()?.member, nil)
        #expect(queue.isEmpty)
    }

    // MARK: Cost

    /// A rank that counts how often ranks are compared.
    private struct CountingRank: Comparable {
        static let comparisons = Atomic(0)
        let value: Int

        static func < (first: CountingRank, second: CountingRank) -> Bool {
            comparisons.add(1, ordering: .relaxed)
            return first.value < second.value
        }
    }

    /// Adds members, gives them other ranks, and takes them out, each in random order; returns the comparisons.
    private func comparisons(members: Int) -> Int {
        var random = SplitMix(seed: UInt64(members))
        var queue = RankedQueue<Int, CountingRank>()
        let before = CountingRank.comparisons.load(ordering: .relaxed)
        for member in 0..<members { queue.set(CountingRank(value: member), of: member) }
        for member in (0..<members).shuffled(using: &random) { queue.set(CountingRank(value: -member), of: member) }
        for member in (0..<members).shuffled(using: &random) where member.isMultiple(of: 2) { queue.remove(member) }
        while queue.popFirst() != nil {}
        return CountingRank.comparisons.load(ordering: .relaxed) - before
    }

    @Test func theCostIsNearlyLinear() {
        let (fewer, more) = (comparisons(members: 25_000), comparisons(members: 50_000))
        #expect(fewer > 0)
        #expect(Double(more) <= 2.5 * Double(fewer), "\(fewer) and \(more) comparisons")
    }
}
