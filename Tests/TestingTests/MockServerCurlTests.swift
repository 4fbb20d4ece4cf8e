import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Testing

/// The server with an independent client: curl.
@Suite(.leavesNothingAlive, .enabled(if: ForeignClient.hasCurl, "curl is not installed"), .timeLimit(.minutes(5)))
struct MockServerCurlTests {
    @Test func getsAndPostsOverOneConnection() async throws {
        try await withMockServer(handler: { .text("\($0.method) \($0.bodyText);") }) { server in
            let url = server.url.absoluteString
            let curl = try await ForeignClient.curl("--data", "a=b", url, "--next", "--silent", "--noproxy", "*", url)
            #expect(curl.status == 0)
            #expect(curl.output == "POST a=b;GET ;")
            #expect(server.recordedRequests.map(\.connectionIndex) == [0, 0])
        }
    }

    @Test func readsChunksAndTrailers() async throws {
        let response = MockResponse(
            body: .chunks([Data("ab".utf8), Data("cd".utf8)]), trailers: [.eTag: "sum"],
            informational: [HTTPResponse(status: 103)])
        try await withMockServer(response) { server in
            let curl = try await ForeignClient.curl("--include", server.url.absoluteString)
            #expect(curl.status == 0)
            #expect(curl.output.hasPrefix("HTTP/1.1 103 \r\n"))
            #expect(curl.output.hasSuffix("abcdETag: sum\r\n") || curl.output.hasSuffix("abcd"))
        }
    }

    @Test(arguments: [
        (MockResponse(body: .text("abc")).with(.init(.close, at: .responseBody(after: 1))), 18),
        (MockResponse(body: .text("abc")).with(.init(.reset, at: .responseHead)), 56),
        (MockResponse(body: .text("abc")).with(.init(.close, at: .responseHead)), 52),
        (.raw("HTTP/1.1 200 OK\r\nContent-Length: banana\r\n\r\n"), 8),
    ])
    func curlFailsAccordingToTheFault(_ response: MockResponse, _ status: Int) async throws {
        try await withMockServer(response) { server in
            let curl = try await ForeignClient.curl(server.url.absoluteString)
            #expect(curl.status == Int32(status))
        }
    }

    @Test func uploadsAfterContinue() async throws {
        try await withMockServer(handler: { .text("\($0.bodyLength)") }) { server in
            let curl = try await ForeignClient.curl(
                "--header", "Expect: 100-continue", "--include", "--data", "abc", server.url.absoluteString)
            #expect(curl.output.hasPrefix("HTTP/1.1 100 Continue\r\n\r\n"))
            #expect(curl.output.hasSuffix("\r\n\r\n3"))
        }
    }
}
