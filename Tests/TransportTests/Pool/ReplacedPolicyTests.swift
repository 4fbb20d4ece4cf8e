import HTTPTypes
import LinnetMessages
import LinnetSecurity
import LinnetTesting
import NIOCore
import NIOPosix
import Testing

@testable import LinnetTransport

/// After a policy was replaced, no request starts under the old one, in any state.
@Suite("Replaced policies", .timeLimit(.minutes(1)))
struct ReplacedPolicyTests {
    private func pinning() throws -> SecurityPolicy {
        try SecurityPolicy(rules: [HostRule("127.0.0.1", .pins([TestPKI.selfSigned().pin]))])
    }

    @Test func waitingRequestsOverHTTPAreCheckedByTheNewPolicy() async throws {
        let release = LinnetTesting.Signal()
        try await withMockServer { request in
            if request.path == "/first" { await release.wait() }
            return .text(request.path)
        } perform: { server in
            try await withTransport({ $0.pool.connectionsPerOrigin = 1 }) { transport in
                async let first = transport.send(server.request(.get, "/first"))
                _ = try await server.nextRequest()
                let waiting = EventRecorder<Int>()
                let errors = try await withThrowingTaskGroup(of: TransportError?.self) { group in
                    for index in 0..<24 {
                        group.addTask {
                            await failure { () async throws(TransportError) in
                                try await transport.send(
                                    server.request(.get, "/waiting"), observer: WaitObserver { waiting.record(index) })
                            }
                        }
                    }
                    _ = try await waiting.wait(count: 24)
                    transport.replaceSecurityPolicy(try pinning())
                    release.fire()
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(errors.count == 24 && errors.allSatisfy { $0?.code == .cleartextRefused })
                // The first request had started before.
                #expect(try await first.text == "/first")
            }
            #expect(server.recordedRequests.map(\.path) == ["/first"])
        }
    }

    /// A request was assigned a connection and has not started.
    @Test(arguments: [HTTPVersions.http1, .http2])
    func aLeasedConnectionIsCheckedByTheNewPolicy(versions: HTTPVersions) async throws {
        let configuration = MockServer.Configuration { $0.httpVersions = versions == .http2 ? .http2 : .http1 }
        try await withMockServer(configuration: configuration) { _ in
            .text("never")
        } perform: { server in
            var configuration = TransportConfiguration()
            configuration.httpVersions = versions
            let group = MultiThreadedEventLoopGroup.singleton
            let pool = ConnectionPool(
                connector: try Connector(configuration, group: group), configuration: configuration)
            let request = server.request()
            let (origin, timeouts) = (try Origin(request.head), TransportTimeouts.default)
            let lease = try await pool.lease(PoolRequest(origin: origin, timeouts: timeouts))
            let policy = try pinning()
            pool.replaceTerms { $0.replacing(policy) }
            let outcome = await lease.connection.run(
                request, observer: nil, timeouts: timeouts, deadline: nil, queuedSince: .now)
            guard case .withdrawn = outcome else {
                Issue.record("The request went out.")
                return
            }
            await #expect(throws: TransportError.self) {
                _ = try await pool.lease(PoolRequest(origin: origin, timeouts: timeouts))
            }
            await pool.shutDown(.graceful)
            #expect(pool.openConnections == 0)
            #expect(server.recordedRequests.isEmpty)
        }
    }

    /// The same policy again, or another one that allows the request, lets it through.
    @Test func aPermissivePolicyLetsAWaitingRequestThrough() async throws {
        try await withMockServer { _ in
            .text("ok")
        } perform: { server in
            try await withTransport({ $0.pool.connectionsPerOrigin = 2 }) { transport in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<16 {
                        group.addTask {
                            for _ in 0..<20 { try await expectText("ok", transport, server.request()) }
                        }
                    }
                    for _ in 0..<50 {
                        transport.replaceSecurityPolicy(.systemTrust)
                        await Task.yield()
                    }
                    try await group.waitForAll()
                }
            }
            #expect(server.recordedRequests.count == 320)
        }
    }
}

/// Observes that a request waits.
private struct WaitObserver: TransportObserver {
    let waits: @Sendable () -> Void

    init(_ waits: @escaping @Sendable () -> Void) { self.waits = waits }

    func willWait(_ place: WaitingPlace) { waits() }
}
