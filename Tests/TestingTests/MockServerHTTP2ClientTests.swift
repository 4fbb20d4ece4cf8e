import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Testing

/// The server over HTTP/2 with independent clients: curl, and the clients of nghttp2.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5))) struct MockServerHTTP2ClientTests {
    private static let curl = ConditionTrait.enabled(
        if: ForeignClient.hasCurlWithHTTP2, "curl is not installed or does not support HTTP/2")
    private static let nghttp = ConditionTrait.enabled(
        if: ForeignClient.hasNghttp, "nghttp and h2load are not installed (Debian's nghttp2-client)")

    private static func configuration(
        _ versions: MockServer.Configuration.HTTPVersions = .both,
        _ configure: (inout MockServer.Configuration) -> Void = { _ in }
    ) -> MockServer.Configuration {
        MockServer.Configuration {
            $0.httpVersions = versions
            configure(&$0)
        }
    }

    // MARK: curl

    @Test(
        curl,
        arguments: [
            (MockServer.Configuration.HTTPVersions.http1, "--http2", "1.1"), (.http2, "--http2", "2"),
            (.both, "--http2", "2"), (.both, "--http1.1", "1.1"),
        ])
    func curlNegotiatesTheVersionByALPN(
        _ versions: MockServer.Configuration.HTTPVersions, _ option: String, _ version: String
    ) async throws {
        try await withIdentity { identity, rootFile in
            let configuration = Self.configuration(versions)
            try await withMockServer(.text("hello "), tls: identity, configuration: configuration) { server in
                let curl = try await ForeignClient.curl(
                    option, "--cacert", rootFile, "--write-out", "%{http_version}", server.url.absoluteString)
                #expect(curl.status == 0, "\(curl.errors)")
                #expect(curl.output == "hello \(version)")
                #expect(server.recordedRequests.first?.tlsVersion == "TLSv1.3")
            }
        }
    }

    @Test(curl, arguments: [MockServer.Configuration.HTTPVersions.http2, .both])
    func curlUsesPriorKnowledge(_ versions: MockServer.Configuration.HTTPVersions) async throws {
        let handler: MockServer.Handler = { .text("\($0.method) \($0.bodyText) \($0.streamID ?? 0)") }
        try await withMockServer(configuration: Self.configuration(versions), handler: handler) { server in
            let curl = try await ForeignClient.curl(
                "--http2-prior-knowledge", "--data", "a=b", server.url.absoluteString)
            #expect(curl.status == 0, "\(curl.errors)")
            #expect(curl.output == "POST a=b 1")
        }
    }

    @Test(curl) func curlReadsHeadsAndTrailers() async throws {
        let response = MockResponse(
            status: .notFound, headerFields: [.server: "mock"], body: .chunks([Data("ab".utf8), Data("cd".utf8)]),
            trailers: [.eTag: "sum"], informational: [HTTPResponse(status: 103)])
        try await withMockServer(response, configuration: Self.configuration()) { server in
            let url = server.url.absoluteString
            let get = try await ForeignClient.curl("--http2-prior-knowledge", "--include", url)
            #expect(get.status == 0, "\(get.errors)")
            #expect(get.output.hasPrefix("HTTP/2 103 \r\n\r\nHTTP/2 404 \r\nserver: mock\r\n\r\nabcd"))
            let head = try await ForeignClient.curl("--http2-prior-knowledge", "--head", url)
            #expect(head.status == 0, "\(head.errors)")
            #expect(head.output.hasSuffix("HTTP/2 404 \r\nserver: mock\r\n\r\n"))
        }
    }

    @Test(curl) func curlTransfersLargeBodiesInBothDirections() async throws {
        let line = String(repeating: "0123456789abcdef", count: 64)
        let text = String(repeating: line, count: 4 * 1024)
        try await withIdentity { identity, rootFile in
            let handler: MockServer.Handler = { request in .text(request.bodyText) }
            try await withMockServer(tls: identity, configuration: Self.configuration(), handler: handler) { server in
                let curl = try await ForeignClient.curl(
                    ["--cacert", rootFile, "--data-binary", "@-", server.url.absoluteString], input: text)
                #expect(curl.status == 0, "\(curl.errors)")
                #expect(curl.output == text)
                #expect(server.recordedRequests.first?.httpVersion == "HTTP/2")
            }
        }
    }

    @Test(
        curl,
        arguments: [
            (
                MockResponse(body: .text("abc")).with(.init(.resetStream(.internalError), at: .responseBody(after: 1))),
                [92]
            ),
            (MockResponse(body: .text("abc")).with(.init(.reset, at: .responseHead)), [56, 55, 16]),
            (.raw("HTTP/1.1 200 OK\r\n\r\n, on an HTTP/2 connection"), [16, 52, 55, 56]),
        ] as [(MockResponse, [Int32])])
    func curlFailsAccordingToTheFault(_ response: MockResponse, _ statuses: [Int32]) async throws {
        try await withMockServer(response, configuration: Self.configuration()) { server in
            let curl = try await ForeignClient.curl("--http2-prior-knowledge", server.url.absoluteString)
            #expect(statuses.contains(curl.status), "\(curl.status) \(curl.errors)")
        }
    }

    @Test(curl) func curlLosesNoRequestAtGoAway() async throws {
        // Over TLS: with prior knowledge, curl 7.88 cannot use a connection twice.
        try await withIdentity { identity, rootFile in
            let configuration = Self.configuration { $0.http2.goAway = .after(2) }
            try await withMockServer(
                tls: identity, configuration: configuration, handler: { .text($0.path) }
            ) { server in
                let curl = try await ForeignClient.curl("--cacert", rootFile, server.url.absoluteString + "[1-6]")
                #expect(curl.status == 0, "\(curl.errors)")
                #expect(curl.output == "/1/2/3/4/5/6")
                #expect(server.recordedRequests.map(\.connectionIndex) == [0, 0, 1, 1, 2, 2])
                #expect(server.connectionFailures.isEmpty)
            }
        }
    }

    // MARK: nghttp2

    @Test(nghttp) func nghttpSeesTheSettingsAndTheLastStream() async throws {
        let configuration = Self.configuration {
            $0.http2.maximumConcurrentStreams = 7
            $0.http2.initialWindowSize = 70_000
            $0.http2.goAway = .after(1, errorCode: .enhanceYourCalm)
        }
        try await withMockServer(.text("hello"), configuration: configuration) { server in
            let nghttp = try await ForeignClient.nghttp(server.url.absoluteString)
            let frames = nghttp.output
            #expect(frames.contains("[SETTINGS_MAX_CONCURRENT_STREAMS(0x03):7]"))
            #expect(frames.contains("[SETTINGS_INITIAL_WINDOW_SIZE(0x04):70000]"))
            let last = try #require(server.recordedRequests.first?.streamID)
            #expect(frames.contains("(last_stream_id=\(last), error_code=ENHANCE_YOUR_CALM(0x0b)"))
            #expect(frames.contains(":status: 200"))
        }
    }

    @Test(nghttp) func nghttpSeesTheCodeOfAReset() async throws {
        let response = MockResponse(body: .text("abc"))
            .with(.init(.resetStream(.http11Required), at: .responseBody(after: 2)))
        try await withMockServer(response, configuration: Self.configuration()) { server in
            let nghttp = try await ForeignClient.nghttp(server.url.absoluteString)
            #expect(nghttp.output.contains("recv DATA frame <length=2, flags=0x00"))
            #expect(nghttp.output.contains("(error_code=HTTP_1_1_REQUIRED(0x0d))"))
        }
    }

    @Test(nghttp) func h2loadGetsAllItsResponses() async throws {
        try await withIdentity { identity, _ in
            let configuration = Self.configuration { $0.http2.maximumConcurrentStreams = 8 }
            let response = MockResponse.text(String(repeating: "x", count: 1024))
            try await withMockServer(response, tls: identity, configuration: configuration) { server in
                let h2load = try await ForeignClient.h2load(
                    "-n", "2000", "-c", "4", "-m", "8", server.url.absoluteString)
                #expect(h2load.output.contains("2000 succeeded, 0 failed, 0 errored, 0 timeout"), "\(h2load.output)")
                #expect(server.recordedRequests.count == 2000)
                #expect(server.acceptedConnections == 4)
                #expect(server.connectionFailures.isEmpty)
            }
        }
    }
}
