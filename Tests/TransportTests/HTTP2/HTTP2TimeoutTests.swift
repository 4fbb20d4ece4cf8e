import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2
import Testing

@testable import LinnetTransport

@Suite("HTTP/2 timeouts", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2TimeoutTests {
    @Test func aSilentStreamFailsAloneAndAPingIsSent() async throws {
        let (pings, resets) = (Log<Void>(), Log<HTTP2ErrorCode>())
        try await FrameServer.run { frame, peer in
            if frame.path == "/good" { peer.respond(frame.streamID, "good") }
            if case .ping(_, ack: false) = frame.payload { pings.add(()) }
            if let code = frame.resetCode { resets.add(code) }
        } perform: { server in
            try await FrameClient.run(server, configure: { $0.http2.keepAlivePing = nil }) { client in
                let outcome = await client.outcome(
                    .http2("/silent", timeouts: TransportTimeouts(idleRead: .milliseconds(20))))
                #expect(outcome.error?.code == .readTimeout)
                #expect(await resets.first() == .cancel)
                #expect(await pings.first() != nil)
                let good = try await client.send(.http2("/good"))
                #expect(good.text == "good")
            }
        }
    }

    @Test(arguments: [
        TransportTimeouts(idleRead: .milliseconds(1100)), TransportTimeouts(request: .milliseconds(1100)),
    ])
    func aConnectionWithASilentServerTakesNoMoreRequests(_ timeouts: TransportTimeouts) async throws {
        try await FrameServer.run { _, _ in
        } perform: { server in
            try await FrameClient.run(server) { client in
                let outcome = await client.outcome(.http2(timeouts: timeouts))
                #expect(outcome.error?.code == (timeouts.idleRead == nil ? .requestTimeout : .readTimeout))
                _ = try await client.told { $0.isClosed }
            }
        }
    }

    @Test func theRequestTimeoutIsEnforced() async throws {
        try await FrameServer.run { _, _ in
        } perform: { server in
            try await FrameClient.run(server) { client in
                let outcome = await client.outcome(.http2(timeouts: TransportTimeouts(request: .milliseconds(20))))
                #expect(outcome.error?.code == .requestTimeout)
            }
        }
    }

    @Test func anUploadFailsIfTheServerReadsNothing() async throws {
        try await FrameServer.run { _, _ in
        } perform: { server in
            try await FrameClient.run(server) { client in
                let outcome = await client.outcome(
                    .http2(
                        method: .post, body: .bytes(ByteBuffer(repeating: 1, count: 1_000_000)),
                        timeouts: TransportTimeouts(idleWrite: .milliseconds(20))))
                #expect(outcome.error?.code == .writeTimeout)
            }
        }
    }

    @Test func aServerThatAnswersNoPingLosesTheConnection() async throws {
        let heads = Log<Void>()
        try await FrameServer.run { frame, peer in
            guard frame.path != nil else { return }
            heads.add(())
            // Pings are answered until both requests are there.
            if heads.elements.count == 2 { peer.stopReading() }
        } perform: { server in
            let options: (inout TransportConfiguration) -> Void = {
                $0.http2.keepAlivePing = .milliseconds(20)
                $0.http2.pingTimeout = .milliseconds(500)
            }
            try await FrameClient.run(server, configure: options) { client in
                async let first = client.outcome(.http2("/1"), isReused: true)
                async let second = client.outcome(.http2("/2", method: .post), isReused: true)
                let outcomes = await [first, second]
                #expect(outcomes.map { $0.error?.code } == [.pingTimeout, .pingTimeout])
                #expect(outcomes.map(\.canRepeat) == [true, false])
                _ = try await client.told { $0.isClosed }
            }
        }
    }

    @Test func aServerThatAnswersPingsKeepsTheConnection() async throws {
        let waiting = Log<NIOLoopBound<FrameServer.Peer>>()
        let pings = Log<Void>()
        try await FrameServer.run { frame, peer in
            if frame.path != nil { waiting.add(peer.bound) }
            if case .ping(_, ack: false) = frame.payload { pings.add(()) }
        } perform: { server in
            // The next PING is due after the answer to the last one. The timeout for the answer is longer than the test
            // may take.
            let configure = { (configuration: inout TransportConfiguration) in
                configuration.http2.keepAlivePing = .milliseconds(5)
                configuration.http2.pingTimeout = .seconds(600)
            }
            try await FrameClient.run(server, configure: configure) { client in
                async let response = client.send(.http2())
                let peer = try #require(await waiting.first())
                for _ in 0..<3 { _ = await pings.first() }
                peer.execute { $0.respond(1, "patience") }
                let text = try await response.text
                #expect(text == "patience")
            }
        }
    }
}

/// RFC 9113, 10.5: frames that cost the client more than the server end the connection.
@Suite("HTTP/2 floods", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2FloodTests {
    enum Flood: CaseIterable {
        case pings, settings, resets, continuations, emptyData, paddingAlone, priorities, unknownFrames

        func pour(_ peer: FrameServer.Peer) {
            switch self {
            case .pings: peer.raw(Array(repeating: rawFrame(type: 6, [0, 0, 0, 0, 0, 0, 0, 0]), count: 60))
            case .settings: peer.raw(Array(repeating: rawFrame(type: 4), count: 60))
            case .resets:
                peer.raw(Array(repeating: rawFrame(type: 3, stream: 1, [0, 0, 0, 8]), count: 60))
            case .continuations:
                // A head without END_HEADERS.
                peer.raw(
                    [rawFrame(type: 1, stream: 1, [0x88])]
                        + Array(repeating: rawFrame(type: 9, stream: 1, [0x0F, 0x0D, 0x01, 0x30]), count: 6_000))
            case .emptyData:
                peer.head(1)
                peer.raw(Array(repeating: rawFrame(type: 0, stream: 1), count: 60))
            case .paddingAlone:
                peer.head(1)
                peer.raw(Array(repeating: rawFrame(type: 0, flags: 8, stream: 1, [2, 0, 0]), count: 60))
            case .priorities:
                peer.raw(Array(repeating: rawFrame(type: 2, stream: 1, [0, 0, 0, 0, 1]), count: 60))
            case .unknownFrames:
                peer.raw(Array(repeating: rawFrame(type: 0xFA, stream: 1), count: 60))
            }
        }

        /// The request of that stream may fail first.
        var codes: [TransportError.Code] {
            switch self {
            case .resets: [.streamReset]
            case .continuations: [.headTooLarge]
            default: [.invalidResponse]
            }
        }
    }

    @Test(arguments: Flood.allCases)
    func aFloodEndsTheConnection(flood: Flood) async throws {
        try await FrameServer.run { frame, peer in
            if frame.path == "/flood" { flood.pour(peer) }
        } perform: { server in
            let limits: (inout TransportConfiguration) -> Void = {
                $0.http2.limits.controlFrames = 30
                $0.http2.limits.streamErrors = 30
            }
            try await FrameClient.run(server, configure: limits) { client in
                let outcome = await client.outcome(.http2("/flood"))
                #expect(flood.codes.contains(try #require(outcome.error?.code)))
                _ = try await client.told { $0.isClosed }
            }
        }
    }

    /// A frame that violates the protocol fails all requests on the connection.
    @Test(arguments: [
        rawFrame(type: 8, [0x7F, 0xFF, 0xFF, 0xFF]), rawFrame(type: 5, flags: 4, stream: 1, [0, 0, 0, 2, 0x82]),
        rawFrame(type: 1, flags: 4, stream: 1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]),
        rawFrame(type: 0, stream: 99, [1]),
        [0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1], rawFrame(type: 4, [0, 4, 0xFF, 0xFF, 0xFF, 0xFF]),
    ])
    func aProtocolErrorEndsTheConnection(frame: [UInt8]) async throws {
        let (heads, farewells) = (Log<NIOLoopBound<FrameServer.Peer>>(), Log<HTTP2ErrorCode>())
        try await FrameServer.run { frame, peer in
            if frame.path != nil { heads.add(peer.bound) }
            if case .goAway(_, let code, _) = frame.payload { farewells.add(code) }
        } perform: { server in
            try await FrameClient.run(server) { client in
                async let first = client.outcome(.http2("/1"))
                let peer = try #require(await heads.first())
                async let second = client.outcome(.http2("/2"))
                _ = await heads.first()
                peer.execute { $0.raw([frame]) }
                let outcomes = await [first, second]
                #expect(outcomes.allSatisfy { $0.error?.code == .invalidResponse && !$0.canRepeat })
                #expect(await farewells.first() != .noError)
                _ = try await client.told { $0.isClosed }
            }
        }
    }

    @Test func manyStreamErrorsEndTheConnection() async throws {
        try await FrameServer.run { frame, peer in
            if frame.path != nil { peer.head(frame.streamID, ["server": "no status"], isEnd: true) }
        } perform: { server in
            try await FrameClient.run(server, configure: { $0.http2.limits.streamErrors = 5 }) { client in
                var codes: [TransportError.Code?] = []
                for _ in 0..<10 { codes.append(await client.outcome(.http2()).error?.code) }
                #expect(codes.prefix(5).allSatisfy { $0 == .invalidResponse })
                #expect(codes.last == .connectionClosed)
                _ = try await client.told { $0.isClosed }
            }
        }
    }
}
