import LinnetMessages
import LinnetSecurity
import LinnetTesting
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import LinnetTransport

/// Handshakes over sockets, on one event loop.
@Suite("Simultaneous TLS handshakes", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct SimultaneousHandshakeTests {
    /// Accepts every server, and counts the evaluations at the same time. None ends before there have been this many.
    private final class Counting: TrustEvaluator {
        struct Counts {
            var running = 0
            var most = 0
            var total = 0
        }

        private let first: Int
        private let state = Mutex(Counts())
        private let enough = LinnetTesting.Signal()

        init(first: Int) { self.first = first }

        var counts: Counts { state.withLock { $0 } }

        func evaluate(_ trust: ServerTrust) async -> TrustDecision {
            let total = state.withLock { counts in
                counts.running += 1
                counts.total += 1
                counts.most = max(counts.most, counts.running)
                return counts.total
            }
            if total == first { enough.fire() }
            await enough.wait()
            state.withLock { $0.running -= 1 }
            return .accepted(VerifiedTrust(chain: trust.presentedChain, pins: [], isPinned: false))
        }
    }

    private func withPool(
        _ policy: SecurityPolicy, _ limit: HandshakeLimit, perform: (ConnectionPool) async throws -> Void
    ) async throws {
        var configuration = TransportConfiguration()
        configuration.securityPolicy = policy
        configuration.httpVersions = .http1
        configuration.tls.sessionResumption = false
        configuration.pool.connectionsPerOrigin = 300
        configuration.pool.connections = 600
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let connector = try Connector(configuration, group: group, handshakes: limit)
        let pool = ConnectionPool(connector: connector, configuration: configuration)
        do {
            try await perform(pool)
        } catch {
            await pool.shutDown(.immediate)
            try await group.shutdownGracefully()
            throw error
        }
        await pool.shutDown(.immediate)
        try await group.shutdownGracefully()
    }

    private func request(_ server: MockServer) throws -> PoolRequest {
        let origin = try #require(Origin("https://127.0.0.1:\(server.port)"))
        return PoolRequest(origin: origin, timeouts: TransportTimeouts())
    }

    @Test func twoHundredConnectionsHaveSixtyFourHandshakesAtATime() async throws {
        let evaluator = Counting(first: 64)
        // A test that runs slowly must not give up a place.
        let limit = HandshakeLimit(patience: .hours(1))
        try await withMockServer(tls: try TestPKI().identity()) { _ in
            .text("never")
        } perform: { server in
            try await withPool(.everyHost(evaluator), limit) { pool in
                let request = try request(server)
                try await withThrowingTaskGroup(of: ConnectionPool.Lease.self) { group in
                    for _ in 0..<200 { group.addTask { try await pool.lease(request) } }
                    let leases = try await group.reduce(into: []) { $0.append($1) }
                    #expect(Set(leases.map { ObjectIdentifier($0.connection) }).count == 200)
                }
            }
        }
        #expect(evaluator.counts.most == 64)
        #expect(evaluator.counts.total == 200)
    }

    /// More servers than places accept connections and never answer. Their handshakes go on until the end of the test.
    @Test func silentServersDoNotKeepOthersFromConnecting() async throws {
        let silent = try await MockServer.startRaw { connection in try await connection.perform(.stall) }
        try await withMockServer(tls: try TestPKI().identity()) { _ in
            .text("never")
        } perform: { server in
            let limit = HandshakeLimit(places: 4, patience: .milliseconds(10))
            try await withPool(.everyHost(Counting(first: 1)), limit) { pool in
                let (request, silentRequest) = (try request(server), try self.request(silent))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<100 { group.addTask { _ = try? await pool.lease(silentRequest) } }
                    while silent.acceptedConnections < 100 { await Task.yield() }
                    _ = try await pool.lease(request)
                    #expect(pool.openConnections == 101)
                    group.cancelAll()
                }
            }
        }
        await silent.shutdown()
    }

    @Test func aShutdownEndsHandshakesThatWait() async throws {
        let silent = try await MockServer.startRaw { connection in try await connection.perform(.stall) }
        try await withPool(.systemTrust, HandshakeLimit(places: 1, patience: .hours(1))) { pool in
            let request = try request(silent)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        await #expect(throws: TransportError.self) { try await pool.lease(request) }
                    }
                }
                while silent.acceptedConnections < 10 { await Task.yield() }
                await pool.shutDown(.immediate)
                try await group.waitForAll()
            }
            #expect(pool.openConnections == 0)
        }
        await silent.shutdown()
    }
}
