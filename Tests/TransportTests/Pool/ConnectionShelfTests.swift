import NIOCore
import Testing

@testable import LinnetTransport

@Suite("Connections with room", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ConnectionShelfTests {
    struct Fake: ShelvedConnection, Equatable {
        let id: Int
        var isMultiplexed = false
    }
    typealias Shelf = ConnectionShelf<String, Fake>

    private let epoch = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test func theMostRecentlyUsedConnectionIsUsedFirst() {
        var shelf = Shelf()
        for id in 1...3 { _ = shelf.giveBack(Fake(id: id), key: "a", now: epoch) }
        for id in [3, 2, 1] { expectEqual(shelf.take("a")?.id, id) }
        expectEqual(shelf.take("a"), nil)
        expectEqual(shelf.isEmpty, true)
    }

    @Test func keysDoNotShare() {
        var shelf = Shelf()
        _ = shelf.giveBack(Fake(id: 1), key: "a", now: epoch)
        expectEqual(shelf.take("b"), nil)
        expectEqual(shelf.take(Fake(id: 1), key: "b"), false)
        expectEqual(shelf.take(Fake(id: 1), key: "a"), true)
        expectEqual(shelf.take(Fake(id: 1), key: "a"), false)
    }

    @Test func aMultiplexedConnectionIsTakenUntilItIsFull() {
        let fake = Fake(id: 1, isMultiplexed: true)
        var shelf = Shelf()
        shelf.add(fake, key: "a", capacity: 3, now: epoch)
        expectEqual(shelf.take("a"), fake)
        expectEqual(shelf.take("a"), fake)
        expectEqual(shelf.take("a"), nil)
        expectEqual(shelf.exchanges(on: fake), 3)
        expectEqual(shelf.giveBack(fake, key: "a", now: epoch), .kept)
        expectEqual(shelf.take("a"), fake)
        for _ in 0..<3 { _ = shelf.giveBack(fake, key: "a", now: epoch) }
        expectEqual(shelf.isUnused(fake), true)
        expectEqual(shelf.takeUnused(), [fake])
        expectEqual(shelf.isEmpty, true)
    }

    @Test func theCapacityOfAConnectionCanChange() {
        let fake = Fake(id: 1, isMultiplexed: true)
        var shelf = Shelf()
        shelf.add(fake, key: "a", capacity: 1, now: epoch)
        expectEqual(shelf.take("a"), nil)
        shelf.setCapacity(3, of: fake, key: "a", now: epoch)
        expectEqual(shelf.take("a"), fake)
        shelf.setCapacity(1, of: fake, key: "a", now: epoch)
        expectEqual(shelf.take("a"), nil)
        _ = shelf.giveBack(fake, key: "a", now: epoch)
        expectEqual(shelf.take("a"), nil)
        _ = shelf.giveBack(fake, key: "a", now: epoch)
        expectEqual(shelf.take("a"), fake)
        shelf.setCapacity(0, of: fake, key: "a", now: epoch)
        _ = shelf.giveBack(fake, key: "a", now: epoch)
        expectEqual(shelf.take("a"), nil)
        expectEqual(shelf.isUnused(fake), true)
        shelf.remove(fake, key: "a")
        expectEqual(shelf.giveBack(fake, key: "a", now: epoch), .ignored)
        expectEqual(shelf.isEmpty, true)
    }

    /// RFC 9113, 5.1.2: a server may allow no exchange for a while. The connection is not offered, but it is not
    /// forgotten either.
    @Test func anUnusedConnectionWithoutPlacesExpires() {
        let fake = Fake(id: 1, isMultiplexed: true)
        for (barsFirst, later) in [(true, epoch + .seconds(1)), (false, epoch)] {
            var shelf = Shelf()
            shelf.add(fake, key: "a", capacity: 8, now: epoch)
            if barsFirst { shelf.setCapacity(0, of: fake, key: "a", now: epoch) }
            _ = shelf.giveBack(fake, key: "a", now: later)
            if !barsFirst { shelf.setCapacity(0, of: fake, key: "a", now: epoch + .seconds(5)) }
            expectEqual(shelf.take("a"), nil)
            expectEqual(shelf.take(fake, key: "a"), false)
            expectEqual(shelf.oldestUnused()?.connection, fake)
            expectEqual(shelf.oldestUnused()?.since, later)
            let (expired, resting, next) = shelf.expire(
                now: epoch + .seconds(9), idleTime: .seconds(10), restTime: .seconds(1))
            #expect(expired.isEmpty && resting == [fake] && next == later + .seconds(10))
            #expect(
                shelf.expire(now: next ?? epoch, idleTime: .seconds(10), restTime: .seconds(1)).expired == [fake])
            expectEqual(shelf.isEmpty, true)
        }
    }

    @Test func anUnusedConnectionWithoutPlacesIsTakenAndUsedAgain() {
        let fakes = (1...3).map { Fake(id: $0, isMultiplexed: true) }
        var shelf = Shelf()
        for fake in fakes {
            shelf.add(fake, key: "a", capacity: 8, now: epoch)
            _ = shelf.giveBack(fake, key: "a", now: epoch)
            shelf.setCapacity(0, of: fake, key: "a", now: epoch)
        }
        expectEqual(shelf.takeUnused(fakes[0], key: "a"), true)
        shelf.setCapacity(1, of: fakes[1], key: "a", now: epoch)
        expectEqual(shelf.take("a"), fakes[1])
        expectEqual(shelf.take("a"), nil)
        expectEqual(shelf.takeUnused(), [fakes[2]])
        shelf.remove(fakes[1], key: "a")
        expectEqual(shelf.isEmpty, true)
    }

    @Test func aRetiredConnectionGetsNoPlaces() {
        let fake = Fake(id: 1, isMultiplexed: true)
        var shelf = Shelf()
        shelf.add(fake, key: "a", capacity: 8, now: epoch)
        shelf.retire(fake, key: "a")
        shelf.setCapacity(8, of: fake, key: "a", now: epoch)
        expectEqual(shelf.take("a"), nil)
        expectEqual(shelf.giveBack(fake, key: "a", now: epoch), .kept)
        expectEqual(shelf.take("a"), nil)
        expectEqual(shelf.oldestUnused()?.connection, nil)
        expectEqual(shelf.isUnused(fake), true)
    }

    @Test func unusedConnectionsExpire() {
        let (idle, busy) = (Fake(id: 1, isMultiplexed: true), Fake(id: 2, isMultiplexed: true))
        var shelf = Shelf()
        for fake in [idle, busy] { shelf.add(fake, key: "m", capacity: 8, now: epoch) }
        _ = shelf.giveBack(idle, key: "m", now: epoch)
        _ = shelf.giveBack(Fake(id: 3), key: "a", now: epoch)
        _ = shelf.giveBack(Fake(id: 4), key: "a", now: epoch + .seconds(4))
        expectEqual(shelf.oldestUnused()?.since, epoch)
        let (expired, resting, next) = shelf.expire(
            now: epoch + .seconds(10), idleTime: .seconds(10), restTime: .seconds(1))
        #expect(Set(expired.map(\.id)) == [1, 3])
        #expect(resting.map(\.id) == [4])
        #expect(next == epoch + .seconds(14))
        expectEqual(shelf.take("m"), busy)
    }

    @Test func unusedConnectionsRestOnceForEachTime() {
        let (plain, multiplexed) = (Fake(id: 1), Fake(id: 2, isMultiplexed: true))
        var shelf = Shelf()
        func resting(at seconds: Int64) -> ([Int], NIODeadline?) {
            let result = shelf.expire(
                now: epoch + .seconds(seconds), idleTime: .seconds(60), restTime: .seconds(2))
            #expect(result.expired.isEmpty)
            return (result.resting.map { Int($0.id) }.sorted(), result.next)
        }
        shelf.add(multiplexed, key: "m", capacity: 8, now: epoch)
        _ = shelf.giveBack(plain, key: "a", now: epoch)
        #expect(resting(at: 1) == ([], epoch + .seconds(2)))
        #expect(resting(at: 2) == ([1], epoch + .seconds(60)))
        #expect(resting(at: 3) == ([], epoch + .seconds(60)))
        // In use until now, although it has had room all the time.
        _ = shelf.giveBack(multiplexed, key: "m", now: epoch + .seconds(4))
        #expect(resting(at: 5) == ([], epoch + .seconds(6)))
        #expect(resting(at: 6) == ([2], epoch + .seconds(60)))
        // Used again.
        for fake in [plain, multiplexed] {
            let key = fake.isMultiplexed ? "m" : "a"
            expectEqual(shelf.take(key), fake)
            #expect(resting(at: 7).0.isEmpty)
            _ = shelf.giveBack(fake, key: key, now: epoch + .seconds(8))
        }
        #expect(resting(at: 10) == ([1, 2], epoch + .seconds(68)))
    }

    @Test func onlyMatchingConnectionsAreTaken() {
        var shelf = Shelf()
        _ = shelf.giveBack(Fake(id: 1), key: "a", now: epoch)
        _ = shelf.giveBack(Fake(id: 2), key: "b", now: epoch)
        expectEqual(shelf.takeUnused { $0.key == "b" }, [Fake(id: 2)])
        expectEqual(shelf.takeUnused { $0.connection == 2 }, [])
        expectEqual(shelf.take("a"), Fake(id: 1))
    }
}
