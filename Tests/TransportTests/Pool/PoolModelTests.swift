import CommandSupport
import NIOCore
import Testing

@testable import LinnetTransport

/// Runs random histories through the pool's state machine and checks its invariants.
@Suite("Connection pool, random histories", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct PoolModelTests {
    struct Fake: Identifiable, Equatable {
        let id: Int
    }

    /// What the world outside of the pool holds. Connections to "m" are multiplexed, three exchanges each.
    private struct World {
        struct Connection {
            let fake: Fake
            let key: String
            var inUse = 0
            var isDraining = false
        }

        static let keys = ["a", "b", "m"]
        static let capacity = 3

        var pool: PoolStateMachine<String>
        var waiting: [UInt64: String] = [:]
        var connecting: [String] = []
        var open: [Connection] = []
        var closing: [Connection] = []
        var nextID = 1

        func places(_ connection: Connection) -> Int {
            guard !connection.isDraining else { return 0 }
            return (connection.key == "m" ? Self.capacity : 1) - connection.inUse
        }

        /// A request takes a place if there is one.
        mutating func lease(_ key: String, waiter: UInt64) {
            if !pool.hasWaiters(key), let index = open.firstIndex(where: { $0.key == key && places($0) > 0 }) {
                open[index].inUse += 1
                return
            }
            waiting[waiter] = key
            let priority = RequestPriority(Double(waiter % 3) / 2)
            switch pool.wait(waiter, for: key, key == "m" ? .possible : .never, priority: priority) {
            case .wait: break
            case .connect: connecting.append(key)
            case .evict:
                if let victim = open.firstIndex(where: { $0.inUse == 0 && !$0.isDraining && $0.key != key }) {
                    if pool.connectInPlaceOfEvicted(key) { connecting.append(key) }
                    closing.append(open.remove(at: victim))
                }
            }
            // As the pool does: a place that came free in between.
            if let index = open.firstIndex(where: { $0.key == key && places($0) > 0 }) {
                open[index].inUse += 1
                offer(index)
            }
        }

        /// A held place is given to a waiting request, or returned.
        mutating func offer(_ index: Int) {
            let key = open[index].key
            switch pool.release(key, isUnused: open[index].inUse == 1) {
            case .hand(let waiter):
                expectEqual(waiting.removeValue(forKey: waiter), key)
            case .keep:
                open[index].inUse -= 1
            case .close:
                open[index].inUse = 0
                closing.append(open.remove(at: index))
            }
        }

        mutating func connected(_ key: String) {
            let more = pool.connected(key, isMultiplexed: key == "m")
            connecting += Array(repeating: key, count: more)
            open.append(Connection(fake: Fake(id: nextID), key: key, inUse: 1))
            nextID += 1
            let id = nextID - 1
            offer(open.count - 1)
            while pool.hasWaiters(key), let index = open.firstIndex(where: { $0.fake.id == id && places($0) > 0 }) {
                open[index].inUse += 1
                offer(index)
            }
        }

        mutating func closed(_ connection: Connection) {
            if let next = pool.closed(connection.key, wasDraining: connection.isDraining) { connecting.append(next) }
        }

        mutating func step(_ random: inout SplitMix, waiter: UInt64) {
            switch Int.random(in: 0..<9, using: &random) {
            case 0...2:
                lease(Self.keys.randomElement(using: &random) ?? "a", waiter: waiter)
            case 3 where !connecting.isEmpty:
                connected(connecting.remove(at: Int.random(in: 0..<connecting.count, using: &random)))
            case 4 where !connecting.isEmpty:
                let index = Int.random(in: 0..<connecting.count, using: &random)
                let concerned = pool.waitersForAttempt(connecting[index])
                expectEqual(concerned.isEmpty, !pool.needsAttempt(connecting[index]))
                // A request waits for it: it may be tried again, and nothing changes.
                if !concerned.isEmpty, Bool.random(using: &random) { return }
                let key = connecting.remove(at: index)
                if concerned.isEmpty, Bool.random(using: &random) {
                    if let next = pool.attemptAbandoned(key) { connecting.append(next) }
                    return
                }
                let (failed, next) = pool.connectFailed(key)
                #expect(failed == concerned)
                for waiter in failed { expectEqual(waiting.removeValue(forKey: waiter), key) }
                if let next { connecting.append(next) }
            case 5:
                let busy = open.indices.filter { open[$0].inUse > 0 }
                guard let index = busy.randomElement(using: &random) else { return }
                if open[index].isDraining {
                    open[index].inUse -= 1
                    if open[index].inUse == 0 { closed(open.remove(at: index)) }
                } else if Int.random(in: 0..<4, using: &random) > 0 {
                    offer(index)
                } else {
                    closed(open.remove(at: index))
                }
            case 6 where !closing.isEmpty:
                closed(closing.removeFirst())
            case 7:
                guard let waiter = waiting.keys.sorted().randomElement(using: &random), let key = waiting[waiter] else {
                    return
                }
                pool.setPriority(.high, of: waiter, key: key)
                if Bool.random(using: &random), pool.cancel(waiter, key: key) { waiting[waiter] = nil }
            case 8:
                let candidates = open.indices.filter {
                    open[$0].key == "m" && open[$0].inUse > 0 && !open[$0].isDraining
                }
                guard let index = candidates.randomElement(using: &random) else { return }
                open[index].isDraining = true
                if let next = pool.draining("m") { connecting.append(next) }
            default:
                break
            }
        }

        /// Lets everything that has started finish.
        mutating func drain() {
            for _ in 0..<10_000 {
                if let key = connecting.popLast() {
                    connected(key)
                } else if let index = open.firstIndex(where: { $0.inUse > 0 }) {
                    if open[index].isDraining {
                        closed(open.remove(at: index))
                    } else {
                        offer(index)
                    }
                } else if let connection = closing.popLast() {
                    closed(connection)
                } else {
                    return
                }
            }
        }
    }

    @Test(arguments: 0..<300)
    func limitsHoldAndEveryWaiterIsServed(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var limits = TransportConfiguration.PoolLimits()
        limits.connectionsPerOrigin = Int.random(in: 1...3, using: &random)
        limits.connections = Int.random(in: 1...5, using: &random)
        let multiplexed = Int.random(in: 1...2, using: &random)
        var world = World(pool: PoolStateMachine(limits: limits, multiplexedPerOrigin: multiplexed))
        for waiter in 1...400 {
            world.step(&random, waiter: UInt64(waiter))
            let counted = world.open.count + world.connecting.count + world.closing.count
            #expect(world.pool.connections == counted)
            #expect(world.pool.connections - world.closing.count <= limits.connections)
            for key in World.keys {
                let ofKey =
                    world.open.count { $0.key == key && !$0.isDraining } + world.connecting.count { $0 == key }
                #expect(ofKey <= (key == "m" ? multiplexed : limits.connectionsPerOrigin))
            }
            #expect(world.pool.waiters == world.waiting.count)
        }
        world.drain()
        #expect(world.waiting.isEmpty)
    }
}
