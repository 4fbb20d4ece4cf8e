import FoundationEssentials
import HTTPTypes
import LinnetTesting
import LinnetTransport
import NIOCore
import Testing

@Suite("Request bodies", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct RequestBodyTests {
    /// Sends a body, and returns the received one.
    private func received(
        _ body: TransportRequestBody?, fields: HTTPFields = [:], observer: RecordingObserver? = nil
    ) async throws -> RecordedRequest {
        try await withMockServer { _ in
            .status(.ok)
        } perform: { server in
            try await withTransport {
                _ = try await $0.send(server.request(.put, fields: fields, body: body), observer: observer)
            }
            return try await server.nextRequest()
        }
    }

    @Test func bytesAreSentWithTheirLength() async throws {
        let observer = RecordingObserver()
        let request = try await received(.text("hello"), observer: observer)
        #expect(request.bodyText == "hello")
        #expect(request.headerFields[.contentLength] == "5")
        #expect(observer.record.sentBytes == 5)
        #expect(observer.record.attempts.map(\.requestBodyBytes) == [5])
    }

    @Test func aBodyOfUnknownLengthIsSentInChunks() async throws {
        let request = try await received(.pieces(["he", "", "llo"]))
        #expect(request.bodyText == "hello")
        #expect(request.headerFields[.transferEncoding] == "chunked")
        #expect(request.headerFields[.contentLength] == nil)
    }

    @Test func aKnownLengthIsKept() async throws {
        let observer = RecordingObserver()
        let request = try await received(.pieces(["he", "llo"], length: 5), observer: observer)
        #expect(request.bodyText == "hello")
        #expect(request.headerFields[.contentLength] == "5")
        #expect(observer.record.sentBytes == 5)
    }

    @Test func emptyBodiesAreFramedToo() async throws {
        #expect(try await received(.text("")).headerFields[.contentLength] == "0")
        #expect(try await received(nil).headerFields[.contentLength] == "0")
        #expect(try await received(.pieces([])).bodyText == "")
    }

    @Test func aLargeBodyArrivesWhole() async throws {
        let piece = String(repeating: "x", count: 65_536)
        let request = try await received(.pieces(Array(repeating: piece, count: 256)))
        #expect(request.body.count == 16 * 1024 * 1024)
    }

    @Test func smallChunksArriveWholeAndInOrder() async throws {
        let pieces = (0..<20_000).map { "\($0)\n" }
        #expect(try await received(.pieces(pieces)).bodyText == pieces.joined())
    }

    /// The reader produces its second chunk only once the server has the first.
    @Test(arguments: [false, true])
    func aChunkDoesNotWaitForTheNext(fails: Bool) async throws {
        struct Dialogue: TransportBodyReader {
            struct Failure: Error {}
            let arrivals: AsyncStream<Data>
            let fails: Bool
            var sent = 0
            mutating func next() async throws -> ByteBuffer? {
                defer { sent += 1 }
                if sent == 0 { return ByteBuffer(string: "first") }
                for await _ in arrivals where sent == 1 { return ByteBuffer(string: "second") }
                if fails { throw Failure() }
                return nil
            }
        }
        let (arrivals, arrived) = AsyncStream.makeStream(of: Data.self)
        let configuration = MockServer.Configuration { $0.requestBodies = .streamed }
        try await withMockServer(configuration: configuration) { request in
            var body = Data()
            do {
                for try await chunk in request.chunks {
                    body += chunk
                    arrived.yield(chunk)
                    if body.count > 5 { arrived.finish() }
                }
            } catch {}
            return MockResponse(body: .bytes(body))
        } perform: { server in
            try await withTransport { transport in
                let body = TransportRequestBody.stream(length: nil, isReplayable: false) {
                    Dialogue(arrivals: arrivals, fails: fails)
                }
                let request = server.request(.post, body: body)
                if fails {
                    let error = await failure { () async throws(TransportError) in try await transport.send(request) }
                    #expect(error?.underlying is Dialogue.Failure)
                } else {
                    let response = try await transport.send(request)
                    #expect(response.text == "firstsecond")
                }
            }
        }
    }

    @Test(arguments: [["too", "long"], ["few"]])
    func aWrongLengthIsAFailure(pieces: [String]) async throws {
        let server = try await MockServer.start { _ in .status(.ok) }
        try await withTransport { transport in
            let error = await failure { () async throws(TransportError) in
                try await transport.send(server.request(.put, body: .pieces(pieces, length: 5)))
            }
            #expect(error?.code == .requestBodyFailed)
        }
        #expect(try await !server.nextRequest().isComplete)
        #expect(server.recordedRequests.count == 1)
        await server.shutdown()
    }

    @Test func aReaderThatThrowsIsAFailure() async throws {
        struct Broken: TransportBodyReader, Error {
            mutating func next() async throws -> ByteBuffer? { throw self }
        }
        try await withMockServer { _ in
            .status(.ok)
        } perform: { server in
            let error = try await withTransport { transport in
                await failure { () async throws(TransportError) in
                    try await transport.send(
                        server.request(
                            .put, body: .stream(length: nil, isReplayable: true) { Broken() }))
                }
            }
            #expect(error?.code == .requestBodyFailed)
            #expect(error?.underlying is Broken)
        }
    }

    // MARK: Answers before the end

    @Test func aRefusalCanComeBeforeTheBodysEnd() async throws {
        /// Never comes to its end.
        struct Endless: TransportBodyReader {
            mutating func next() async throws -> ByteBuffer? {
                try Task.checkCancellation()
                await Task.yield()
                return ByteBuffer(repeating: 0, count: 65_536)
            }
        }
        let configuration = MockServer.Configuration { $0.requestBodies = .streamed }
        try await withMockServer(configuration: configuration) { _ in
            MockResponse(status: .contentTooLarge, body: .text("too large"), closesConnection: true)
        } perform: { server in
            try await withTransport { transport in
                let body = TransportRequestBody.stream(length: nil, isReplayable: true) { Endless() }
                let response = try await transport.send(server.request(.post, body: body))
                #expect(response.head.status == .contentTooLarge)
                #expect(response.text == "too large")
            }
        }
    }

    @Test func continueIsAwaited() async throws {
        let observer = RecordingObserver()
        let request = try await received(.text("hello"), fields: [.expect: "100-continue"], observer: observer)
        #expect(request.bodyText == "hello")
        #expect(observer.record.informational == [100])
    }

    @Test func withoutContinueTheBodyGoesOutAfterAWhile() async throws {
        let configuration = MockServer.Configuration { $0.sendsContinue = false }
        try await withMockServer(configuration: configuration) { _ in
            .status(.ok)
        } perform: { server in
            try await withTransport({ $0.continueTimeout = .milliseconds(20) }) { transport in
                _ = try await transport.send(
                    server.request(.put, fields: [.expect: "100-continue"], body: .text("hello")))
            }
            #expect(try await server.nextRequest().bodyText == "hello")
        }
    }

    @Test func aRefusalInsteadOfContinueSparesTheBody() async throws {
        let configuration = MockServer.Configuration {
            $0.sendsContinue = false
            $0.requestBodies = .streamed
        }
        try await withMockServer(configuration: configuration) { _ in
            .text("no", status: .expectationFailed)
        } perform: { server in
            try await withTransport({ $0.continueTimeout = .seconds(60) }) { transport in
                let observer = RecordingObserver()
                let response = try await transport.send(
                    server.request(.put, fields: [.expect: "100-continue"], body: .text("hello")), observer: observer)
                #expect(response.head.status == .expectationFailed)
                #expect(observer.record.sentBytes == 0)
            }
        }
    }
}
