import LinnetSecurity
import NIOCore
import Testing

@testable import LinnetTransport

/// The total limit and connections that several requests share, on the pool itself.
@Suite("Connection pool, room for another origin", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct PoolRoomTests {
    /// A multiplexed connection with this many exchanges, in a pool that has room for no other.
    private func fullPool(
        exchanges: Int
    ) throws -> (bench: PoolBench, shared: FakeOpener.Opened) {
        let bench = PoolBench { $0.pool.connections = 1 }
        let requests = try (0..<exchanges).map { _ in bench.request(try PoolBench.origin("m")) }
        let shared = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        for request in requests { #expect(try bench.outcome(request)?.get() === shared.connection) }
        return (bench, shared)
    }

    /// An unused connection to one origin, and one request more to another than the next connection has places for.
    private func unusedConnection(
        in bench: PoolBench
    ) throws -> (unused: FakeOpener.Opened, requests: [PoolBench.Request]) {
        let other = bench.request(try PoolBench.origin("a"))
        let unused = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(bench.outcome(other) != nil)
        unused.connection.exchangeEnded()
        return (unused, try (0...FakeOpener.capacity).map { _ in bench.request(try PoolBench.origin("m")) })
    }

    @Test func aConnectionInUseIsKeptWhileAnotherOriginWaits() throws {
        let (bench, shared) = try fullPool(exchanges: 2)
        let other = bench.request(try PoolBench.origin("a"))
        shared.connection.exchangeEnded()
        bench.settle()
        #expect(shared.connection.isOpen)
        #expect(bench.outcome(other) == nil)
        shared.connection.exchangeEnded()
        bench.settle()
        #expect(!shared.connection.isOpen)
        let opened = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(try bench.outcome(other)?.get() === opened.connection)
        expectEqual(try bench.shutDown(), true)
    }

    /// The server's SETTINGS may arrive before the pool knows the connection.
    @Test func aCapacitySetBeforeTheConnectionIsKnownApplies() throws {
        let bench = PoolBench()
        let requests = try (0..<3).map { _ in bench.request(try PoolBench.origin("m")) }
        let shared = try bench.opener.succeed(try #require(bench.opener.attempts.first), settingFirst: 1)
        bench.settle()
        #expect(requests.map { bench.outcome($0) != nil } == [true, false, false])
        shared.connection.capacityChanged(2)
        bench.settle()
        #expect(requests.map { bench.outcome($0) != nil } == [true, true, false])
        expectEqual(try bench.shutDown(), true)
    }

    /// A shutdown ends with the last request, also if no connection is left.
    @Test func aShutdownEndsWithTheLastWaitingRequest() throws {
        let bench = PoolBench { $0.pool.connections = 0 }
        let waiting = bench.request(try PoolBench.origin("a"))
        expectEqual(try bench.shutDown(.graceful), false)
        waiting.task.cancel()
        bench.settle()
        #expect(bench.pool.change { $0.drained.isEmpty })
    }

    /// A server that allows no streams keeps no other origin waiting.
    @Test func anUnusedConnectionThatAllowsNoStreamsMakesRoom() throws {
        let (bench, shared) = try fullPool(exchanges: 1)
        shared.connection.capacityChanged(0)
        shared.connection.exchangeEnded()
        #expect(shared.connection.isOpen)
        let other = bench.request(try PoolBench.origin("a"))
        bench.settle()
        #expect(!shared.connection.isOpen)
        _ = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(bench.outcome(other) != nil)
        expectEqual(try bench.shutDown(), true)
    }

    @Test func aConnectionThatAllowsNoStreamsMakesRoomOnceItIsUnused() throws {
        let (bench, shared) = try fullPool(exchanges: 1)
        shared.connection.capacityChanged(0)
        let other = bench.request(try PoolBench.origin("a"))
        bench.settle()
        #expect(shared.connection.isOpen)
        shared.connection.exchangeEnded()
        bench.settle()
        #expect(!shared.connection.isOpen)
        _ = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(bench.outcome(other) != nil)
        expectEqual(try bench.shutDown(), true)
    }

    @Test func anUnusedConnectionThatAllowsNoStreamsExpires() throws {
        let (bench, shared) = try fullPool(exchanges: 1)
        shared.connection.capacityChanged(0)
        shared.connection.exchangeEnded()
        bench.advance(by: .seconds(59))
        #expect(shared.connection.isOpen)
        bench.advance(by: .seconds(2))
        #expect(!shared.connection.isOpen)
        expectEqual(try bench.shutDown(), true)
    }

    @Test func anUnusedConnectionThatAllowsStreamsAgainExpires() throws {
        let (bench, shared) = try fullPool(exchanges: 1)
        shared.connection.capacityChanged(0)
        shared.connection.exchangeEnded()
        bench.advance(by: .seconds(30))
        shared.connection.capacityChanged(2)
        bench.advance(by: .seconds(59))
        #expect(shared.connection.isOpen)
        bench.advance(by: .seconds(61))
        #expect(!shared.connection.isOpen)
        expectEqual(try bench.shutDown(), true)
    }

    /// The retiring connection still counts, and the unused one makes room for its successor.
    @Test func aRetiringConnectionIsReplacedInPlaceOfAnUnusedOne() throws {
        let bench = PoolBench { $0.pool.connections = 2 }
        let (unused, requests) = try unusedConnection(in: bench)
        let full = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(bench.outcome(requests[FakeOpener.capacity]) == nil)
        #expect(unused.connection.isOpen)
        full.connection.isRetiring()
        bench.settle()
        #expect(!unused.connection.isOpen)
        let next = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(try bench.outcome(requests[FakeOpener.capacity])?.get() === next.connection)
        expectEqual(try bench.shutDown(), true)
    }

    /// The connection that ends gives its own room to its successor.
    @Test func aConnectionThatEndsIsReplacedInItsOwnRoom() throws {
        let bench = PoolBench { $0.pool.connections = 2 }
        let (unused, requests) = try unusedConnection(in: bench)
        let full = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        full.connection.isEnding()
        bench.settle()
        #expect(unused.connection.isOpen && bench.opener.attempts.isEmpty)
        full.channel.close(promise: nil)
        bench.settle()
        #expect(unused.connection.isOpen)
        let next = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(try bench.outcome(requests[FakeOpener.capacity])?.get() === next.connection)
        expectEqual(try bench.shutDown(), true)
    }

    /// Until the first connection is open, one is allowed; then two.
    @Test func aSecondSharedConnectionIsOpenedInPlaceOfAnUnusedOne() throws {
        let bench = PoolBench {
            $0.pool.connections = 2
            $0.http2.maximumConnectionsPerOrigin = 2
        }
        let (unused, requests) = try unusedConnection(in: bench)
        #expect(unused.connection.isOpen)
        _ = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(!unused.connection.isOpen)
        let second = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(try bench.outcome(requests[FakeOpener.capacity])?.get() === second.connection)
        expectEqual(try bench.shutDown(), true)
    }

    /// The request asks again under the new policy, within its first deadline.
    @Test func aReplacedPolicyDoesNotProlongTheWait() throws {
        let (bench, _) = try fullPool(exchanges: 3)
        let waiting = bench.request(try PoolBench.origin("a"), poolWait: .seconds(10))
        for _ in 0..<3 {
            bench.advance(by: .seconds(3))
            #expect(bench.outcome(waiting) == nil)
            bench.pool.replaceTerms { $0.replacing(.systemTrust(anchors: .system)) }
            bench.settle()
        }
        bench.advance(by: .seconds(1))
        guard case .failure(let error)? = bench.outcome(waiting) else {
            Issue.record("The request waits for longer than its limit.")
            return
        }
        #expect(error.code == .poolTimeout)
        expectEqual(try bench.shutDown(), true)
    }
}
