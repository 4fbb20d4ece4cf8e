import FoundationEssentials
import GatewayServer
import HTTPTypes
import Linnet
import LinnetTesting
import ServiceLifecycle
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LeavingTests {
    @Test func aClientThatGoesAwayCancelsTheUpstreamsRequest() async throws {
        try await withGateway { _ in
            .text("never").with(.init(.stall, at: .responseHead))
        } perform: { gateway in
            let client = try await RawClient.connect(to: gateway.port)
            try await client.get("/api/slow")
            _ = try await gateway.upstream.nextRequest()
            #expect(gateway.upstream.openConnections == 1)
            await client.close()
            try await wait { gateway.upstream.openConnections == 0 }
        }
    }

    @Test func aClientThatGoesAwayDuringTheResponseEndsIt() async throws {
        let source = CountedPieces(total: 1 << 40)
        try await withGateway { _ in
            MockResponse(body: .stream(source))
        } perform: { gateway in
            let client = try await RawClient.connect(to: gateway.port)
            try await client.get("/api/endless")
            try await client.waitForBytes()
            await client.close()
            try await wait { gateway.upstream.openConnections == 0 }
        }
    }

    @Test func aClientThatGoesAwayDuringItsContentEndsTheRequest() async throws {
        var configuration = MockServer.Configuration()
        configuration.requestBodies = .streamed
        try await withGateway(configuration) { request in
            do { for try await _ in request.chunks {} } catch { return .status(.badRequest) }
            return .text("complete")
        } perform: { gateway in
            let client = try await RawClient.connect(to: gateway.port)
            try await client.send("POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhalf")
            _ = try await gateway.upstream.nextRequest()
            await client.close()
            try await wait { gateway.upstream.openConnections == 0 }
        }
    }

    @Test func aResponseBeforeTheEndOfTheContentClosesTheConnection() async throws {
        var configuration = MockServer.Configuration()
        configuration.requestBodies = .streamed
        try await withGateway(configuration) { _ in
            MockResponse(status: .forbidden, body: .text("no"), closesConnection: true)
        } perform: { gateway in
            let client = try await RawClient.connect(to: gateway.port)
            try await client.send("POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nbegin")
            let response = try #require(try await client.response())
            #expect(response.status == 403)
            #expect(response.head.lowercased().contains("connection: close"))
            try await client.waitForClose()
            // The gateway still serves others.
            try await gateway.expect(.ok, for: "/healthz")
        }
    }

    /// Clients behave as a pool that checks the readiness: they leave when a response asks them to.
    @Test func aGracefulShutdownUnderLoadLosesNoResponse() async throws {
        try await withGateway(settings: { $0.shutdownDelay = .seconds(4) }) { request in
            request.path == "/slow" ? .text("slow").delayed(by: .milliseconds(500)) : .text("fast")
        } perform: { gateway in
            let tally = Tally()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        let client = try await RawClient.connect(to: gateway.port)
                        var isLast = false
                        while !isLast {
                            let path = tally.value.isLate ? "/api/slow" : "/api/fast"
                            try await client.get(path)
                            let response = try await client.response()
                            tally.count(response?.status)
                            isLast = response?.head.lowercased().contains("connection: close") ?? true
                        }
                        await client.close()
                    }
                }
                try await wait { tally.value.answered > 500 }
                tally.end()
                await gateway.group.triggerGracefulShutdown()
                try await group.waitForAll()
            }
            #expect(tally.value.lost == 0)
        }
    }

    @Test func readinessEndsBeforeTheListener() async throws {
        try await withGateway(settings: { $0.shutdownDelay = .seconds(3) }) { _ in
            .text("ok")
        } perform: { gateway in
            await gateway.group.triggerGracefulShutdown()
            var status = 200
            while status == 200 {
                let client = try await RawClient.connect(to: gateway.port)
                try await client.get("/readyz")
                status = try await client.response()?.status ?? 0
                await client.close()
            }
            #expect(status == 503)
        }
    }
}

/// The responses of several clients.
private final class Tally: Sendable {
    struct Value {
        var answered = 0
        var lost = 0
        /// Whether the shutdown is about to begin.
        var isLate = false
    }

    private let state = Mutex(Value())

    var value: Value { state.withLock { $0 } }

    func count(_ status: Int?) {
        state.withLock { state in
            if status == 200 { state.answered += 1 } else { state.lost += 1 }
        }
    }

    func end() { state.withLock { $0.isLate = true } }
}
