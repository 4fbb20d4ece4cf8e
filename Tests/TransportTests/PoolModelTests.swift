import NIOCore
import Testing

@testable import LinnetTransport

/// Runs random histories through the pool's state machine, and holds it to what must always be true.
@Suite("Connection pool, random histories", .timeLimit(.minutes(5)))
struct PoolModelTests {
    struct Fake: Identifiable, Equatable {
        let id: Int
    }

    /// A generator whose histories can be had again by their seed (SplitMix64).
    struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    /// What the world outside of the pool holds.
    private struct World {
        var pool: PoolStateMachine<String, Fake>
        var waiting: [UInt64: String] = [:]
        var inUse: [(connection: Fake, key: String)] = []
        var connecting: [String] = []
        var closing: [(connection: Fake, key: String)] = []
        var idle: [(connection: Fake, key: String)] = []
        var nextID = 1
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

        mutating func hand(_ action: PoolStateMachine<String, Fake>.ReleaseAction, _ fake: Fake, _ key: String) {
            switch action {
            case .hand(let waiter):
                expectEqual(waiting.removeValue(forKey: waiter), key)
                inUse.append((fake, key))
            case .keep: idle.append((fake, key))
            case .close: closing.append((fake, key))
            }
        }

        mutating func follow(_ action: PoolStateMachine<String, Fake>.VacancyAction) {
            if case .connect(let key) = action { connecting.append(key) }
        }

        mutating func lease(_ key: String, waiter: UInt64) {
            switch pool.lease(key, waiter: waiter) {
            case .use(let fake):
                let index = idle.firstIndex { $0.connection == fake && $0.key == key }
                #expect(index != nil)
                if let index { inUse.append(idle.remove(at: index)) }
            case .connect:
                waiting[waiter] = key
                connecting.append(key)
            case .closeAndConnect(let victim):
                waiting[waiter] = key
                connecting.append(key)
                let index = idle.firstIndex { $0.connection == victim }
                #expect(index != nil)
                if let index { closing.append(idle.remove(at: index)) }
            case .wait:
                waiting[waiter] = key
            }
        }

        mutating func step(_ random: inout Seeded, waiter: UInt64) {
            now = now + .milliseconds(1)
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                lease(["a", "b", "c"].randomElement(using: &random) ?? "a", waiter: waiter)
            case 3 where !connecting.isEmpty:
                let key = connecting.remove(at: Int.random(in: 0..<connecting.count, using: &random))
                let fake = Fake(id: nextID)
                nextID += 1
                hand(pool.connected(fake, key: key, now: now), fake, key)
            case 4 where !connecting.isEmpty:
                let key = connecting.remove(at: Int.random(in: 0..<connecting.count, using: &random))
                let (failed, next) = pool.connectFailed(key)
                if let failed { expectEqual(waiting.removeValue(forKey: failed), key) }
                follow(next)
            case 5 where !inUse.isEmpty:
                let (fake, key) = inUse.remove(at: Int.random(in: 0..<inUse.count, using: &random))
                if Bool.random(using: &random) {
                    hand(pool.release(fake, key: key, now: now), fake, key)
                } else {
                    follow(pool.closed(fake, key: key))
                }
            case 6 where !closing.isEmpty:
                let (fake, key) = closing.removeFirst()
                follow(pool.closed(fake, key: key))
            case 7:
                if let (waiter, key) = waiting.randomElement(using: &random), pool.cancel(waiter, key: key) {
                    waiting[waiter] = nil
                }
            default:
                break
            }
        }

        /// Lets everything that has begun come to its end.
        mutating func drain() {
            for _ in 0..<10_000 {
                if let key = connecting.popLast() {
                    let fake = Fake(id: nextID)
                    nextID += 1
                    hand(pool.connected(fake, key: key, now: now), fake, key)
                } else if let (fake, key) = inUse.popLast() {
                    hand(pool.release(fake, key: key, now: now), fake, key)
                } else if let (fake, key) = closing.popLast() {
                    follow(pool.closed(fake, key: key))
                } else {
                    return
                }
            }
        }
    }

    @Test(arguments: 0..<200)
    func limitsHoldAndNobodyIsForgotten(seed: UInt64) {
        var random = Seeded(state: seed)
        var limits = TransportConfiguration.PoolLimits()
        limits.connectionsPerOrigin = Int.random(in: 1...3, using: &random)
        limits.connections = Int.random(in: 1...5, using: &random)
        var world = World(pool: PoolStateMachine(limits: limits))
        for waiter in 1...400 {
            world.step(&random, waiter: UInt64(waiter))
            let counted = world.inUse.count + world.idle.count + world.connecting.count + world.closing.count
            #expect(world.pool.connections == counted)
            #expect(world.pool.connections - world.closing.count <= limits.connections)
            for key in ["a", "b", "c"] {
                let ofKey =
                    world.inUse.count { $0.key == key } + world.idle.count { $0.key == key }
                    + world.connecting.count { $0 == key }
                #expect(ofKey <= limits.connectionsPerOrigin)
            }
            #expect(world.pool.waiters == world.waiting.count)
        }
        world.drain()
        #expect(world.waiting.isEmpty)
    }
}
