import FoundationEssentials
import LinnetSecurity
import LinnetSession
import LinnetTesting
import Testing

/// A session's stated policy is the policy of its connections.
@Suite("Replacing a session's policy", .timeLimit(.minutes(1)))
struct PolicyReplacementTests {
    @Test func concurrentReplacementsEndInOneState() async throws {
        let pins = try StandardTrustEvaluator.pins([TestPKI.selfSigned().pin])
        let pinning = try SecurityPolicy(rules: [HostRule("127.0.0.1", pins)])
        try await withMockServer { _ in
            .text("ok")
        } perform: { server in
            let session = try HTTPSession()
            for _ in 0..<250 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<8 {
                        group.addTask {
                            try session.replaceSecurityPolicy(index.isMultiple(of: 2) ? pinning : .systemTrust)
                            if index == 3 { try session.replaceClientIdentities(.none) }
                        }
                    }
                    try await group.waitForAll()
                }
                let isPinning = session.securityPolicy.isPinning(host: "127.0.0.1")
                do {
                    _ = try await session.call(SessionRequest(url: server.url)).response()
                    #expect(!isPinning)
                } catch let error as SessionError {
                    #expect(isPinning && error.code == .trustRefused)
                }
            }
            await session.shutdown()
        }
    }

    /// A request that was sent again shows it in its metrics, and so does a request that could not be sent.
    @Test func attemptsOfTheTransportAreSeen() async throws {
        try await withMockServer { request in
            request.exchangeIndex == 0 && request.path != "/never"
                ? .text("ok") : MockResponse(faults: [.init(.close, at: .responseHead)])
        } perform: { server in
            let session = try HTTPSession()
            _ = try await session.call(SessionRequest(url: server.url)).response()
            let response = try await session.call(SessionRequest(url: server.url)).response()
            #expect(response.metrics.map(\.failure) == [.staleConnection, nil])
            let error = await #expect(throws: SessionError.self) {
                _ = try await session.call(SessionRequest(url: server.url.appending(path: "never"))).response()
            }
            #expect(error?.metrics.map(\.failure) == [.staleConnection, .other])
            await session.shutdown()
        }
    }
}
