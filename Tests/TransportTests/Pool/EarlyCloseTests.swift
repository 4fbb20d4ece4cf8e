import Testing

@testable import LinnetTransport

/// Connections that close before the pool learns that they were opened.
@Suite("Connections that close at once", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct EarlyCloseTests {
    @Test(arguments: ["a", "m"])
    func aWaitingRequestLearnsOfAnEarlyCloseAndNothingIsKept(host: String) throws {
        let bench = PoolBench()
        let request = bench.request(try PoolBench.origin(host))
        let opened = try bench.opener.succeed(#require(bench.opener.attempts.first), closesFirst: true)
        bench.settle()
        guard case .success(let connection) = bench.outcome(request) else {
            Issue.record("The request was not served: \(String(describing: bench.outcome(request)))")
            return
        }
        #expect(connection === opened.connection)
        #expect(!connection.isOpen)
        #expect(bench.pool.openConnections == 0)
        #expect(try bench.shutDown())
    }

    @Test(arguments: ["a", "m"])
    func withoutAWaitingRequestAClosedConnectionIsNotShelved(host: String) throws {
        let bench = PoolBench()
        let origin = try PoolBench.origin(host)
        let waiting = bench.request(origin)
        waiting.task.cancel()
        bench.settle()
        let attempt = try #require(bench.opener.attempts.first)
        _ = try bench.opener.succeed(attempt, closesFirst: true)
        bench.settle()
        #expect(bench.pool.openConnections == 0)
        // The next request opens another connection.
        let next = bench.request(origin)
        #expect(bench.outcome(next) == nil)
        let opened = try bench.opener.succeed(#require(bench.opener.attempts.first))
        bench.settle()
        guard case .success(let connection) = bench.outcome(next) else {
            Issue.record("The request was not served: \(String(describing: bench.outcome(next)))")
            return
        }
        #expect(connection === opened.connection)
        #expect(try bench.shutDown())
    }
}
