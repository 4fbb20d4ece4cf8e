import FoundationEssentials
import LinnetSession
import LinnetTesting
import LinnetTestingTraits
import LinnetTransport
import Testing

/// `.withoutNetwork`: connections and look-ups beyond loopback. 192.0.2.0/24 and 2001:db8::/32 are for documentation.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct WithoutNetworkTraitTests {
    /// Sends a request that must fail with a code.
    private static func expectFailure(
        _ code: SessionError.Code, of url: String,
        _ configure: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) async throws {
        let session = try HTTPSession(baseURL: nil, configure)
        let error = await #expect(throws: SessionError.self) { try await session.get(url).data() }
        #expect(error?.code == code, "\(error.debugDescription)")
        #expect(error?.message.contains("is confined to loopback addresses") == true)
        await session.shutdown()
    }

    @Test(.withoutNetwork, .mockServer(.text("hello")))
    func loopbackAddressesAndLocalhostAreReached() async throws {
        let server = try MockServer.current
        let session = try HTTPSession { $0.resolution.hostOverrides = ["api.test": ["127.0.0.1"]] }
        for host in ["127.0.0.1", "localhost", "api.test"] {
            let text = try await session.get("http://\(host):\(server.port)/").text()
            #expect(text == "hello")
        }
        await session.shutdown()
    }

    @Test(.withoutNetwork)
    func unixSocketsAreReached() async throws {
        let path = "/tmp/linnet-\(UUID().uuidString).sock"
        try await run(.mockServer(.text("hello"), configuration: MockServer.Configuration { $0.unixSocket = path })) {
            let session = try HTTPSession { $0.resolution.unixSockets = ["docker": path] }
            #expect(try await session.get("http://docker/").text() == "hello")
            await session.shutdown()
        }
    }

    @Test func aConnectionToAnAddressIsRefusedAndAnIssue() async throws {
        try await expectIssue("A test without network attempted a connection to 192.0.2.1:80") {
            try await run(.withoutNetwork) {
                try await Self.expectFailure(.connectionFailed, of: "http://192.0.2.1/") {
                    // Each attempt of the same connection is one line.
                    $0.retryPolicy = .limited(to: 1)
                    $0.retryPolicy.backoff.first = .milliseconds(1)
                }
            }
        }
        try await expectIssue("A test without network attempted a connection to [2001:db8::1]:8080") {
            try await run(.withoutNetwork) {
                try await Self.expectFailure(.connectionFailed, of: "http://[2001:db8::1]:8080/")
            }
        }
    }

    @Test func aLookUpIsRefusedAndAnIssue() async throws {
        try await expectIssue("A test without network attempted a look-up of \"api.example\"") {
            try await run(.withoutNetwork) {
                try await Self.expectFailure(.nameResolutionFailed, of: "https://api.example/")
            }
        }
    }

    @Test func anAddressThatANameIsKnownToHaveIsRefused() async throws {
        try await expectIssue("A test without network attempted a connection to api.test:80 at 192.0.2.1") {
            try await run(.withoutNetwork) {
                try await Self.expectFailure(.connectionFailed, of: "http://api.test/") {
                    $0.resolution.hostOverrides = ["api.test": ["192.0.2.1"]]
                }
            }
        }
    }

    @Test func theNextAddressOfANameIsTriedAfterARefusedOne() async throws {
        try await withMockServer(.text("hello")) { server in
            let port = server.port
            try await expectIssue("A test without network attempted a connection to api.test:\(port) at 2001:db8::1") {
                try await run(.withoutNetwork) {
                    let session = try HTTPSession {
                        $0.resolution.hostOverrides = ["api.test": ["2001:db8::1", "127.0.0.1"]]
                    }
                    #expect(try await session.get("http://api.test:\(port)/").text() == "hello")
                    await session.shutdown()
                }
            }
        }
    }

    @Test func aProxyBeyondLoopbackIsRefused() async throws {
        try await expectIssue("A test without network attempted a connection to 192.0.2.1:3128") {
            try await run(.withoutNetwork) {
                let session = try HTTPSession { $0.proxies = .fixed(try Proxy("http://192.0.2.1:3128")) }
                await #expect(throws: SessionError.self) { try await session.get("http://127.0.0.1:1/").data() }
                await session.shutdown()
            }
        }
    }

    @Test func aSessionThatWasMadeBeforeTheTestIsConfined() async throws {
        let session = try HTTPSession()
        try await expectIssue("A test without network attempted a connection to 192.0.2.1:80") {
            try await run(.withoutNetwork) {
                await #expect(throws: SessionError.self) { try await session.get("http://192.0.2.1/").data() }
            }
        }
        await session.shutdown()
    }

    @Test func aTestThatThrowsIsReportedToo() async throws {
        try await expectIssue("A test without network attempted a look-up of \"api.example\"") {
            await #expect(throws: Failure.self) {
                try await run(.withoutNetwork) {
                    try await Self.expectFailure(.nameResolutionFailed, of: "http://api.example/")
                    throw Failure()
                }
            }
        }
    }
}
