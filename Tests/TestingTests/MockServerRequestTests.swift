import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5))) struct MockServerRequestTests {
    @Test func aRequestIsRecordedWhole() async throws {
        try await withMockServer(.status(.noContent)) { server in
            let request = """
                POST /items/7?page=2&x=%20 HTTP/1.1\r\nHost: a\r\nX-Tag: one\r\nx-tag: two\r\nContent-Length: 5\r\n\
                Connection: close\r\n\r\nhello
                """
            _ = try await transcript(of: request, port: server.port)
            let recorded = try await server.nextRequest()
            #expect(recorded.method == .post)
            #expect(recorded.target == "/items/7?page=2&x=%20")
            #expect(recorded.path == "/items/7")
            #expect(recorded.query == "page=2&x=%20")
            #expect(recorded.headerFields[values: HTTPField.Name("X-Tag")!] == ["one", "two"])
            #expect(recorded.bodyText == "hello")
            #expect(recorded.bodyLength == 5)
            #expect(recorded.trailers == nil)
            #expect(recorded.isComplete)
            #expect(recorded.httpVersion == "HTTP/1.1")
            #expect(recorded.tlsVersion == nil)
        }
    }

    @Test func aChunkedBodyAndItsTrailersAreRecorded() async throws {
        try await withMockServer(.status(.noContent)) { server in
            let request = """
                PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\
                3\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 7\r\n\r\n
                """
            _ = try await transcript(of: request, port: server.port)
            let recorded = try await server.nextRequest()
            #expect(recorded.bodyText == "abcde")
            #expect(recorded.trailers == [HTTPField.Name("X-Sum")!: "7"])
        }
    }

    @Test func connectionsAndExchangesAreCountedFromZero() async throws {
        try await withMockServer(handler: { .text($0.path) }) { server in
            for _ in 0..<2 {
                try await Conversation.with(port: server.port) { conversation in
                    for path in ["/a", "/b"] {
                        try await conversation.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                        _ = try await conversation.receive(through: path)
                    }
                }
            }
            let places = server.recordedRequests.map { [$0.connectionIndex, $0.exchangeIndex] }
            #expect(places == [[0, 0], [0, 1], [1, 0], [1, 1]])
            #expect(server.acceptedConnections == 2)
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        try await withMockServer(handler: { .text($0.path) }) { server in
            let text = try await transcript(
                of: (1...9).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
                    + "GET /10 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", port: server.port)
            #expect(
                text.components(separatedBy: "\r\n\r\n/").dropFirst().map { $0.prefix { $0.isNumber } }
                    == (1...10).map { "\($0)" })
        }
    }

    @Test func aBodyOverTheLimitIsAnswered413() async throws {
        let configuration = MockServer.Configuration { $0.requestBodies = .collected(upTo: 4) }
        try await withMockServer(.text("not reached"), configuration: configuration) { server in
            let text = try await transcript(
                of: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", port: server.port)
            #expect(text.hasPrefix("HTTP/1.1 413 "))
            #expect(text.contains("Connection: close\r\n"))
            #expect(try await !server.nextRequest().isComplete)
        }
    }

    @Test func anAbandonedRequestIsRecordedAsIncomplete() async throws {
        try await withMockServer(.text("not reached")) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await conversation.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel")
            }
            let recorded = try await server.nextRequest()
            #expect(!recorded.isComplete)
            #expect(recorded.bodyText == "hel")
        }
    }

    @Test func aMalformedRequestIsAnswered400AndRecorded() async throws {
        try await withMockServer(.text("not reached")) { server in
            let text = try await transcript(of: "nonsense\r\n\r\n", port: server.port)
            #expect(text.hasPrefix("HTTP/1.1 400 "))
            await server.shutdown()
            #expect(server.connectionFailures.map(\.connectionIndex) == [0])
        }
    }

    @Test func nextRequestWaitsForARequest() async throws {
        try await withMockServer(.text("")) { server in
            async let next = server.nextRequest()
            _ = try await transcript(of: "GET /x HTTP/1.0\r\n\r\n", port: server.port)
            let path = try await next.path
            #expect(path == "/x")
        }
    }

    /// Each request is returned once and in order, whether it arrives before or after the call.
    @Test func nextRequestReturnsEachRequestOnce() async throws {
        try await withMockServer(.text("")) { server in
            func send(_ path: String) async throws {
                _ = try await transcript(of: "GET \(path) HTTP/1.0\r\n\r\n", port: server.port)
            }
            for round in 0..<3 {
                async let waiting = server.nextRequest()
                try await send("/\(round)/1")
                #expect(try await waiting.path == "/\(round)/1")
                try await send("/\(round)/2")
                try await send("/\(round)/3")
                #expect(try await server.nextRequest().path == "/\(round)/2")
                #expect(try await server.nextRequest().path == "/\(round)/3")
            }
            let next = Task { try await server.nextRequest() }
            await server.shutdown()
            let error = await #expect(throws: TestingError.self) { try await next.value }
            #expect(error?.code == .shutDown)
        }
    }

    @Test func nextRequestFailsAtShutdown() async throws {
        let server = try await MockServer.start { _ in .text("") }
        let next = Task { try await server.nextRequest() }
        await server.shutdown()
        let error = await #expect(throws: TestingError.self) { try await next.value }
        #expect(error?.code == .shutDown)
    }

    @Test func nextRequestCanBeCancelled() async throws {
        try await withMockServer(.text("")) { server in
            let task = Task { try await server.nextRequest() }
            task.cancel()
            let error = await #expect(throws: TestingError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
    }
}
