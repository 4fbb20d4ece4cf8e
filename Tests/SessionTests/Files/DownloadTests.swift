import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct DownloadTests {
    @Test(arguments: [0, 1, 65_536, 64 * 1024 * 1024])
    func theFileEqualsTheSentBody(size: Int) async throws {
        let bytes = makeBytes(size)
        let response = MockResponse(headerFields: [.contentType: "application/x-iso"], body: .bytes(bytes))
        try await withMockServer(response) { server in
            try await withScratchFolder { folder in
                let session = try HTTPSession()
                let response = try await session.call(SessionRequest(url: server.url("/a"))).download(
                    to: folder["file"])
                #expect(response.value.path == folder["file"].path)
                #expect(response.data.isEmpty)
                #expect(response.head.headerFields[.contentType] == "application/x-iso")
                #expect(response.metrics.map(\.responseBodyBytes) == [Int64(size)])
                #expect(try Data(contentsOf: folder["file"]) == bytes)
                #expect(folder.names == ["file"])
                await session.shutdown()
            }
        }
    }

    @Test func bodiesOfUnknownLengthAreWhole() async throws {
        let pieces = (0..<50).map { makeBytes(10_000 + $0, seed: UInt64($0)) }
        try await withMockServer(MockResponse(body: .chunks(pieces))) { server in
            try await withScratchFolder { folder in
                let client = try HTTPSession(baseURL: server.url("/"))
                try await client.get("a").download(to: folder["file"])
                #expect(try Data(contentsOf: folder["file"]) == pieces.reduce(Data(), +))
                await client.shutdown()
            }
        }
    }

    @Test func theVerbSendsItsBody() async throws {
        let transport = StubTransport { _ in .status(200, body: Data("x".utf8)) }
        let client = try makeClient(transport)
        try await withScratchFolder { folder in
            var options = RequestOptions()
            options.idleTimeout = .seconds(7)
            try await client.get("a", ["q": 1]).headers([.accept: "text/csv"]).options(options).download(
                to: folder["file"])
            #expect(try folder.text(of: "file") == "x")
        }
        let request = try #require(transport.requests.first)
        #expect(request.head.method == .get)
        #expect(request.head.path == "/api/a?q=1")
        #expect(request.head.headerFields[.accept] == "text/csv")
        #expect(request.delivery == .streamed)
        #expect(request.timeouts.idleRead == .seconds(7))
    }

    @Test func interceptorsSeeTheDownloadAndMayMakeTheBody() async throws {
        struct Doubling: Interceptor {
            func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
                var response = try await next(request)
                response.head.headerFields[.contentLength] = nil
                let (chunks, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
                for try await chunk in response.body {
                    continuation.yield(chunk)
                    continuation.yield(chunk)
                }
                continuation.finish()
                response.body = .streamed(chunks)
                return response
            }
        }
        let client = try makeClient(StubTransport { _ in .status(200, body: Data("ab".utf8)) }) {
            $0.interceptors = [Doubling()]
        }
        try await withScratchFolder { folder in
            try await client.get("a").download(to: folder["file"])
            #expect(try folder.text(of: "file") == "abab")
        }
    }

    @Test func aLargeBodyFromAnInterceptorIsWhole() async throws {
        struct Stored: Interceptor {
            let bytes: Data
            func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
                StreamedResponse(url: request.url, head: HTTPResponse(status: .ok), body: .whole(bytes))
            }
        }
        let bytes = makeBytes(3 * 1024 * 1024 + 17)
        let client = try makeClient { $0.interceptors = [Stored(bytes: bytes)] }
        try await withScratchFolder { folder in
            try await client.get("a").download(to: folder["file"])
            #expect(try Data(contentsOf: folder["file"]) == bytes)
        }
    }

    @Test func aDownloadHasTheEventsOfARequest() async throws {
        let client = try makeClient(StubTransport { _ in .status(200) })
        let events = EventRecorder<String>()
        let observation = client.onEvent { event in
            switch event.kind {
            case .resumed: events.record("resumed")
            case .completed(nil): events.record("completed")
            default: events.record("other")
            }
        }
        try await withScratchFolder { folder in
            try await client.get("a").download(to: folder["file"])
            #expect(folder.names == ["file"])
        }
        try await events.wait(count: 2)
        #expect(events.events == ["resumed", "completed"])
        observation.cancel()
    }

    @Test func tenConcurrentDownloadsDoNotCollide() async throws {
        let handler: MockServer.Handler = { request in
            MockResponse(body: .bytes(makeBytes(300_000, seed: UInt64(request.path.count))))
        }
        try await withMockServer(handler: handler) { server in
            try await withScratchFolder { folder in
                let client = try HTTPSession(baseURL: server.url("/"))
                try await withThrowingTaskGroup { group in
                    for number in 1...10 {
                        group.addTask {
                            let path = String(repeating: "a", count: number)
                            try await client.get(path).download(to: folder["file\(number)"])
                        }
                    }
                    try await group.waitForAll()
                }
                for number in 1...10 {
                    let expected = makeBytes(300_000, seed: UInt64(number + 1))
                    #expect(try Data(contentsOf: folder["file\(number)"]) == expected)
                }
                #expect(folder.names.count == 10)
                await client.shutdown()
            }
        }
    }
}
