import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Testing

@Suite(.leavesNothingAlive, .enabled(if: ForeignClient.hasCurl, "curl is not installed"), .timeLimit(.minutes(5)))
struct MockServerTLSTests {
    /// Runs curl, which trusts the server's root, against the server.
    private static func curl(
        _ response: MockResponse = .text("hello"), configuration: MockServer.Configuration = .init(),
        _ arguments: String..., check: (ForeignClient, MockServer) throws -> Void
    ) async throws {
        try await withIdentity { identity, rootFile in
            try await withMockServer(response, tls: identity, configuration: configuration) { server in
                let curl = try await ForeignClient.curl(
                    ["--cacert", rootFile] + arguments + [server.url.absoluteString])
                await server.shutdown()
                try check(curl, server)
            }
        }
    }

    @Test(arguments: [("1.2", "TLSv1.2"), ("1.3", "TLSv1.3")])
    func aRequestIsReceivedOverTLS(_ version: String, _ name: String) async throws {
        let configuration = MockServer.Configuration { $0.hostName = "localhost" }
        try await Self.curl(configuration: configuration, "--tlsv\(version)", "--tls-max", version) { curl, server in
            #expect(curl.status == 0, "\(curl.errors)")
            #expect(curl.output == "hello")
            let request = try #require(server.recordedRequests.first)
            #expect(request.tlsVersion == name)
            #expect(request.serverName == "localhost")
            #expect(server.connectionFailures.isEmpty)
        }
    }

    @Test func aLargeBodyArrivesWhole() async throws {
        let body = Data(repeating: UInt8(ascii: "x"), count: 5_000_000)
        try await Self.curl(
            MockResponse(body: .bytes(body)), "--output", "/dev/null", "--write-out", "%{size_download}"
        ) {
            curl, _ in
            #expect(curl.output == "5000000")
        }
    }

    @Test func aClientThatDoesNotTrustTheServerIsRecorded() async throws {
        try await Self.curl(.text(""), "--cacert", "/dev/null") { curl, server in
            #expect(curl.status != 0)
            #expect(server.recordedRequests.isEmpty)
            #expect(server.connectionFailures.map(\.connectionIndex) == [0])
        }
    }

    /// Only a body that is delimited by the end of the connection shows the difference (RFC 9112, 9.8). curl accepts
    /// both.
    @Test(
        .enabled(if: ForeignClient.hasOpenSSL, "openssl is not installed"),
        arguments: [(MockServer.Fault.Effect.close, true), (.halfClose, true), (.truncate, false)])
    func anEndWithoutCloseNotifyIsReportedAsTruncation(_ effect: MockServer.Fault.Effect, _ isWhole: Bool) async throws
    {
        let response = MockResponse(body: .untilClose(Data("abc".utf8))).with(.init(effect, at: .responseEnd))
        try await withIdentity { identity, rootFile in
            try await withMockServer(response, tls: identity) { server in
                let client = try await ForeignClient.openSSL(
                    port: server.port, rootFile: rootFile, send: "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(client.output.hasSuffix("\r\n\r\nabc"))
                #expect(client.errors.contains("unexpected eof") != isWhole, "\(client.errors)")
            }
        }
    }

    /// curl ends with status 35 when the handshake fails, and with 7 when a reset arrives before it has noticed the
    /// connection.
    @Test(arguments: [(MockServer.Fault.Effect.close, [35]), (.reset, [7, 35]), (.halfClose, [35])])
    func aConnectionThatEndsBeforeTLSIsAFailedHandshake(
        _ effect: MockServer.Fault.Effect, _ statuses: [Int32]
    ) async throws {
        let configuration = MockServer.Configuration { $0.faults = .always(.init(effect, at: .connect)) }
        try await Self.curl(configuration: configuration) { curl, server in
            #expect(statuses.contains(curl.status), "curl ended with \(curl.status)")
            #expect(server.recordedRequests.isEmpty)
        }
    }

    @Test func aHandshakeWaitsForADelayAtConnect() async throws {
        let clock = ManualClock()
        let configuration = MockServer.Configuration {
            $0.faults = .always(.init(.delay(.seconds(60)), at: .connect))
            $0.clock = clock
        }
        async let advanced: Void = {
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(60))
        }()
        try await Self.curl(configuration: configuration) { curl, _ in
            #expect(curl.output == "hello")
        }
        try await advanced
    }
}
