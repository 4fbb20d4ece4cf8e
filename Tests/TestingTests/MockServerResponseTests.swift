import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5))) struct MockServerResponseTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let response: MockResponse
        var method = "GET"
        var version = "1.1"
        let wire: String
    }

    static let cases = [
        Case(
            testDescription: "bytes", response: MockResponse(body: .text("abc")),
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc"),
        Case(
            testDescription: "chunks",
            response: MockResponse(body: .chunks([Data("abc".utf8), Data(), Data("d".utf8)])),
            wire: """
                HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
                3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n
                """),
        Case(
            testDescription: "trailers", response: MockResponse(body: .text("abc"), trailers: [.eTag: "x"]),
            wire: """
                HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
                3\r\nabc\r\n0\r\nETag: x\r\n\r\n
                """),
        Case(
            testDescription: "stream",
            response: MockResponse(body: .stream(["ab", "c"].asyncPieces)),
            wire: """
                HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
                2\r\nab\r\n1\r\nc\r\n0\r\n\r\n
                """),
        Case(
            testDescription: "stream of known length",
            response: MockResponse(body: .stream(["ab", "c"].asyncPieces, length: 3)),
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc"),
        Case(
            testDescription: "until close", response: MockResponse(body: .untilClose(Data("abc".utf8))),
            wire: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc"),
        Case(
            testDescription: "chunks to HTTP/1.0", response: MockResponse(body: .chunks([Data("abc".utf8)])),
            version: "1.0", wire: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc"),
        Case(
            testDescription: "wrong Content-Length of its own",
            response: MockResponse(headerFields: [.contentLength: "9"], body: .text("abc")),
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nabc"),
        Case(
            testDescription: "HEAD", response: MockResponse(body: .text("abc")), method: "HEAD",
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"),
        Case(
            testDescription: "HEAD, chunked", response: MockResponse(body: .chunks([Data("abc".utf8)])),
            method: "HEAD", wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"),
        Case(
            testDescription: "204", response: MockResponse(status: .noContent, body: .text("abc")),
            wire: "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"),
        Case(
            testDescription: "304", response: MockResponse(status: .notModified, headerFields: [.eTag: "x"]),
            wire: "HTTP/1.1 304 Not Modified\r\nETag: x\r\nConnection: close\r\n\r\n"),
        Case(
            testDescription: "informational",
            response: MockResponse(
                informational: [.init(status: .continue), .init(status: 103, headerFields: [.eTag: "x"])]),
            wire: """
                HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 \r\nETag: x\r\n\r\n\
                HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n
                """),
        Case(
            testDescription: "redirect", response: .redirect(to: "/there"),
            wire: "HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
        Case(testDescription: "raw", response: .raw("HTTP/1.1 banana\r\n\r\n"), wire: "HTTP/1.1 banana\r\n\r\n"),
        Case(
            testDescription: "throttled",
            response: MockResponse(body: .text("abcde"), throttle: .init(bytes: 2, pause: .zero)),
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nabcde"),
    ]

    @Test(arguments: cases) func aResponseIsEncodedAsDescribed(_ testCase: Case) async throws {
        try await withMockServer(testCase.response) { server in
            let connection = testCase.version == "1.0" ? "" : "Host: a\r\nConnection: close\r\n"
            let request = "\(testCase.method) / HTTP/\(testCase.version)\r\n\(connection)\r\n"
            let written = try await transcript(of: request, port: server.port)
            #expect(written == testCase.wire)
        }
    }

    @Test func aThrottledBodyPausesOnTheInjectedClock() async throws {
        let clock = ManualClock()
        let configuration = MockServer.Configuration { $0.clock = clock }
        let response = MockResponse(body: .text("abcde"), throttle: .init(bytes: 2, pause: .seconds(9)))
        try await withMockServer(response, configuration: configuration) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await conversation.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                for part in ["ab", "cd"] {
                    #expect(try await conversation.receive(through: part).hasSuffix(part))
                    try await clock.waitForSleepers(count: 1)
                    clock.advance(by: .seconds(9))
                }
                #expect(try await conversation.receive(through: "e") == "e")
            }
        }
    }

    @Test(arguments: [0, -1, Int.min])
    func aThrottleOfNoBytesIsOneOfASingleByte(bytes: Int) async throws {
        #expect(MockResponse.Throttle(bytes: bytes, pause: .zero).bytes == 1)
        var throttle = MockResponse.Throttle(bytes: 2, pause: .zero)
        throttle.bytes = bytes
        #expect(throttle.bytes == 1)
        var response = MockResponse(body: .text("abc"), closesConnection: true)
        response.throttle = throttle
        try await withMockServer(response) { server in
            let text = try await transcript(of: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", port: server.port)
            #expect(text.hasSuffix("\r\n\r\nabc"))
        }
    }

    @Test func aStreamThatThrowsClosesTheConnection() async throws {
        struct Broken: Error {}
        let pieces = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("abc".utf8))
            continuation.finish(throwing: Broken())
        }
        try await withMockServer(MockResponse(body: .stream(pieces))) { server in
            let text = try await transcript(of: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", port: server.port)
            #expect(text.hasSuffix("\r\n\r\n3\r\nabc\r\n"))
        }
    }
}

extension [String] {
    var asyncPieces: AsyncStream<Data> {
        AsyncStream { continuation in
            for piece in self { continuation.yield(Data(piece.utf8)) }
            continuation.finish()
        }
    }
}
