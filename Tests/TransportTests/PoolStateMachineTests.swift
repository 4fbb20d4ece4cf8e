import NIOCore
import Testing

@testable import LinnetTransport

@Suite("Connection pool, as a state machine", .timeLimit(.minutes(5)))
struct PoolStateMachineTests {
    struct Fake: Identifiable, Equatable {
        let id: Int
    }
    typealias Machine = PoolStateMachine<String, Fake>

    private let epoch = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func machine(perOrigin: Int = 2, total: Int = 3, idle: Duration = .seconds(10)) -> Machine {
        var limits = TransportConfiguration.PoolLimits()
        limits.connectionsPerOrigin = perOrigin
        limits.connections = total
        limits.idleTimeout = idle
        return Machine(limits: limits)
    }

    private func name(_ action: Machine.LeaseAction) -> String {
        switch action {
        case .use(let connection): "use \(connection.id)"
        case .connect: "connect"
        case .closeAndConnect(let connection): "close \(connection.id) and connect"
        case .wait: "wait"
        }
    }

    private func name(_ action: Machine.VacancyAction) -> String {
        if case .connect(let key) = action { "connect \(key)" } else { "none" }
    }

    @Test func theFirstRequestsOpenConnectionsUpToTheLimit() {
        var pool = machine()
        expectEqual(name(pool.lease("a", waiter: 1)), "connect")
        expectEqual(name(pool.lease("a", waiter: 2)), "connect")
        expectEqual(name(pool.lease("a", waiter: 3)), "wait")
        #expect(pool.connections == 2)
    }

    @Test func aConnectionGoesToWhoWaitedLongest() {
        var pool = machine(perOrigin: 1)
        _ = pool.lease("a", waiter: 1)
        _ = pool.lease("a", waiter: 2)
        _ = pool.lease("a", waiter: 3)
        expectEqual(pool.connected(Fake(id: 1), key: "a", now: epoch), .hand(to: 1))
        expectEqual(pool.release(Fake(id: 1), key: "a", now: epoch), .hand(to: 2))
        expectEqual(pool.release(Fake(id: 1), key: "a", now: epoch), .hand(to: 3))
        expectEqual(pool.release(Fake(id: 1), key: "a", now: epoch), .keep)
    }

    @Test func theConnectionUsedLastIsUsedNext() {
        var pool = machine()
        _ = pool.lease("a", waiter: 1)
        _ = pool.lease("a", waiter: 2)
        _ = pool.connected(Fake(id: 1), key: "a", now: epoch)
        _ = pool.connected(Fake(id: 2), key: "a", now: epoch)
        _ = pool.release(Fake(id: 1), key: "a", now: epoch)
        _ = pool.release(Fake(id: 2), key: "a", now: epoch)
        expectEqual(name(pool.lease("a", waiter: 3)), "use 2")
        expectEqual(name(pool.lease("a", waiter: 4)), "use 1")
    }

    @Test func aCancelledWaiterIsSkipped() {
        var pool = machine(perOrigin: 1)
        _ = pool.lease("a", waiter: 1)
        _ = pool.lease("a", waiter: 2)
        _ = pool.lease("a", waiter: 3)
        expectEqual(pool.cancel(2, key: "a"), true)
        expectEqual(pool.cancel(2, key: "a"), false)
        expectEqual(pool.connected(Fake(id: 1), key: "a", now: epoch), .hand(to: 1))
        expectEqual(pool.release(Fake(id: 1), key: "a", now: epoch), .hand(to: 3))
    }

    @Test func aFailedAttemptFailsOneWaiterAndTriesForTheNext() {
        var pool = machine(perOrigin: 1)
        _ = pool.lease("a", waiter: 1)
        _ = pool.lease("a", waiter: 2)
        let (waiter, next) = pool.connectFailed("a")
        #expect(waiter == 1)
        #expect(name(next) == "connect a")
        let (second, last) = pool.connectFailed("a")
        #expect(second == 2)
        #expect(name(last) == "none")
        #expect(pool.isEmpty && pool.connections == 0)
    }

