import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP2
import Testing

@testable import LinnetTransport

/// Connections that are older than the configuration allows.
@Suite("Maximum age of connections", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct MaximumAgeTests {
    /// The origin may open another connection as soon as the old one takes no more exchanges.
    @Test func anOldConnectionInUseIsReplaced() throws {
        let bench = PoolBench { $0.pool.maximumAge = .seconds(60) }
        let origin = try PoolBench.origin("m")
        let requests = [bench.request(origin), bench.request(origin)]
        let old = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        for request in requests { #expect(try bench.outcome(request)?.get() === old.connection) }
        let ended = bench.start(.http2(), on: old.connection)
        let running = bench.start(.http2(), on: old.connection)
        bench.advance(by: .seconds(60))
        let response = rawFrame(type: 4) + rawFrame(type: 1, flags: 5, stream: 1, [0x88])
        try old.channel.writeInbound(ByteBuffer(bytes: response))
        bench.settle()
        #expect(ended.outcome?.response?.head.status == .ok)
        #expect(running.outcome == nil && old.connection.isOpen)
        let next = bench.request(origin)
        let new = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(try bench.outcome(next)?.get() === new.connection)
        expectEqual(try bench.shutDown(), true)
        #expect(running.outcome?.error?.code == .shutDown)
    }

    /// A connection that became too old while it was idle serves no further request.
    @Test(arguments: ["a", "m"])
    func anIdleConnectionThatBecameTooOldIsNotUsed(name: String) throws {
        let bench = PoolBench {
            $0.pool.maximumAge = .seconds(60)
            $0.pool.idleTimeout = .seconds(600)
        }
        let origin = try PoolBench.origin(name)
        _ = bench.request(origin)
        let old = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        if name == "m" { try old.channel.writeInbound(ByteBuffer(bytes: rawFrame(type: 4))) }
        // The first one has its place already.
        for (number, wait) in [0, 55].enumerated() {
            bench.advance(by: .seconds(Int64(wait)))
            if number > 0 {
                let request = bench.request(origin)
                #expect(try bench.outcome(request)?.get() === old.connection)
            }
            let exchange = bench.start(.http2(), on: old.connection)
            let response =
                name == "m"
                ? rawFrame(type: 1, flags: 5, stream: UInt32(2 * number + 1), [0x88])
                : Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
            try old.channel.writeInbound(ByteBuffer(bytes: response))
            bench.settle()
            #expect(exchange.outcome?.response?.head.status == .ok)
        }
        bench.advance(by: .seconds(55))
        #expect(old.connection.isOpen)
        let late = bench.request(origin)
        #expect(try bench.outcome(late)?.get() === old.connection)
        let withdrawn = bench.start(.http2(), on: old.connection)
        guard case .withdrawn? = withdrawn.outcome else {
            Issue.record("The request was sent on the old connection.")
            return
        }
        #expect(!old.connection.isOpen)
        let next = bench.request(origin)
        let new = try bench.opener.succeed(try #require(bench.opener.attempts.first))
        bench.settle()
        #expect(try bench.outcome(next)?.get() === new.connection)
        expectEqual(try bench.shutDown(), true)
    }

    @Test func aStreamOnAnOldConnectionKeepsNoRequestWaiting() async throws {
        try await FrameServer.run { frame, peer in
            guard let path = frame.path else { return }
            if path == "/slow" { peer.head(frame.streamID) } else { peer.respond(frame.streamID, path) }
        } perform: { server in
            try await withTransport({
                $0.httpVersions = .http2
                $0.pool.maximumAge = .zero
                $0.timeouts.poolWait = .seconds(20)
            }) { transport in
                func request(_ path: String, delivery: ResponseDelivery) -> TransportRequest {
                    var request = TransportRequest.http2(path, delivery: delivery)
                    request.head.authority = "127.0.0.1:\(server.address.port ?? 0)"
                    return request
                }
                let slow = try await transport.send(request("/slow", delivery: .streamed))
                let first = try await transport.send(request("/a", delivery: .whole(upTo: 100)))
                let second = try await transport.send(request("/b", delivery: .whole(upTo: 100)))
                #expect(first.text == "/a" && second.text == "/b")
                #expect(second.metrics.connectionID != slow.metrics.connectionID)
                // A released body would end the stream.
                withExtendedLifetime(slow) {}
            }
        }
    }
}
