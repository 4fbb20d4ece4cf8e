import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2
import Synchronization
import Testing

@testable import LinnetTransport

/// The amount of unread body data that a connection holds.
@Suite("HTTP/2 windows", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2WindowTests {
    // MARK: Shares

    @Test func aShareIsHalfOfTheRest() {
        let budget = HTTP2WindowBudget(limit: 1_000)
        var shares = (0..<3).map { _ in HTTP2WindowShare(of: budget) }
        #expect(shares.map { $0.resize(upTo: 400) } == [400, 300, 150])
        #expect(budget.free == 150)
        // The shares become equal as they grow again: a quarter each, and one is free.
        for _ in 0..<40 { for share in shares { _ = share.resize(upTo: 400) } }
        let equal = shares.map { $0.resize(upTo: 400) }
        #expect(equal.allSatisfy { abs($0 - 250) <= 3 })
        shares = []
        #expect(budget.free == 1_000)
    }

    @Test func connectionsShareTheBudgetOfTheTransport() {
        let transport = HTTP2WindowBudget(limit: 1_000)
        let connections = (0..<3).map { _ in HTTP2WindowBudget(limit: 800, parent: transport) }
        var shares = connections.map { HTTP2WindowShare(of: $0) }
        #expect(shares.map { $0.resize(upTo: 10_000) } == [400, 300, 150])
        #expect(transport.free == 150 && connections.map(\.free) == [150, 150, 150])
        shares = []
        #expect(transport.free == 1_000 && connections.map(\.free) == [800, 800, 800])
    }

    // MARK: Slow readers

    /// Readers that do not read hold at most their first windows and the connection's budget. The others
    /// are served meanwhile, and in the end all bodies are complete.
    @Test func slowReadersHoldNoMoreThanTheBudget() async throws {
        let (piece, pieces, readers) = (ByteBuffer(repeating: 7, count: 16_384), 128, 32)
        let sent = Mutex(0)
        try await FrameServer.run { frame, peer in
            guard let path = frame.path else { return }
            guard path == "/large" else { return peer.respond(frame.streamID, "small") }
            peer.head(frame.streamID)
            for number in 1...pieces {
                let promise = peer.eventLoop.makePromise(of: Void.self)
                promise.futureResult.whenSuccess { sent.withLock { $0 += piece.readableBytes } }
                peer.send(
                    frame.streamID, .data(.init(data: .byteBuffer(piece), endStream: number == pieces)), promise)
            }
        } perform: { server in
            let small: (inout TransportConfiguration) -> Void = { $0.http2.connectionWindowSize = 1_048_576 }
            try await FrameClient.run(server, configure: small) { client in
                var slow: [TransportResponse] = []
                for _ in 0..<readers { slow.append(try await client.send(.http2("/large", delivery: .streamed))) }
                // Waits until nothing more arrives.
                var before = -1
                while before != sent.withLock({ $0 }) {
                    before = sent.withLock { $0 }
                    for _ in 0..<20 {
                        let response = try await client.send(.http2("/small"))
                        #expect(response.text == "small")
                    }
                }
                // Parts of 64 MiB: for each reader, the mark at which it counts as slow, and a window.
                let bound = readers * 2 * 262_144 + 1_048_576 + readers * piece.readableBytes
                #expect(before <= bound)
                for response in slow.reversed() {
                    let body = try await response.body.collect(upTo: .max)
                    #expect(body.readableBytes == pieces * piece.readableBytes)
                }
                #expect(await client.freeWindows == 1_048_576)
            }
        }
    }

    /// A complete response keeps its share until its last bytes are read or dropped.
    @Test(arguments: [true, false])
    func unreadBytesKeepTheirShare(areRead: Bool) async throws {
        let budget = HTTP2WindowBudget(limit: 1_000)
        var share: HTTP2WindowShare? = HTTP2WindowShare(of: budget)
        _ = share?.resize(upTo: 100)
        var channel: ResponseBodyChannel? = ResponseBodyChannel(resumeReading: {}, abandonExchange: { _ in })
        _ = channel?.push(ByteBuffer(string: "bytes"))
        channel?.keep(share)
        share = nil
        channel?.finish(.success(TransportResponseBody.Completion(trailers: nil, metrics: TransportMetrics())))
        #expect(budget.free == 900)
        if areRead { _ = try await channel?.nextBatch() } else { channel = nil }
        #expect(budget.free == 1_000)
        // A body that was read completely needs no share.
        share = HTTP2WindowShare(of: budget)
        _ = share?.resize(upTo: 100)
        channel?.keep(share)
        share = nil
        #expect(budget.free == 1_000)
    }

    /// Few bytes of one response that were read together with many of another do not retain the whole buffer.
    @Test func aSmallPieceDoesNotRetainTheBytesReadWithIt() async throws {
        let heads = Log<NIOLoopBound<FrameServer.Peer>>()
        try await FrameServer.run { frame, peer in
            guard frame.path != nil else { return }
            peer.head(frame.streamID)
            heads.add(peer.bound)
        } perform: { server in
            try await FrameClient.run(server) { client in
                let responses = [
                    try await client.send(.http2("/1", delivery: .streamed)),
                    try await client.send(.http2("/2", delivery: .streamed)),
                ]
                _ = await heads.first()
                let peer = try #require(await heads.first())
                let large = ByteBuffer(repeating: 7, count: 16_384)
                peer.execute { peer in
                    for _ in 0..<8 {
                        peer.send(3, .data(.init(data: .byteBuffer(large))))
                        peer.data(1, "few")
                    }
                    peer.data(1, "", isEnd: true)
                    peer.data(3, "", isEnd: true)
                }
                var (text, kept) = ("", 0)
                for try await bytes in responses[0].body {
                    text += String(buffer: bytes)
                    kept += bytes.storageCapacity
                }
                #expect(text == String(repeating: "few", count: 8))
                #expect(kept <= 8 * 64)
                let other = try await responses[1].body.collect(upTo: .max)
                #expect(other.readableBytes == 8 * 16_384)
            }
        }
    }
}
