import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2
import Synchronization
import Testing

@testable import LinnetTransport

@Suite("HTTP/2 connections", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2ConnectionTests {
    @Test func theServersLimitIsReported() async throws {
        try await FrameServer.run(settings: [HTTP2Setting(parameter: .maxConcurrentStreams, value: 8)]) { frame, peer in
            if frame.path != nil { peer.respond(frame.streamID) }
            // The second change.
            if frame.path == "/more" {
                peer.send(
                    .rootStream,
                    .settings(.settings([HTTP2Setting(parameter: .maxConcurrentStreams, value: 20)])))
            }
        } perform: { server in
            try await FrameClient.run(server) { client in
                _ = try await client.send(.http2("/more"))
                let told = try await client.told { $0.capacities.contains(20) }
                #expect(told.capacities == [8, 20])
            }
        }
    }

    /// The server responds when eight streams are open. A ninth would be open before the first response.
    @Test func aThousandRequestsShareEightStreams() async throws {
        typealias Open = (waiting: [(id: HTTP2StreamID, path: String)], most: Int)
        let open = Mutex<Open>((waiting: [], most: 0))
        try await FrameServer.run(settings: [HTTP2Setting(parameter: .maxConcurrentStreams, value: 8)]) { frame, peer in
            guard let path = frame.path else { return }
            let ready = open.withLock { open in
                open.waiting.append((frame.streamID, path))
                open.most = max(open.most, open.waiting.count)
                return open.waiting.count == 8
            }
            guard ready else { return }
            let peer = peer.bound
            peer.eventLoop.execute {
                let waiting = open.withLock { open in
                    defer { open.waiting = [] }
                    return open.waiting
                }
                for (id, path) in waiting { peer.value.respond(id, path) }
            }
        } perform: { server in
            try await FrameClient.run(server) { client in
                _ = try await client.told { $0.capacities == [8] }
                let texts = try await withThrowingTaskGroup(of: String?.self) { group in
                    for number in 0..<1_000 {
                        group.addTask { try await client.send(.http2("/\(number)"), queued: true).text }
                    }
                    return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
                }
                #expect(texts == Set((0..<1_000).map { "/\($0)" }))
                let told = try await client.told()
                #expect(told.ended == 1_000)
            }
        }
        #expect(open.withLock { $0.most } == 8)
    }

    @Test func cancellingResetsOneStream() async throws {
        let (heads, resets) = (Log<NIOLoopBound<FrameServer.Peer>>(), Log<HTTP2StreamID>())
        try await FrameServer.run { frame, peer in
            if frame.path == "/wait" { heads.add(peer.bound) }
            if frame.resetCode == .cancel { resets.add(frame.streamID) }
        } perform: { server in
            try await FrameClient.run(server) { client in
                async let other = client.send(.http2("/wait"))
                let peer = try #require(await heads.first())
                let cancelled = Task { await client.outcome(.http2("/wait")) }
                _ = await heads.first()
                cancelled.cancel()
                #expect(await cancelled.value.error?.code == .cancelled)
                #expect(await resets.first() == 3)
                peer.execute { $0.respond(1, "mine") }
                let text = try await other.text
                #expect(text == "mine")
            }
        }
    }

    /// Frames that the server sent before it received the reset are no error.
    @Test func framesThatCrossAResetAreIgnored() async throws {
        let resets = Log<HTTP2StreamID>()
        try await FrameServer.run { frame, peer in
            if frame.path == "/last" { peer.respond(frame.streamID, "last") }
            if frame.path == "/wait" { peer.head(frame.streamID) }
            if frame.resetCode != nil {
                let id = UInt32(Int(frame.streamID))
                peer.raw([rawFrame(type: 0, stream: id, [1, 2, 3]), rawFrame(type: 8, stream: id, [0, 0, 0, 9])])
                resets.add(frame.streamID)
            }
        } perform: { server in
            try await FrameClient.run(server) { client in
                for _ in 0..<60 {
                    _ = try await client.send(.http2("/wait", delivery: .streamed)).head
                    _ = await resets.first()
                }
                let last = try await client.send(.http2("/last"))
                #expect(last.text == "last")
            }
        }
    }

    @Test(arguments: [
        (HTTP2ErrorCode.cancel, "CANCEL (0x8)"), (.http11Required, "HTTP_1_1_REQUIRED (0xd)"),
        (HTTP2ErrorCode(networkCode: 0x77), "0x77"), (.noError, "NO_ERROR (0x0)"),
    ])
    func aResetHasItsOwnErrorCode(code: HTTP2ErrorCode, text: String) async throws {
        try await FrameServer.run { frame, peer in
            if frame.path != nil { peer.send(frame.streamID, .rstStream(code)) }
        } perform: { server in
            try await FrameClient.run(server) { client in
                let outcome = await client.outcome(.http2(), isReused: true)
                #expect(outcome.error?.code == .streamReset)
                #expect(outcome.error?.message.contains(text) == true)
                // A request that requires HTTP/1.1 was not processed (RFC 9113, 7).
                #expect(outcome.canRepeat == (code == .http11Required))
            }
        }
    }

    /// RFC 9113, 8.7: a refused stream was not processed, so that even a POST can be sent again.
    @Test(arguments: [true, false])
    func aRefusedStreamCanBeRepeated(isReplayable: Bool) async throws {
        try await FrameServer.run { frame, peer in
            if frame.path != nil { peer.send(frame.streamID, .rstStream(.refusedStream)) }
        } perform: { server in
            try await FrameClient.run(server) { client in
                let body = TransportRequestBody.pieces(["body"], isReplayable: isReplayable)
                let outcome = await client.outcome(.http2(method: .post, body: body))
                #expect(outcome.error?.code == .streamReset)
                #expect(outcome.canRepeat == isReplayable)
            }
        }
    }

    @Test func goAwayCompletesTheStreamsBelowItsLast() async throws {
        let heads = Log<NIOLoopBound<FrameServer.Peer>>()
        try await FrameServer.run { frame, peer in
            if frame.path != nil { heads.add(peer.bound) }
        } perform: { server in
            try await FrameClient.run(server) { client in
                async let below = client.send(.http2("/below"))
                let peer = try #require(await heads.first())
                async let above = client.outcome(.http2("/above", method: .post, body: .text("body")))
                _ = await heads.first()
                peer.execute { $0.goAway(1) }
                let lost = await above
                #expect(lost.error?.code == .connectionClosed)
                #expect(lost.canRepeat)
                let told = try await client.told { $0.isRetiring }
                #expect(!told.isClosed)
                let late = await client.outcome(.http2("/late"))
                #expect(late.canRepeat)
                peer.execute { $0.respond(1, "still here") }
                let text = try await below.text
                #expect(text == "still here")
                _ = try await client.told { $0.isClosed }
            }
        }
    }

    /// A request with a begun response was processed, whatever GOAWAY says (RFC 9113, 6.8).
    @Test func aRequestWithABegunResponseIsNotRepeatedAfterGoAway() async throws {
        try await FrameServer.run { frame, peer in
            guard frame.isEnd else { return }
            peer.head(frame.streamID)
            peer.data(frame.streamID, "half")
            peer.goAway(0)
        } perform: { server in
            try await FrameClient.run(server) { client in
                let outcome = await client.outcome(.http2(method: .post, body: .text("body")))
                #expect(outcome.error?.code == .connectionClosed)
                #expect(outcome.error?.attempts.last?.failure == .other)
                #expect(!outcome.canRepeat)
            }
        }
    }

    /// Otherwise a request that is repeated could get the connection that ends.
    @Test func aConnectionThatEndsLeavesThePoolBeforeItsExchanges() async throws {
        let heads = Log<NIOLoopBound<FrameServer.Peer>>()
        try await FrameServer.run { frame, peer in
            if frame.path != nil { heads.add(peer.bound) }
        } perform: { server in
            try await FrameClient.run(server) { client in
                async let first = client.outcome(.http2("/1"))
                async let second = client.outcome(.http2("/2"))
                _ = await heads.first()
                let peer = try #require(await heads.first())
                peer.execute { $0.close() }
                let outcomes = await [first, second]
                #expect(outcomes.allSatisfy { $0.error?.code == .connectionClosed })
                let told = try await client.told()
                #expect(told.isEnding && !told.isRetiring)
                _ = try await client.told { $0.isClosed }
            }
        }
    }

    @Test func retiringWaitsForTheLastStream() async throws {
        let (heads, farewells) = (Log<NIOLoopBound<FrameServer.Peer>>(), Log<HTTP2ErrorCode>())
        try await FrameServer.run { frame, peer in
            if frame.path != nil { heads.add(peer.bound) }
            if case .goAway(_, let code, _) = frame.payload { farewells.add(code) }
        } perform: { server in
            try await FrameClient.run(server) { client in
                async let response = client.send(.http2())
                let peer = try #require(await heads.first())
                await client.perform { $0.retire() }
                #expect(await farewells.first() == .noError)
                let told = try await client.told()
                #expect(told.isRetiring && !told.isClosed)
                peer.execute { $0.respond(1, "last") }
                let text = try await response.text
                #expect(text == "last")
                _ = try await client.told { $0.isClosed }
            }
        }
    }

    @Test func exhaustedStreamNumbersRetireTheConnection() async throws {
        try await FrameServer.run { frame, peer in
            if let path = frame.path { peer.respond(frame.streamID, path) }
        } perform: { server in
            try await FrameClient.run(server, firstStreamID: Int(Int32.max) - 2) { client in
                let texts = [try await client.send(.http2("/1")).text, try await client.send(.http2("/2")).text]
                #expect(texts == ["/1", "/2"])
                let told = try await client.told { $0.isClosed }
                #expect(told.isRetiring)
                let late = await client.outcome(.http2("/3"))
                #expect(late.error?.code == .connectionClosed && late.canRepeat)
            }
        }
    }

    @Test func shuttingDownFailsRunningRequests() async throws {
        let heads = Log<Void>()
        try await FrameServer.run { frame, _ in
            if frame.path != nil { heads.add(()) }
        } perform: { server in
            try await FrameClient.run(server) { client in
                async let outcome = client.outcome(.http2())
                _ = await heads.first()
                await client.perform { $0.shutDown(.shutDown) }
                #expect(await outcome.error?.code == .shutDown)
                _ = try await client.told { $0.isClosed }
            }
        }
    }

    @Test(arguments: [(HTTPRequest.Method.get, true), (.post, false)])
    func anEndWithoutGoAwayIsAnError(method: HTTPRequest.Method, canRepeat: Bool) async throws {
        try await FrameServer.run { frame, peer in
            if frame.path != nil { peer.close() }
        } perform: { server in
            try await FrameClient.run(server) { client in
                let outcome = await client.outcome(.http2(method: method), isReused: true)
                #expect(outcome.error?.code == .connectionClosed)
                #expect(outcome.canRepeat == canRepeat)
            }
        }
    }

    @Test func anInvalidRequestDoesNotAffectTheConnection() async throws {
        try await FrameServer.run { frame, peer in
            if frame.path != nil { peer.respond(frame.streamID) }
        } perform: { server in
            try await FrameClient.run(server) { client in
                let outcome = await client.outcome(.http2("/a b"))
                #expect(outcome.error?.code == .invalidRequest)
                let next = try await client.send(.http2())
                #expect(next.head.status == .ok)
            }
        }
    }
}
