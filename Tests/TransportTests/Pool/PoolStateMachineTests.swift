import NIOCore
import Testing

@testable import LinnetTransport

@Suite("Connection pool, as a state machine", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct PoolStateMachineTests {
    typealias Machine = PoolStateMachine<String>

    private func machine(perOrigin: Int = 2, total: Int = 3, multiplexed: Int = 1) -> Machine {
        var limits = TransportConfiguration.PoolLimits()
        limits.connectionsPerOrigin = perOrigin
        limits.connections = total
        return Machine(limits: limits, multiplexedPerOrigin: multiplexed)
    }

    // MARK: One exchange at a time

    @Test func theFirstRequestsOpenConnectionsUpToTheLimit() {
        var pool = machine()
        expectEqual(pool.wait(1, for: "a", .never), .connect)
        expectEqual(pool.wait(2, for: "a", .never), .connect)
        expectEqual(pool.wait(3, for: "a", .never), .wait)
        #expect(pool.connections == 2)
    }

    @Test func aPlaceGoesToTheRequestThatWaitedLongest() {
        var pool = machine(perOrigin: 1)
        for waiter in 1...3 { _ = pool.wait(UInt64(waiter), for: "a", .never) }
        expectEqual(pool.connected("a", isMultiplexed: false), 0)
        for waiter in 1...3 { expectEqual(pool.release("a", isUnused: true), .hand(to: UInt64(waiter))) }
        expectEqual(pool.release("a", isUnused: true), .keep)
    }

    @Test func aPlaceGoesToTheHighestPriorityFirst() {
        var pool = machine(perOrigin: 1)
        for (waiter, priority) in [(1, 0.5), (2, 0.25), (3, 0.75), (4, 0.5), (5, 0.75)] {
            _ = pool.wait(UInt64(waiter), for: "a", .never, priority: RequestPriority(priority))
        }
        expectEqual(pool.connected("a", isMultiplexed: false), 0)
        for waiter in [3, 5, 1, 4, 2] { expectEqual(pool.release("a", isUnused: true), .hand(to: UInt64(waiter))) }
        #expect(pool.waiters == 0)
    }

    @Test func aPriorityChangesWhileTheRequestWaits() {
        var pool = machine(perOrigin: 1)
        for waiter in 1...4 { _ = pool.wait(UInt64(waiter), for: "a", .never) }
        expectEqual(pool.connected("a", isMultiplexed: false), 0)
        pool.setPriority(.high, of: 3, key: "a")
        pool.setPriority(.low, of: 1, key: "a")
        pool.setPriority(.low, of: 4, key: "a")
        // The original priority again: requests of equal priority are served in order of arrival.
        pool.setPriority(.normal, of: 4, key: "a")
        pool.setPriority(.high, of: 99, key: "a")
        for waiter in [3, 2, 4, 1] { expectEqual(pool.release("a", isUnused: true), .hand(to: UInt64(waiter))) }
        expectEqual(pool.release("a", isUnused: true), .keep)
        #expect(pool.waiters == 0)
    }

    /// A request with a useless connection waits again, before later requests.
    @Test func aRepeatedRequestKeepsItsPlace() {
        var pool = machine(perOrigin: 1)
        let arrivals: [UInt64: Int64] = [1: 30, 2: 10, 3: 40, 4: 20, 5: 20]
        for (waiter, arrival) in arrivals.sorted(by: { $0.key < $1.key }) {
            _ = pool.wait(waiter, for: "a", .never, since: Tick(nanoseconds: arrival))
        }
        expectEqual(pool.connected("a", isMultiplexed: false), 0)
        // A changed priority does not cost the place among equals either.
        pool.setPriority(.low, of: 2, key: "a")
        pool.setPriority(.normal, of: 2, key: "a")
        for waiter in [2, 4, 5, 1, 3] { expectEqual(pool.release("a", isUnused: true), .hand(to: UInt64(waiter))) }
        #expect(pool.waiters == 0)
    }

    /// A connection that closed before it was reported as connected opens no other one.
    @Test func aLateConnectionIsNotCounted() {
        var pool = machine()
        expectEqual(pool.wait(1, for: "a", .never), .connect)
        expectEqual(pool.cancel(1, key: "a"), true)
        expectEqual(pool.closed("a", wasDraining: false), nil)
        expectEqual(pool.wait(2, for: "a", .never), .connect)
        // The first one.
        expectEqual(pool.connected("a", isMultiplexed: false), 0)
        expectEqual(pool.connected("a", isMultiplexed: false), 0)
        #expect(pool.connections == 1)
    }

    @Test func aCancelledWaiterIsSkipped() {
        var pool = machine(perOrigin: 1)
        for waiter in 1...3 { _ = pool.wait(UInt64(waiter), for: "a", .never) }
        expectEqual(pool.cancel(2, key: "a"), true)
        expectEqual(pool.cancel(2, key: "a"), false)
        _ = pool.connected("a", isMultiplexed: false)
        expectEqual(pool.release("a", isUnused: true), .hand(to: 1))
        expectEqual(pool.release("a", isUnused: true), .hand(to: 3))
        #expect(pool.waiters == 0)
    }

    @Test func aFailedAttemptFailsOneWaiterAndTriesForTheNext() {
        var pool = machine(perOrigin: 1)
        for waiter in 1...2 { _ = pool.wait(UInt64(waiter), for: "a", .never) }
        let (first, next) = pool.connectFailed("a")
        #expect(first == [1])
        #expect(next == "a")
        let (second, last) = pool.connectFailed("a")
        #expect(second == [2])
        #expect(last == nil)
        #expect(pool.isEmpty)
    }

    @Test func aFailedAttemptThatIsNotNeededFailsNoRequest() {
        var pool = machine()
        for waiter in 1...2 { _ = pool.wait(UInt64(waiter), for: "a", .never) }
        _ = pool.connected("a", isMultiplexed: false)
        expectEqual(pool.release("a", isUnused: true), .hand(to: 1))
        expectEqual(pool.release("a", isUnused: true), .hand(to: 2))
        let (failed, next) = pool.connectFailed("a")
        #expect(failed.isEmpty)
        #expect(next == nil)
    }

    /// Two connections are being opened, and one request waits: the other connection may serve it.
    @Test func aFailedAttemptFailsNoRequestThatAnotherAttemptMayServe() {
        var pool = machine()
        for waiter in 1...2 { _ = pool.wait(UInt64(waiter), for: "a", .never) }
        expectEqual(pool.cancel(1, key: "a"), true)
        #expect(!pool.needsAttempt("a") && pool.waitersForAttempt("a").isEmpty)
        let (first, next) = pool.connectFailed("a")
        #expect(first.isEmpty && next == nil)
        #expect(pool.needsAttempt("a") && pool.waitersForAttempt("a") == [2])
        let (second, last) = pool.connectFailed("a")
        #expect(second == [2] && last == nil)
        #expect(pool.isEmpty)
    }

    @Test func aLostConnectionIsReplacedForWaitingRequests() {
        var pool = machine(perOrigin: 1)
        _ = pool.wait(1, for: "a", .never)
        _ = pool.connected("a", isMultiplexed: false)
        _ = pool.release("a", isUnused: true)
        _ = pool.wait(2, for: "a", .never)
        expectEqual(pool.closed("a", wasDraining: false), "a")
        #expect(pool.connections == 1)
    }

    // MARK: The total

    @Test func anUnusedConnectionGoesWhenTheTotalIsReached() {
        var pool = machine(total: 1)
        _ = pool.wait(1, for: "a", .never)
        _ = pool.connected("a", isMultiplexed: false)
        _ = pool.release("a", isUnused: true)
        expectEqual(pool.release("a", isUnused: true), .keep)
        expectEqual(pool.wait(2, for: "b", .never), .evict)
        expectEqual(pool.connectInPlaceOfEvicted("b"), true)
        #expect(pool.connections == 2)
        expectEqual(pool.closed("a", wasDraining: false), nil)
        #expect(pool.connections == 1)
    }

    @Test func aPlaceThatAnotherOriginNeedsIsGivenUp() {
        var pool = machine(total: 1)
        _ = pool.wait(1, for: "a", .never)
        _ = pool.connected("a", isMultiplexed: false)
        _ = pool.release("a", isUnused: true)
        expectEqual(pool.wait(2, for: "b", .never), .evict)
        #expect(pool.needsPlace(of: "a", isUnused: true))
        #expect(!pool.needsPlace(of: "a", isUnused: false))
        expectEqual(pool.release("a", isUnused: false), .keep)
        expectEqual(pool.release("a", isUnused: true), .close)
        expectEqual(pool.closed("a", wasDraining: false), "b")
    }

    @Test func requestsThatWaitForTheTotalAreServedInTurn() {
        var pool = machine(perOrigin: 1, total: 1)
        _ = pool.wait(1, for: "a", .never)
        _ = pool.connected("a", isMultiplexed: false)
        _ = pool.release("a", isUnused: true)
        _ = pool.wait(2, for: "b", .never)
        _ = pool.wait(3, for: "c", .never)
        expectEqual(pool.closed("a", wasDraining: false), "b")
    }

    /// The room of a lost connection stays with its origin while that needs it, although another's request came first.
    @Test func anOriginReplacesItsOwnConnectionFirst() {
        var pool = machine(perOrigin: 1, total: 1)
        _ = pool.wait(1, for: "a", .never, since: Tick(nanoseconds: 1))
        _ = pool.connected("a", isMultiplexed: false)
        expectEqual(pool.release("a", isUnused: true), .hand(to: 1))
        expectEqual(pool.wait(2, for: "b", .never, since: Tick(nanoseconds: 2)), .evict)
        expectEqual(pool.wait(3, for: "a", .never, since: Tick(nanoseconds: 3)), .wait)
        expectEqual(pool.closed("a", wasDraining: false), "a")
        _ = pool.connected("a", isMultiplexed: false)
        expectEqual(pool.release("a", isUnused: true), .hand(to: 3))
        expectEqual(pool.closed("a", wasDraining: false), "b")
    }

    // MARK: Many exchanges at a time

    @Test func oneConnectionIsOpenedUntilItsProtocolIsKnown() {
        var pool = machine(perOrigin: 2)
        expectEqual(pool.wait(1, for: "a", .possible), .connect)
        expectEqual(pool.wait(2, for: "a", .possible), .wait)
        expectEqual(pool.wait(3, for: "a", .possible), .wait)
        expectEqual(pool.connected("a", isMultiplexed: false), 1)
        #expect(pool.connections == 2)
    }

    @Test func aMultiplexedConnectionServesAllWaitingRequests() {
        var pool = machine(perOrigin: 8)
        for waiter in 1...3 { _ = pool.wait(UInt64(waiter), for: "a", .possible) }
        expectEqual(pool.connected("a", isMultiplexed: true), 0)
        for waiter in 1...3 { expectEqual(pool.release("a", isUnused: false), .hand(to: UInt64(waiter))) }
        expectEqual(pool.wait(4, for: "a", .possible), .wait)
        #expect(pool.connections == 1)
    }

    @Test func aFullConnectionIsJoinedByASecondOneIfAllowed() {
        var pool = machine(perOrigin: 8, multiplexed: 2)
        _ = pool.wait(1, for: "a", .possible)
        _ = pool.connected("a", isMultiplexed: true)
        _ = pool.release("a", isUnused: true)
        expectEqual(pool.wait(2, for: "a", .possible), .connect)
        expectEqual(pool.wait(3, for: "a", .possible), .wait)
        _ = pool.connected("a", isMultiplexed: true)
        expectEqual(pool.wait(4, for: "a", .possible), .wait)
        #expect(pool.connections == 2)
    }

    @Test func oneFailedAttemptFailsAllRequestsThatWouldShareIt() {
        var pool = machine()
        for waiter in 1...3 { _ = pool.wait(UInt64(waiter), for: "a", .possible) }
        let (failed, next) = pool.connectFailed("a")
        #expect(failed == [1, 2, 3])
        #expect(next == nil)
        #expect(pool.isEmpty)
    }

    /// The connection that is open may serve the others.
    @Test func aFailedAttemptBesideAnOpenConnectionFailsOneRequest() {
        var pool = machine(perOrigin: 8, multiplexed: 2)
        _ = pool.wait(1, for: "a", .possible)
        _ = pool.connected("a", isMultiplexed: true)
        expectEqual(pool.release("a", isUnused: true), .hand(to: 1))
        expectEqual(pool.wait(2, for: "a", .possible), .connect)
        expectEqual(pool.wait(3, for: "a", .possible), .wait)
        #expect(pool.waitersForAttempt("a") == [2])
        let (failed, next) = pool.connectFailed("a")
        #expect(failed == [2] && next == "a")
        expectEqual(pool.release("a", isUnused: false), .hand(to: 3))
    }

    @Test func aDrainingConnectionIsReplacedAtOnce() {
        var pool = machine(total: 2)
        _ = pool.wait(1, for: "a", .possible)
        _ = pool.connected("a", isMultiplexed: true)
        _ = pool.release("a", isUnused: true)
        _ = pool.wait(2, for: "a", .possible)
        expectEqual(pool.draining("a"), .connect)
        #expect(pool.connections == 2)
        expectEqual(pool.closed("a", wasDraining: true), nil)
        #expect(pool.connections == 1)
    }

    // MARK: Upkeep

    @Test func waitersOfARetiredKeyAskAgain() {
        var pool = machine(perOrigin: 1)
        for waiter in 1...3 { _ = pool.wait(UInt64(waiter), for: "old", .never) }
        #expect(pool.retire { $0 == "old" } == [1, 2, 3])
        #expect(pool.waiters == 0)
        _ = pool.connected("old", isMultiplexed: false)
        expectEqual(pool.release("old", isUnused: true), .keep)
        expectEqual(pool.closed("old", wasDraining: false), nil)
        #expect(pool.isEmpty)
    }

    @Test func connectionsAreOpenedInAdvanceWithinTheLimits() {
        var pool = machine(perOrigin: 2, total: 3)
        expectEqual(pool.prewarm("a", count: 5, .never), 2)
        expectEqual(pool.prewarm("a", count: 2, .never), 0)
        expectEqual(pool.prewarm("b", count: 5, .possible), 1)
        expectEqual(pool.prewarm("c", count: 1, .never), 0)
        expectEqual(pool.wait(1, for: "a", .never), .wait)
        expectEqual(pool.connected("a", isMultiplexed: false), 0)
        expectEqual(pool.release("a", isUnused: true), .hand(to: 1))
    }

    @Test func openConnectionsCountTowardsPrewarming() {
        var pool = machine(perOrigin: 8, total: 8)
        expectEqual(pool.prewarm("a", count: 2, .never), 2)
        expectEqual(pool.prewarm("a", count: 3, .never), 1)
        expectEqual(pool.prewarm("a", count: 3, .never), 0)
        #expect(pool.connections == 3)
    }
}