    @Test func aFailedAttemptThatNobodyNeedsFailsNobody() {
        var pool = machine()
        _ = pool.lease("a", waiter: 1)
        _ = pool.lease("a", waiter: 2)
        expectEqual(pool.connected(Fake(id: 1), key: "a", now: epoch), .hand(to: 1))
        expectEqual(pool.release(Fake(id: 1), key: "a", now: epoch), .hand(to: 2))
        let (waiter, next) = pool.connectFailed("a")
        #expect(waiter == nil)
        #expect(name(next) == "none")
    }

    @Test func aLostConnectionIsReplacedForWhoWaits() {
        var pool = machine(perOrigin: 1)
        _ = pool.lease("a", waiter: 1)
        _ = pool.connected(Fake(id: 1), key: "a", now: epoch)
        _ = pool.lease("a", waiter: 2)
        expectEqual(name(pool.closed(Fake(id: 1), key: "a")), "connect a")
        #expect(pool.connections == 1)
    }

    @Test func theTotalIsKeptByClosingTheOldestIdleConnection() {
        var pool = machine(perOrigin: 2, total: 2)
        _ = pool.lease("a", waiter: 1)
        _ = pool.connected(Fake(id: 1), key: "a", now: epoch)
        _ = pool.release(Fake(id: 1), key: "a", now: epoch)
        _ = pool.lease("b", waiter: 2)
        _ = pool.connected(Fake(id: 2), key: "b", now: epoch)
        _ = pool.release(Fake(id: 2), key: "b", now: epoch + .seconds(1))
        expectEqual(name(pool.lease("c", waiter: 3)), "close 1 and connect")
        expectEqual(name(pool.closed(Fake(id: 1), key: "a")), "none")
        #expect(pool.connections == 2)
    }

    @Test func whoWaitsForTheTotalIsServedWhenAnotherOriginLetsGo() {
        var pool = machine(perOrigin: 1, total: 1)
        _ = pool.lease("a", waiter: 1)
        _ = pool.connected(Fake(id: 1), key: "a", now: epoch)
        expectEqual(name(pool.lease("b", waiter: 2)), "wait")
        expectEqual(name(pool.lease("c", waiter: 3)), "wait")
        expectEqual(name(pool.closed(Fake(id: 1), key: "a")), "connect b")
    }

    @Test func idleConnectionsExpire() {
        var pool = machine(idle: .seconds(10))
        _ = pool.lease("a", waiter: 1)
        _ = pool.lease("a", waiter: 2)
        for id in 1...2 { _ = pool.connected(Fake(id: id), key: "a", now: epoch) }
        _ = pool.release(Fake(id: 1), key: "a", now: epoch)
        _ = pool.release(Fake(id: 2), key: "a", now: epoch + .seconds(4))
        let (expired, next) = pool.expire(now: epoch + .seconds(10))
        #expect(expired == [Fake(id: 1)])
        #expect(next == epoch + .seconds(14))
        #expect(pool.idleConnections == 1)
    }

    @Test func aRetiredKeyServesNobody() {
        var pool = machine(perOrigin: 2)
        _ = pool.lease("old", waiter: 1)
        _ = pool.lease("old", waiter: 2)
        _ = pool.connected(Fake(id: 1), key: "old", now: epoch)
        _ = pool.connected(Fake(id: 2), key: "old", now: epoch)
        _ = pool.release(Fake(id: 1), key: "old", now: epoch)
        _ = pool.lease("old", waiter: 3)
        _ = pool.lease("old", waiter: 4)
        let (idle, waiters) = pool.retire { $0 == "old" }
        #expect(idle.isEmpty)
        #expect(waiters == [4])
        expectEqual(pool.release(Fake(id: 1), key: "old", now: epoch), .close)
        expectEqual(pool.release(Fake(id: 2), key: "old", now: epoch), .close)
        _ = pool.closed(Fake(id: 1), key: "old")
        _ = pool.closed(Fake(id: 2), key: "old")
        #expect(pool.isEmpty)
    }
}
