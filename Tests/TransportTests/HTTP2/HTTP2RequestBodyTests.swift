import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2
import Synchronization
import Testing

@testable import LinnetTransport

@Suite("HTTP/2 request bodies", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2RequestBodyTests {
    /// Counts the pieces that were requested.
    private struct CountingReader: TransportBodyReader {
        let count: Log<Int>
        var left: Int
        let piece = ByteBuffer(repeating: 1, count: 8_192)

        mutating func next() async throws -> ByteBuffer? {
            guard left > 0 else { return nil }
            left -= 1
            count.add(left)
            return piece
        }
    }

    /// Responds with the number of received bytes, and then opens the window.
    private static func counting() -> FrameServer.Script {
        let counts = Mutex<[Int: Int]>([:])
        return { frame, peer in
            let id = frame.streamID
            if case .data(let data) = frame.payload {
                counts.withLock { $0[Int(id), default: 0] += data.data.readableBytes }
                if data.data.readableBytes > 0 {
                    peer.send(.rootStream, .windowUpdate(windowSizeIncrement: data.data.readableBytes))
                    if !data.endStream { peer.send(id, .windowUpdate(windowSizeIncrement: data.data.readableBytes)) }
                }
            }
            if frame.isEnd { peer.respond(id, "\(counts.withLock { $0[Int(id)] ?? 0 })") }
        }
    }

    @Test(arguments: [0, 1, 65_535, 3_000_000])
    func aBodyInMemoryArrivesComplete(count: Int) async throws {
        let observer = RecordingObserver()
        try await FrameServer.run(Self.counting()) { server in
            try await FrameClient.run(server) { client in
                let body = TransportRequestBody.bytes(ByteBuffer(repeating: 1, count: count))
                let response = try await client.send(.http2(method: .post, body: body), observer: observer)
                #expect(response.text == "\(count)")
                #expect(response.metrics.requestBodyBytes == Int64(count))
                #expect(observer.record.sentBytes == count)
            }
        }
    }

    @Test(arguments: [nil, 6] as [Int64?])
    func aStreamedBodyArrivesComplete(length: Int64?) async throws {
        try await FrameServer.run(Self.counting()) { server in
            try await FrameClient.run(server) { client in
                let body = TransportRequestBody.pieces(["abc", "", "def"], length: length)
                let response = try await client.send(.http2(method: .post, body: body))
                #expect(response.text == "6")
            }
        }
    }

    @Test(arguments: [3, 9] as [Int64])
    func aWrongLengthFails(length: Int64) async throws {
        try await FrameServer.run(Self.counting()) { server in
            try await FrameClient.run(server) { client in
                let body = TransportRequestBody.pieces(["abc", "def"], length: length)
                let outcome = await client.outcome(.http2(method: .post, body: body))
                #expect(outcome.error?.code == .requestBodyFailed)
                let next = try await client.send(.http2(method: .post, body: .text("next")))
                #expect(next.text == "4")
            }
        }
    }

    @Test func theBodyIsReadNoFasterThanTheServersWindowAllows() async throws {
        let (pulled, waiting) = (Log<Int>(), Log<NIOLoopBound<FrameServer.Peer>>())
        let total = 100
        try await FrameServer.run { frame, peer in
            if frame.path == "/other" { return peer.respond(frame.streamID, "other") }
            if frame.path != nil { waiting.add(peer.bound) }
            if case .data = frame.payload, frame.isEnd { peer.respond(frame.streamID, "all") }
        } perform: { server in
            try await FrameClient.run(server) { client in
                let body = TransportRequestBody.stream(length: nil, isReplayable: true) {
                    CountingReader(count: pulled, left: total)
                }
                async let response = client.send(.http2(method: .post, body: body))
                let peer = try #require(await waiting.first())
                // 65,535 bytes fit: eight pieces of 8 KiB, the last one in part. The ninth waits behind it.
                _ = await pulled.first { $0 == total - 9 }
                for _ in 0..<20 {
                    let other = try await client.send(.http2("/other"))
                    #expect(other.text == "other")
                }
                #expect(pulled.elements.count == 9)
                peer.execute {
                    $0.send(.rootStream, .windowUpdate(windowSizeIncrement: 10_000_000))
                    $0.send(1, .windowUpdate(windowSizeIncrement: 10_000_000))
                }
                let text = try await response.text
                #expect(text == "all")
                #expect(pulled.elements.count == total)
            }
        }
    }

    @Test func theBodyWaitsForContinue() async throws {
        let seen = Log<String>()
        try await FrameServer.run { frame, peer in
            if frame.path != nil {
                seen.add("head")
                // The PING's answer arrives after everything that the client sent with the head.
                peer.send(.rootStream, .ping(.init(withInteger: 7), ack: false))
            }
            if case .ping(_, ack: true) = frame.payload {
                seen.add("continue")
                peer.head(1, [":status": "100"])
            }
            if case .data = frame.payload { seen.add("data") }
            if frame.isEnd { peer.respond(frame.streamID, "thanks") }
        } perform: { server in
            try await FrameClient.run(server, configure: { $0.continueTimeout = .seconds(100) }) { client in
                let response = try await client.send(
                    .http2(method: .put, fields: [.expect: "100-continue"], body: .text("body")))
                #expect(response.text == "thanks")
                #expect(seen.elements == ["head", "continue", "data"])
            }
        }
    }

    @Test func theBodyIsSentAfterTheContinueTimeout() async throws {
        try await FrameServer.run(Self.counting()) { server in
            try await FrameClient.run(server, configure: { $0.continueTimeout = .milliseconds(1) }) { client in
                let response = try await client.send(
                    .http2(method: .put, fields: [.expect: "100-continue"], body: .text("body")))
                #expect(response.text == "4")
            }
        }
    }

    @Test(arguments: [true, false])
    func anEarlyResponseEndsTheUpload(expectsContinue: Bool) async throws {
        let resets = Log<HTTP2ErrorCode>()
        try await FrameServer.run { frame, peer in
            if let code = frame.resetCode { resets.add(code) }
            if frame.path == "/next" { return peer.respond(frame.streamID, "next") }
            if frame.path != nil { peer.respond(frame.streamID, "no", status: "413") }
        } perform: { server in
            try await FrameClient.run(server) { client in
                let body = TransportRequestBody.bytes(ByteBuffer(repeating: 1, count: 10_000_000))
                let fields: HTTPFields = expectsContinue ? [.expect: "100-continue"] : [:]
                let response = try await client.send(.http2(method: .post, fields: fields, body: body))
                #expect(response.head.status.code == 413 && response.text == "no")
                #expect(await resets.first() == .noError)
                let next = try await client.send(.http2("/next"))
                #expect(next.text == "next")
            }
        }
    }

    /// RFC 9113, 8.1: a client must not discard a response because of the reset that follows it.
    @Test func aResetAfterTheResponseIsIgnored() async throws {
        try await FrameServer.run { frame, peer in
            if frame.path == "/next" { return peer.respond(frame.streamID, "next") }
            guard frame.path != nil else { return }
            peer.respond(frame.streamID, "no", status: "413")
            peer.send(frame.streamID, .rstStream(.noError))
        } perform: { server in
            try await FrameClient.run(server) { client in
                let body = TransportRequestBody.bytes(ByteBuffer(repeating: 1, count: 10_000_000))
                let response = try await client.send(.http2(method: .post, body: body))
                #expect(response.text == "no")
                let next = try await client.send(.http2("/next"))
                #expect(next.text == "next")
            }
        }
    }
}
