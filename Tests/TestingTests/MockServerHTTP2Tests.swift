import FoundationEssentials
import HTTPTypes
import LinnetTesting
import NIOCore
import NIOHTTP2
import Testing

/// The frames that the server sends.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5))) struct MockServerHTTP2Tests {
    private static func configuration(
        _ configure: (inout MockServer.Configuration) -> Void = { _ in }
    ) -> MockServer.Configuration {
        MockServer.Configuration {
            $0.httpVersions = .both
            configure(&$0)
        }
    }

    @Test func requestsAreRecordedWithTheirStreams() async throws {
        try await withMockServer(.text("ab"), configuration: Self.configuration()) { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.get(1, 5, path: "/a?b=c")
                try await client.receive(until: "1 data 2 end")
                try await client.receive(until: "5 data 2 end")
                try await client.post(7, [ByteBuffer(string: "body")], fields: [("x-a", "1")])
                try await client.receive(until: "7 data 2 end")
                #expect(client.frames(7) == ["7 200", "7 data 2 end"])
            }
            let requests = server.recordedRequests.sorted { $0.exchangeIndex < $1.exchangeIndex }
            try #require(requests.map(\.streamID) == [1, 5, 7])
            #expect(requests.map(\.exchangeIndex) == [0, 1, 2])
            #expect(requests.map(\.connectionIndex) == [0, 0, 0])
            #expect(requests.allSatisfy { $0.httpVersion == "HTTP/2" && $0.authority == "example.test" })
            #expect(requests[0].path == "/a")
            #expect(requests[2].method == .post)
            #expect(requests[2].bodyText == "body")
            #expect(requests[2].headerFields.map(\.name.rawName) == ["x-a"])
            #expect(server.connectionFailures.isEmpty)
        }
    }

    @Test func aResponseHasAllItsParts() async throws {
        let response = MockResponse(
            status: .created, headerFields: [.connection: "close", .transferEncoding: "chunked", .server: "mock"],
            body: .chunks([Data("ab".utf8), Data("cde".utf8)]), trailers: [.eTag: "sum"],
            informational: [HTTPResponse(status: 103)])
        try await withMockServer(response, configuration: Self.configuration()) { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.get(1)
                try await client.receive(until: "1 trailers end")
                #expect(client.frames(1) == ["1 103", "1 201", "1 data 2", "1 data 3", "1 trailers end"])
                #expect(client.body(1) == "abcde")
            }
        }
    }

    @Test(arguments: [MockResponse.status(.noContent), .status(.ok)])
    func aResponseWithoutBodyEndsWithItsHead(_ response: MockResponse) async throws {
        try await withMockServer(response, configuration: Self.configuration()) { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.get(1)
                let end = "1 \(response.status.code) end"
                #expect(try await client.receive(until: end))
                #expect(client.frames(1) == [end])
            }
        }
    }

    @Test func continueIsSentWhenTheBodyIsRead() async throws {
        try await withMockServer(configuration: Self.configuration(), handler: { .text($0.bodyText) }) { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.post(1, [], ends: false, fields: [("expect", "100-continue")])
                #expect(try await client.receive(until: "1 100"))
            }
        }
    }

    @Test(arguments: [(3, 3), (0, 0), (-1, 0), (Int.max, 4_294_967_295)])
    func theStreamLimitIsAnnounced(limit: Int, announced: Int) async throws {
        let configuration = Self.configuration { $0.http2.maximumConcurrentStreams = limit }
        try await withMockServer(.text(""), configuration: configuration) { server in
            try await FrameClient.with(port: server.port) { client in
                let isAnnounced = try await client.receive(until: "settings \(announced)")
                #expect(isAnnounced)
            }
        }
    }

    /// A client can open streams before it has received the settings.
    @Test(arguments: [1 << 17, 1 << 30, Int.max])
    func aStreamCanBeOlderThanALargeWindow(size: Int) async throws {
        let configuration = Self.configuration { $0.http2.initialWindowSize = size }
        let frames: [[UInt8]] = [
            Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8),
            [0, 0, 0, 4, 0, 0, 0, 0, 0],  // SETTINGS
            [0, 0, 6, 1, 4, 0, 0, 0, 1, 0x83, 0x86, 0x84, 0x41, 1, 0x61],  // HEADERS: POST http://a/
            [0, 0, 3, 0, 0, 0, 0, 0, 1, 0x6C, 0x69, 0x6E],  // DATA: lin
            [0, 0, 0, 4, 1, 0, 0, 0, 0],  // SETTINGS with ACK
            [0, 0, 3, 0, 1, 0, 0, 0, 1, 0x6E, 0x65, 0x74],  // DATA with END_STREAM: net
        ]
        try await withMockServer(.text("ok"), configuration: configuration) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await conversation.outbound.write(ByteBuffer(bytes: frames.joined()))
                let request = try await server.nextRequest()
                #expect(request.bodyText == "linnet")
                #expect(request.isComplete)
            }
        }
    }

    @Test func aPlainServerOfBothVersionsAnswersHTTP1() async throws {
        try await withMockServer(configuration: Self.configuration(), handler: { .text($0.httpVersion) }) { server in
            // POST and PUT begin with the same letter as the preface.
            for method in ["GET", "POST", "PUT", "PROPFIND"] {
                let text = try await transcript(
                    of: "\(method) / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", port: server.port)
                #expect(text.hasSuffix("\r\n\r\nHTTP/1.1"))
            }
        }
    }

    @Test func aServerRestrictedToHTTP2ClosesOtherConnections() async throws {
        let configuration = Self.configuration { $0.httpVersions = .http2 }
        try await withMockServer(.text(""), configuration: configuration) { server in
            let text = try await transcript(of: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", port: server.port)
            #expect(!text.contains("HTTP/1.1"))
            #expect(server.connectionFailures.map(\.connectionIndex) == [0])
            #expect(server.recordedRequests.isEmpty)
        }
    }

    @Test func aClientThatResetsItsStreamCancelsTheHandler() async throws {
        let (cancellations, cancelled) = AsyncStream<Void>.makeStream()
        let handler: MockServer.Handler = { request in
            if request.path == "/slow" {
                try? await ManualClock().sleep(for: .seconds(1))
                cancelled.yield()
            }
            return .text("ab")
        }
        try await withMockServer(configuration: Self.configuration(), handler: handler) { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.get(1, path: "/slow")
                _ = try await server.nextRequest()
                try await client.reset(1, .cancel)
                for await _ in cancellations { break }
                #expect(server.streamResets == [.init(connectionIndex: 0, streamID: 1, errorCode: .cancel)])
                try await client.get(3)
                #expect(try await client.receive(until: "3 data 2 end"))
                #expect(client.frames(1).isEmpty)
            }
            #expect(server.connectionFailures.isEmpty)
        }
    }

    @Test func aHandlerThatDoesNotReadAppliesBackpressure() async throws {
        let done = Signal()
        let configuration = Self.configuration { $0.requestBodies = .streamed }
        let handler: MockServer.Handler = { request in
            if request.method == .post { await done.wait() }
            return .text("ab")
        }
        try await withMockServer(configuration: configuration, handler: handler) { server in
            try await FrameClient.with(port: server.port) { client in
                let piece = ByteBuffer(repeating: 0x61, count: 16_384)
                try await client.post(1, Array(repeating: piece, count: 3))
                // A stream that is not read must not block others, even with more bytes than the connection's window.
                try await client.post(3, Array(repeating: piece, count: 64))
                for number in 1...5 as ClosedRange<UInt64> {
                    try await client.ping(number)
                    try await client.receive(until: "pong \(number)")
                }
                let allowed = client.frames(3).compactMap { $0.split(separator: "window ").last.flatMap { Int($0) } }
                #expect(allowed.reduce(65_535, +) < 400_000)
                done.fire()
                try await client.receive(until: "3 data 2 end")
            }
        }
    }
}
