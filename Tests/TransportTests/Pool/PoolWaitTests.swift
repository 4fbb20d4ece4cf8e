import HTTPTypes
import LinnetTesting
import LinnetTransport
import Testing

/// The wait for a connection: one timer serves all requests.
@Suite("Waiting for a connection", .timeLimit(.minutes(1)))
struct PoolWaitTests {
    /// Runs with the only connection taken.
    private func withFullPool(_ body: (HTTPTransport, MockServer) async throws -> Void) async throws {
        let release = LinnetTesting.Signal()
        try await withMockServer { request in
            if request.path == "/first" { await release.wait() }
            return .text(request.path)
        } perform: { server in
            try await withTransport({ $0.pool.connectionsPerOrigin = 1 }) { transport in
                async let first = transport.send(server.request(.get, "/first"))
                _ = try await server.nextRequest()
                try await body(transport, server)
                release.fire()
                #expect(try await first.text == "/first")
            }
        }
    }

    @Test func waitsEndInTheOrderOfTheirDeadlinesOverSockets() async throws {
        try await withFullPool { transport, server in
            let ends = EventRecorder<Int>()
            let codes = await withTaskGroup(of: TransportError.Code?.self) { group in
                for wait in [60_000, 600, 30, 300] {
                    group.addTask {
                        let timeouts = TransportTimeouts(poolWait: .milliseconds(wait))
                        let error = await failure { () async throws(TransportError) in
                            try await transport.send(server.request(timeouts: timeouts))
                        }
                        ends.record(wait)
                        return error?.code
                    }
                }
                var codes: [TransportError.Code?] = []
                for await code in group {
                    codes.append(code)
                    if codes.count == 3 { group.cancelAll() }
                }
                return codes
            }
            #expect(ends.events == [30, 300, 600, 60_000])
            #expect(codes == [.poolTimeout, .poolTimeout, .poolTimeout, .cancelled])
        }
    }

    @Test func aWaitEndsWithTheRequestTimeout() async throws {
        try await withFullPool { transport, server in
            let timeouts = TransportTimeouts(poolWait: .seconds(60), request: .milliseconds(30))
            let error = await failure { () async throws(TransportError) in
                try await transport.send(server.request(timeouts: timeouts))
            }
            #expect(error?.code == .requestTimeout)
        }
    }

    /// The timer was set for a request that was served; the wait of the next one still ends.
    @Test func theTimerIsSetAgainForTheNextWait() async throws {
        try await withFullPool { transport, server in
            for _ in 0..<3 {
                let timeouts = TransportTimeouts(poolWait: .milliseconds(30))
                let start = ContinuousClock.now
                let error = await failure { () async throws(TransportError) in
                    try await transport.send(server.request(timeouts: timeouts))
                }
                #expect(error?.code == .poolTimeout)
                #expect(start.duration(to: .now) >= .milliseconds(30))
            }
        }
    }
}
