import HTTPTypes
import NIOCore
import NIOEmbedded
import Testing

@testable import LinnetTransport

/// The pool's timers, in the time of an embedded event loop.
@Suite("Connection pool, times", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct PoolTimeTests {
    private func code(_ bench: PoolBench, _ request: PoolBench.Request) -> TransportError.Code? {
        guard case .failure(let error)? = bench.outcome(request) else { return nil }
        return error.code
    }

    @Test func waitsEndInTheOrderOfTheirDeadlines() throws {
        let bench = PoolBench { $0.pool.connectionsPerOrigin = 1 }
        let origin = try PoolBench.origin("a")
        let waits = [Duration.seconds(60), .seconds(3), .seconds(1), .seconds(2)].map {
            bench.request(origin, poolWait: $0)
        }
        let endless = bench.request(origin, poolWait: nil)
        let expected: [(seconds: Int64, ended: [Int])] = [
            (0, []), (1, [2]), (1, [2, 3]), (1, [1, 2, 3]), (56, [1, 2, 3]), (1, [0, 1, 2, 3]),
        ]
        for (seconds, ended) in expected {
            bench.advance(by: .seconds(seconds))
            #expect(waits.indices.filter { code(bench, waits[$0]) == .poolTimeout } == ended, "\(bench.now)")
        }
        #expect(bench.outcome(endless) == nil)
        expectEqual(try bench.shutDown(), true)
        #expect(bench.pool.openConnections == 0)
    }

    @Test func anUnusedConnectionClosesAfterTheIdleTimeout() throws {
        let bench = PoolBench { $0.pool.idleTimeout = .seconds(10) }
        let origin = try PoolBench.origin("a")
        let request = bench.request(origin)
        let opened = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(try bench.outcome(request)?.get() === opened.connection)
        // In use, however long.
        bench.advance(by: .seconds(100))
        #expect(opened.connection.isOpen)
        opened.connection.exchangeEnded()
        bench.advance(by: .seconds(9))
        #expect(opened.connection.isOpen)
        bench.advance(by: .seconds(1))
        #expect(!opened.connection.isOpen)
        #expect(bench.pool.openConnections == 0)
        expectEqual(try bench.shutDown(), true)
    }

    @Test(arguments: ["a", "m"])
    func anUnusedConnectionFreesItsMemoryOnce(name: String) throws {
        let bench = PoolBench()
        let origin = try PoolBench.origin(name)
        let request = bench.request(origin)
        let opened = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(try bench.outcome(request)?.get() === opened.connection)
        let rests = RestCounter()
        try opened.channel.pipeline.syncOperations.addHandler(rests, position: .first)
        bench.advance(by: .seconds(10))
        #expect(rests.count == 0, "in use")
        for time in 1...2 {
            opened.connection.exchangeEnded()
            bench.settle()
            #expect(rests.count == time - 1)
            bench.advance(by: .seconds(2))
            #expect(rests.count == time)
            bench.advance(by: .seconds(20))
            #expect(rests.count == time)
            let next = bench.request(origin)
            #expect(try bench.outcome(next)?.get() === opened.connection)
        }
        opened.connection.exchangeEnded()
        expectEqual(try bench.shutDown(), true)
    }

    private final class RestCounter: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var count = 0

        func triggerUserOutboundEvent(
            context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
        ) {
            if event is ConnectionRests { count += 1 }
            context.triggerUserOutboundEvent(event, promise: promise)
        }
    }

    /// An event loop outlives its sessions, and would hold the timers of sessions that were shut down.
    @Test func shuttingDownCancelsTheTimers() throws {
        let bench = PoolBench()
        _ = bench.request(try PoolBench.origin("a"))
        let opened = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        opened.connection.exchangeEnded()
        let idleTimer = try #require(bench.pool.change { $0.idleTimer })
        let waitTimer = try #require(bench.pool.change { $0.timer })
        expectEqual(try bench.shutDown(), true)
        #expect(throws: EventLoopError.cancelled) { try idleTimer.futureResult.wait() }
        #expect(throws: EventLoopError.cancelled) { try waitTimer.futureResult.wait() }
    }

    /// The first one is replaced at once, the next ones after growing pauses, and the request fails in the end.
    @Test func connectionsThatEndBeforeTheirUseAreReplacedAfterPauses() throws {
        let bench = PoolBench()
        let request = bench.request(try PoolBench.origin("a"))
        let ended = TransportError(.connectionClosed, "The server closed the connection.")
        var waited = TimeAmount.zero
        var attempts = 0
        while bench.outcome(request) == nil, waited < .seconds(60) {
            if let attempt = bench.opener.attempts.first {
                attempts += 1
                bench.opener.fail(attempt, ended)
                bench.settle()
                // A pause may follow the second.
                #expect(attempts > 1 || bench.opener.attempts.count == 1)
            } else {
                bench.advance(by: .milliseconds(5))
                waited = waited + .milliseconds(5)
            }
        }
        #expect(attempts == RepeatPolicy().mostRepeats + 1)
        // Four pauses, each reduced by up to a half.
        let longest = TimeAmount.milliseconds(50 + 100 + 200 + 400)
        #expect(waited >= .nanoseconds(longest.nanoseconds / 2) && waited <= longest + .milliseconds(20))
        #expect(code(bench, request) == .connectionClosed)
        expectEqual(try bench.shutDown(), true)
    }

    /// How often connections end before their use, until the next one is opened after a pause; at most twice.
    private func endsWithoutAPause(_ bench: PoolBench) -> Int {
        for ends in 0..<2 {
            guard let attempt = bench.opener.attempts.first else { return ends }
            bench.opener.fail(attempt, TransportError(.connectionClosed, "The server closed the connection."))
            bench.settle()
        }
        return 2
    }

    /// The next useless connection after that is the first of its row again, and replaced at once.
    @Test func anAnswerEndsTheRowOfUselessConnections() throws {
        let bench = PoolBench()
        let origin = try PoolBench.origin("a")
        let first = bench.request(origin)
        #expect(endsWithoutAPause(bench) == 2 && bench.opener.attempts.isEmpty)
        bench.advance(by: .milliseconds(100))
        let opened = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(try bench.outcome(first)?.get() === opened.connection)
        bench.pool.served(on: opened.connection)
        #expect(bench.pool.change { $0.useless.isEmpty })
        opened.channel.close(promise: nil)
        bench.settle()
        let second = bench.request(origin)
        let attempt = try #require(bench.opener.attempts.first)
        bench.opener.fail(attempt, TransportError(.connectionClosed, "The server closed the connection."))
        bench.settle()
        #expect(bench.opener.attempts.count == 1)
        second.task.cancel()
        bench.settle()
        expectEqual(try bench.shutDown(), true)
    }

    /// Requests that wait do not count.
    @Test func connectionsAreNumberedFromOne() throws {
        let bench = PoolBench()
        let requests = [bench.request(try PoolBench.origin("a")), bench.request(try PoolBench.origin("b"))]
        #expect(bench.opener.attempts.map(\.id) == [1, 2])
        for request in requests { request.task.cancel() }
        bench.settle()
        expectEqual(try bench.shutDown(), true)
    }

    @Test func aFailedAttemptReportsItsNumberItsTimesAndItsFailure() throws {
        let bench = PoolBench()
        let request = bench.request(try PoolBench.origin("a"))
        let attempt = try #require(bench.opener.attempts.first)
        bench.opener.fail(attempt, TransportError(.connectionFailed, "The server refuses the connection."))
        bench.settle()
        guard case .failure(let error)? = bench.outcome(request) else {
            Issue.record("The request has not failed.")
            return
        }
        let metrics = try #require(error.attempts.first)
        #expect(error.attempts.count == 1 && metrics.failure == .notConnected && metrics.connectionID == attempt.id)
        let (start, end) = try (#require(metrics.start), #require(metrics.responseEnd))
        #expect(start <= end && metrics.total == end - start)
        #expect(metrics.requestStart == nil && metrics.queue == nil)
        expectEqual(try bench.shutDown(), true)
    }

    /// A request that failed on a connection reports its sent bytes and its end.
    @Test func anAttemptThatFailsOnItsConnectionReportsItsTimes() throws {
        let bench = PoolBench()
        let request = bench.request(try PoolBench.origin("a"))
        let opened = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(try bench.outcome(request)?.get() === opened.connection)
        let head = HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/")
        let exchange = bench.start(TransportRequest(head: head), on: opened.connection)
        opened.channel.close(promise: nil)
        bench.settle()
        let metrics = try #require(exchange.outcome?.error?.attempts.first)
        #expect(metrics.failure == .other && !metrics.isReusedConnection)
        let (begin, end) = try (#require(metrics.requestStart), #require(metrics.responseEnd))
        #expect(begin <= end && metrics.responseStart == nil)
        expectEqual(try bench.shutDown(), true)
    }
}
