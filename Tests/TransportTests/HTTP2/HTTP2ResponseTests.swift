import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2
import Testing

@testable import LinnetTransport

@Suite("HTTP/2 responses", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2ResponseTests {
    /// The server's response to the one request.
    private func exchange(
        _ request: TransportRequest = .http2(), observer: RecordingObserver? = nil,
        configure: (inout TransportConfiguration) -> Void = { _ in },
        answer: @escaping @Sendable (HTTP2StreamID, FrameServer.Peer) -> Void
    ) async throws -> TransportResponse {
        try await FrameServer.run { frame, peer in
            if frame.path != nil { answer(frame.streamID, peer) }
        } perform: { server in
            try await FrameClient.run(server, configure: configure) { client in
                try await client.send(request, observer: observer)
            }
        }
    }

    @Test func headBodyAndTrailersArrive() async throws {
        let checksum = try #require(HTTPField.Name("x-checksum"))
        let response = try await exchange { id, peer in
            peer.head(id, [":status": "200", "content-type": "text/plain", "content-length": "5"])
            peer.data(id, "he")
            peer.data(id, "llo")
            peer.head(id, ["x-checksum": "5d41"], isEnd: true)
        }
        #expect(response.head.status == .ok)
        #expect(response.head.headerFields[.contentType] == "text/plain")
        #expect(response.text == "hello")
        #expect(response.body.completion?.trailers?[checksum] == "5d41")
        #expect(response.metrics.responseBodyBytes == 5)
    }

    /// Frames that arrive together with the stream's end, after a head that was delivered before.
    @Test(arguments: [
        (
            "trailers",
            rawFrame(type: 1, flags: 5, stream: 1, [0, 10] + Array("x-checksum".utf8) + [4] + Array("5d41".utf8))
        ),
        ("RST_STREAM", rawFrame(type: 3, stream: 1, [0, 0, 0, 2])),
    ])
    func bytesThatArriveWithTheEndAreRead(name: String, end: [UInt8]) async throws {
        let peers = Log<NIOLoopBound<FrameServer.Peer>>()
        try await FrameServer.run { frame, peer in
            guard frame.path != nil else { return }
            peer.head(frame.streamID)
            peers.add(peer.bound)
        } perform: { server in
            try await FrameClient.run(server) { client in
                let response = try await client.send(.http2(delivery: .streamed))
                let peer = try #require(await peers.first())
                peer.execute { $0.raw([rawFrame(type: 0, stream: 1, Array("hello".utf8)), end]) }
                var body = response.body.makeAsyncIterator()
                #expect(try await body.next() == ByteBuffer(string: "hello"))
                if name == "trailers" {
                    #expect(try await body.next() == nil)
                    #expect(response.body.completion?.trailers?.first?.value == "5d41")
                } else {
                    await #expect(throws: TransportError.self) { try await body.next() }
                }
            }
        }
    }

    @Test func aHeadHasALengthAndNoBody() async throws {
        let response = try await exchange(.http2(method: .head)) { id, peer in
            peer.head(id, [":status": "200", "content-length": "5"], isEnd: true)
        }
        #expect(response.head.headerFields[.contentLength] == "5")
        #expect(response.text == "")
    }

    @Test(arguments: ["204", "304"])
    func statusesWithoutABodyHaveNone(status: String) async throws {
        let fields: HPACKHeaders = status == "304" ? [":status": status, "content-length": "9"] : [":status": status]
        let response = try await exchange { id, peer in peer.head(id, fields, isEnd: true) }
        #expect(response.head.status.code == Int(status))
        #expect(response.text == "")
    }

    @Test func informationalResponsesGoToTheObserver() async throws {
        let observer = RecordingObserver()
        let response = try await exchange(observer: observer) { id, peer in
            peer.head(id, [":status": "102"])
            peer.head(id, [":status": "103", "link": "</a>"])
            peer.respond(id, "done")
        }
        #expect(response.text == "done")
        #expect(observer.record.informational == [102, 103])
        #expect(observer.record.attempts.count == 1)
    }

    @Test func tooManyInformationalResponsesFail() async throws {
        let error = await #expect(throws: TransportError.self) {
            // Each counts for 64 bytes and its ten bytes.
            try await exchange(configure: { $0.limits.headBytes = 2 * 74 }) { id, peer in
                for _ in 0..<3 { peer.head(id, [":status": "103"]) }
            }
        }
        #expect(error?.code == .tooManyInformationalResponses)
    }

    /// Many small frames, as valid servers send them.
    @Test func manySmallFramesAreNotAFlood() async throws {
        let observer = RecordingObserver()
        let answer = try await exchange(observer: observer) { id, peer in
            for _ in 0..<300 { peer.head(id, [":status": "102"]) }
            var fields: HPACKHeaders = [":status": "200"]
            for number in 0..<1_000 { fields.add(name: "x-\(number)", value: "y") }
            peer.head(id, fields)
            for _ in 0..<200 { peer.data(id, "") }
            peer.data(id, "body", isEnd: true)
        }
        #expect(answer.text == "body" && answer.head.headerFields.count == 1_000)
        #expect(observer.record.informational.count == 300)
    }

    @Test func aBodyAboveTheLimitFails() async throws {
        let error = await #expect(throws: TransportError.self) {
            try await exchange(.http2(delivery: .whole(upTo: 4))) { id, peer in peer.respond(id, "hello") }
        }
        #expect(error?.code == .bodyTooLarge)
    }

    /// Errors on one stream, after which the connection is still used.
    enum Fault: CaseIterable {
        case upperCaseName, noStatus, twoStatuses, badStatus, dataFirst, shortBody, longBody, bodyWhereNoneIs
        case connectionField, pseudoFieldLast, switchedProtocols, informationalEnd, trailersWithoutEnd

        func commit(_ id: HTTP2StreamID, _ peer: FrameServer.Peer) {
            switch self {
            case .upperCaseName: peer.head(id, [":status": "200", "X-Upper": "1"], isEnd: true)
            case .noStatus: peer.head(id, ["server": "x"], isEnd: true)
            case .twoStatuses:
                var headers: HPACKHeaders = [":status": "200"]
                headers.add(name: ":status", value: "201")
                peer.head(id, headers, isEnd: true)
            case .badStatus: peer.head(id, [":status": "20"], isEnd: true)
            case .dataFirst: peer.raw([rawFrame(type: 0, stream: UInt32(Int(id)), [1])])
            case .shortBody:
                peer.head(id, [":status": "200", "content-length": "5"])
                peer.data(id, "four", isEnd: true)
            case .longBody:
                peer.head(id, [":status": "200", "content-length": "3"])
                peer.data(id, "four", isEnd: true)
            case .bodyWhereNoneIs:
                peer.head(id, [":status": "204"])
                peer.data(id, "body", isEnd: true)
            case .connectionField: peer.head(id, [":status": "200", "connection": "close"], isEnd: true)
            case .pseudoFieldLast: peer.head(id, ["server": "x", ":status": "200"], isEnd: true)
            case .switchedProtocols: peer.head(id, [":status": "101"])
            case .informationalEnd: peer.head(id, [":status": "103"], isEnd: true)
            case .trailersWithoutEnd:
                peer.head(id)
                // x: 1, with END_HEADERS only.
                peer.raw([rawFrame(type: 1, flags: 4, stream: UInt32(Int(id)), [0, 1, 0x78, 1, 0x31])])
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func aMalformedResponseFailsAlone(fault: Fault) async throws {
        try await FrameServer.run { frame, peer in
            switch frame.path {
            case "/bad": fault.commit(frame.streamID, peer)
            case "/good": peer.respond(frame.streamID, "good")
            default: break
            }
        } perform: { server in
            try await FrameClient.run(server) { client in
                let bad = await client.outcome(.http2("/bad"))
                #expect(bad.error?.code == .invalidResponse)
                #expect(!bad.canRepeat)
                let good = try await client.send(.http2("/good"))
                #expect(good.text == "good")
                let told = try await client.told()
                #expect(!told.isClosed && told.ended == 2)
            }
        }
    }

    /// An error on a stream whose exchange has just ended for another reason.
    @Test func anErrorAfterTheEndFailsNoOtherStream() async throws {
        try await FrameServer.run { frame, peer in
            if frame.path == "/good" { peer.respond(frame.streamID, "good") }
            guard frame.path == "/bad" else { return }
            let id = UInt32(Int(frame.streamID))
            // :status 200, content-length 5; then more than the caller's limit; then more than Content-Length.
            peer.raw([
                rawFrame(type: 1, flags: 4, stream: id, [0x88, 0x0F, 0x0D, 1, 0x35]),
                rawFrame(type: 0, stream: id, [1, 2, 3, 4]), rawFrame(type: 0, flags: 1, stream: id, [5, 6]),
            ])
        } perform: { server in
            try await FrameClient.run(server) { client in
                let bad = await client.outcome(.http2("/bad", delivery: .whole(upTo: 2)))
                #expect(bad.error?.code == .bodyTooLarge)
                let good = try await client.send(.http2("/good"))
                #expect(good.text == "good")
            }
        }
    }

    @Test(arguments: [(1, 1_000), (20, 10)])
    func aHeadAboveTheLimitFailsAlone(fields: Int, bytes: Int) async throws {
        try await FrameServer.run { frame, peer in
            guard let path = frame.path else { return }
            var headers: HPACKHeaders = [":status": "200"]
            if path == "/large" {
                let value = String(repeating: "a", count: bytes)
                for number in 0..<fields { headers.add(name: "x-\(number)", value: value) }
            }
            peer.head(frame.streamID, headers, isEnd: true)
        } perform: { server in
            let limit: (inout TransportConfiguration) -> Void = {
                $0.limits.headBytes = 512
                $0.limits.headFields = 10
            }
            try await FrameClient.run(server, configure: limit) { client in
                let large = await client.outcome(.http2("/large"))
                #expect(large.error?.code == .headTooLarge)
                let small = try await client.send(.http2("/small"))
                #expect(small.head.status == .ok)
            }
        }
    }

    @Test func aHeadFarAboveTheLimitEndsTheConnection() async throws {
        let error = await #expect(throws: TransportError.self) {
            try await exchange(configure: { $0.limits.headBytes = 512 }) { id, peer in
                let (id, part) = (UInt32(Int(id)), [UInt8](repeating: 0, count: 60_000))
                peer.raw([rawFrame(type: 1, stream: id, part), rawFrame(type: 9, flags: 4, stream: id, part)])
            }
        }
        #expect(error?.code == .headTooLarge)
    }
}

@Suite("HTTP/2 streamed responses", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2StreamedResponseTests {
    private static let window = 65_535

    private func small(_ configuration: inout TransportConfiguration) {
        configuration.http2.initialWindowSize = Self.window
    }

    @Test func aSlowReaderDelaysItsOwnStreamOnly() async throws {
        let sent = Log<Int>()
        let (piece, pieces) = (ByteBuffer(repeating: 7, count: 16_384), 512)
        try await FrameServer.run { frame, peer in
            guard let path = frame.path else { return }
            guard path == "/large" else { return peer.respond(frame.streamID, "small") }
            peer.head(frame.streamID)
            for number in 1...pieces {
                let promise = peer.eventLoop.makePromise(of: Void.self)
                promise.futureResult.whenSuccess { sent.add(number) }
                peer.send(
                    frame.streamID, .data(.init(data: .byteBuffer(piece), endStream: number == pieces)), promise)
            }
        } perform: { server in
            try await FrameClient.run(server, configure: small) { client in
                let large = try await client.send(.http2("/large", delivery: .streamed))
                // The reader has read nothing; the server can send the mark and one window at most.
                for _ in 0..<50 {
                    let response = try await client.send(.http2("/small"))
                    #expect(response.text == "small")
                }
                let bound = (256 * 1024 + 2 * Self.window) / piece.readableBytes + 1
                #expect(sent.elements.count <= bound)
                let body = try await large.body.collect(upTo: .max)
                #expect(body.readableBytes == pieces * piece.readableBytes)
            }
        }
    }

    @Test func aDroppedBodyResetsItsStreamOnly() async throws {
        let resets = Log<HTTP2ErrorCode>()
        try await FrameServer.run { frame, peer in
            if let code = frame.resetCode { resets.add(code) }
            guard let path = frame.path else { return }
            peer.head(frame.streamID)
            peer.data(frame.streamID, "piece", isEnd: path != "/endless")
        } perform: { server in
            try await FrameClient.run(server) { client in
                _ = try await client.send(.http2("/endless", delivery: .streamed)).head
                #expect(await resets.first() == .cancel)
                let next = try await client.send(.http2("/short"))
                #expect(next.text == "piece")
            }
        }
    }

    @Test func aBodyThatIsResetFails() async throws {
        try await FrameServer.run { frame, peer in
            guard frame.path != nil else { return }
            peer.head(frame.streamID)
            peer.data(frame.streamID, "half")
            peer.send(frame.streamID, .rstStream(.internalError))
        } perform: { server in
            try await FrameClient.run(server) { client in
                let error = await #expect(throws: TransportError.self) {
                    try await client.send(.http2(delivery: .streamed)).body.collect(upTo: .max)
                }
                #expect(error?.code == .streamReset)
                #expect(error?.message.contains("INTERNAL_ERROR") == true)
            }
        }
    }

    @Test func theHeadIsDeliveredBeforeTheBody() async throws {
        let waiting = Log<NIOLoopBound<FrameServer.Peer>>()
        try await FrameServer.run { frame, peer in
            guard frame.path != nil else { return }
            peer.head(frame.streamID)
            waiting.add(peer.bound)
        } perform: { server in
            try await FrameClient.run(server) { client in
                let response = try await client.send(.http2(delivery: .streamed))
                let peer = try #require(await waiting.first())
                peer.execute { $0.data(1, "late", isEnd: true) }
                let body = try await response.body.collect(upTo: 4)
                #expect(String(buffer: body) == "late")
                #expect(response.body.completion != nil)
            }
        }
    }
}
