import CommandSupport
import LinnetMessages
import NIOCore
import Synchronization
import Testing

@testable import LinnetTransport

/// The work under the pool's lock: twice as many requests or origins cost at most 2.5 times as much.
@Suite("Connection pool, many requests and origins", .timeLimit(.minutes(1)), .serialized)
struct PoolScalingTests {
    /// A key that counts hashing and comparisons.
    private struct CountingKey: Hashable {
        static let uses = Atomic(0)
        let number: Int

        static func == (first: CountingKey, second: CountingKey) -> Bool {
            uses.add(1, ordering: .relaxed)
            return first.number == second.number
        }

        func hash(into hasher: inout Hasher) {
            CountingKey.uses.add(1, ordering: .relaxed)
            hasher.combine(number)
        }
    }

    private typealias Pool = PoolStateMachine<CountingKey>

    private func pool(total: Int) -> Pool {
        var limits = TransportConfiguration.PoolLimits()
        limits.connections = total
        return Pool(limits: limits)
    }

    /// One request for each of many origins waits for one of few connections; each connection is used by the next
    /// request.
    private func uses(origins: Int) -> Int {
        var pool = pool(total: 4)
        let before = CountingKey.uses.load(ordering: .relaxed)
        var connecting: [CountingKey] = []
        for number in 0..<origins {
            let key = CountingKey(number: number)
            if pool.wait(UInt64(number + 1), for: key, .never) == .connect { connecting.append(key) }
        }
        var served: [Int] = []
        while let key = connecting.popLast() {
            _ = pool.connected(key, isMultiplexed: false)
            if case .hand(let waiter) = pool.release(key, isUnused: true) { served.append(Int(waiter)) }
            if let next = pool.closed(key, wasDraining: false) { connecting.append(next) }
        }
        #expect(served.count == origins && pool.isEmpty)
        return CountingKey.uses.load(ordering: .relaxed) - before
    }

    @Test func tenThousandOriginsAreServedWithoutSearchingAllOfThem() {
        let (fewer, more) = (uses(origins: 5_000), uses(origins: 10_000))
        #expect(fewer > 0)
        #expect(Double(more) <= 2.5 * Double(fewer), "\(fewer) and \(more) looks at keys")
    }

    /// Waiters of one origin: added, some given another priority, half of them cancelled, in random order, the others
    /// served. Returns the processor time in seconds.
    private func time(waiters: Int) -> Double {
        var random = SplitMix(seed: UInt64(waiters))
        var pool = pool(total: 1)
        let key = CountingKey(number: 0)
        let start = processorTime()
        for waiter in 1...UInt64(waiters) { _ = pool.wait(waiter, for: key, .never) }
        _ = pool.connected(key, isMultiplexed: false)
        let order = (1...UInt64(waiters)).shuffled(using: &random)
        for waiter in order.prefix(waiters / 2) {
            pool.setPriority(RequestPriority(Double(waiter % 7) / 7), of: waiter, key: key)
        }
        for waiter in order.suffix(waiters / 2) { expectEqual(pool.cancel(waiter, key: key), true) }
        var served = 0
        while case .hand = pool.release(key, isUnused: true) { served += 1 }
        #expect(served == waiters - waiters / 2 && pool.waiters == 0)
        return processorTime() - start
    }

    /// A linear search would take a hundred times as long for ten times the waiters; the bound allows for a busy
    /// machine.
    @Test func aHundredThousandWaitersAreServedInNearlyLinearTime() {
        let (fewer, more) = (time(waiters: 10_000), time(waiters: 100_000))
        #expect(more < fewer * 40, "\(fewer) and \(more)")
    }

    /// The deadlines of waiting requests in any order, many of them removed before they expire.
    @Test(arguments: 0..<20)
    func deadlinesExpireInOrderAndOnce(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var deadlines = WaitDeadlines()
        var naive: [UInt64: Int64] = [:]
        var timer: NIODeadline?
        var now: Int64 = 0
        for id in 1...UInt64(500) {
            let time = now + Int64.random(in: 1...1_000, using: &random)
            naive[id] = time
            if let set = deadlines.add(id, .uptimeNanoseconds(UInt64(time))) {
                #expect(set < timer ?? .distantFuture)
                timer = set
            }
            if let gone = naive.keys.sorted().randomElement(using: &random), Bool.random(using: &random) {
                deadlines.remove(gone)
                naive[gone] = nil
            }
            let soonest = naive.values.min().map { NIODeadline.uptimeNanoseconds(UInt64($0)) } ?? .distantFuture
            #expect(timer ?? .distantFuture <= soonest)
            guard let due = timer, Int.random(in: 0..<4, using: &random) == 0 else { continue }
            now = max(now, Int64(due.uptimeNanoseconds))
            let (expired, next) = deadlines.expire(now: .uptimeNanoseconds(UInt64(now)))
            #expect(Set(expired) == Set(naive.filter { $0.value <= now }.keys))
            for id in expired { naive[id] = nil }
            timer = next
            #expect(next == naive.values.min().map { NIODeadline.uptimeNanoseconds(UInt64($0)) })
        }
    }
}
