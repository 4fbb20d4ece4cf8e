import HTTPTypes
import LinnetMessages
import LinnetSecurity
import LinnetTesting
import NIOCore
import NIOHTTP2
import NIOPosix
import Synchronization
import Testing

@testable import LinnetTransport

/// Servers that make a client wait or use another protocol.
@Suite("HTTP/2 servers that limit requests", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct HTTP2WaitingTests {
    typealias Peer = NIOLoopBound<FrameServer.Peer>

    private static let noStreams = [HTTP2Setting(parameter: .maxConcurrentStreams, value: 0)]

    private static func allow(_ count: Int, _ peer: FrameServer.Peer) {
        peer.send(.rootStream, .settings(.settings([HTTP2Setting(parameter: .maxConcurrentStreams, value: count)])))
    }

    /// RFC 9113, 5.1.2: a limit of zero may be temporary. That time is not idle time.
    @Test func aRequestWaitsForAStream() async throws {
        let peers = Log<Peer>()
        try await FrameServer.run(settings: Self.noStreams) { frame, peer in
            if case .settings(.settings) = frame.payload { peers.add(peer.bound) }
            if frame.path != nil { peer.respond(frame.streamID, "waited") }
        } perform: { server in
            try await FrameClient.run(server) { client in
                let told = try await client.told { $0.capacities == [0] }
                #expect(!told.isRetiring && !told.isClosed)
                async let response = client.send(
                    .http2(timeouts: TransportTimeouts(idleRead: .seconds(60), idleWrite: .seconds(60))))
                while await client.deadlines(ofStream: 1) == nil, !Task.isCancelled { await Task.yield() }
                let waiting = await client.deadlines(ofStream: 1)
                #expect(waiting?.read == nil && waiting?.write == nil)
                let peer = try #require(await peers.first())
                peer.execute { Self.allow(1, $0) }
                let text = try await response.text
                #expect(text == "waited")
                let later = try await client.told { $0.capacities == [0, 1] }
                #expect(!later.isClosed)
            }
        }
    }

    @Test func theWaitForAStreamTimesOut() async throws {
        try await FrameServer.run(settings: Self.noStreams) { _, _ in
        } perform: { server in
            try await FrameClient.run(server) { client in
                _ = try await client.told { $0.capacities == [0] }
                let outcome = await client.outcome(.http2(timeouts: TransportTimeouts(poolWait: .milliseconds(20))))
                #expect(outcome.error?.code == .poolTimeout)
                let told = try await client.told()
                #expect(!told.isClosed && told.ended == 1)
            }
        }
    }

    /// In the pool, requests wait for the connection, which is neither closed nor joined by a second one.
    @Test func thePoolWaitsForAServerThatAllowsNoStreams() async throws {
        let (peers, acknowledged) = (Log<Peer>(), Log<Void>())
        try await FrameServer.run { frame, peer in
            switch frame.payload {
            case .settings(.settings): peers.add(peer.bound)
            case .settings(.ack): acknowledged.add(())
            default: break
            }
            if let path = frame.path { peer.respond(frame.streamID, path) }
        } perform: { server in
            try await withTransport({ $0.httpVersions = .http2 }) { transport in
                @Sendable func request(_ path: String, _ poolWait: Duration = .seconds(60)) -> TransportRequest {
                    var request = TransportRequest.http2(path, timeouts: TransportTimeouts(poolWait: poolWait))
                    request.head.authority = "127.0.0.1:\(server.address.port ?? 0)"
                    return request
                }
                try await expectText("/first", transport, request("/first"))
                let peer = try #require(await peers.first())
                _ = await acknowledged.first()
                peer.execute { Self.allow(0, $0) }
                _ = await acknowledged.first()
                let error = await failure { () async throws(TransportError) in
                    try await transport.send(request("/late", .milliseconds(20)))
                }
                #expect(error?.code == .poolTimeout)
                try await withThrowingTaskGroup(of: String?.self) { group in
                    for number in 0..<5 { group.addTask { try await transport.send(request("/\(number)")).text } }
                    peer.execute { Self.allow(2, $0) }
                    let texts = try await group.reduce(into: Set<String?>()) { $0.insert($1) }
                    #expect(texts == Set((0..<5).map { "/\($0)" }))
                }
                #expect(transport.openConnections == 1 && peers.elements.count == 1)
            }
        }
    }

    /// An unused connection to a server that allows no streams has no room and no exchanges; it is closed with the
    /// others.
    @Test(arguments: [ShutdownMode.graceful, .immediate])
    func aShutdownClosesAConnectionWithoutStreams(mode: ShutdownMode) async throws {
        let (peers, acknowledged) = (Log<Peer>(), Log<Void>())
        try await FrameServer.run { frame, peer in
            switch frame.payload {
            case .settings(.settings): peers.add(peer.bound)
            case .settings(.ack): acknowledged.add(())
            default: break
            }
            if let path = frame.path { peer.respond(frame.streamID, path) }
        } perform: { server in
            try await withTransport({ $0.httpVersions = .http2 }) { transport in
                var request = TransportRequest.http2("/")
                request.head.authority = "127.0.0.1:\(server.address.port ?? 0)"
                try await expectText("/", transport, request)
                let peer = try #require(await peers.first())
                _ = await acknowledged.first()
                peer.execute { Self.allow(0, $0) }
                _ = await acknowledged.first()
                await transport.shutdown(mode)
                #expect(transport.openConnections == 0)
            }
        }
    }

    // MARK: HTTP/1.1

    /// RFC 9113, 7: the request is repeated over HTTP/1.1, whatever its method, and later requests use it.
    @Test func aServerThatRequiresHTTP1ReceivesHTTP1() async throws {
        try await withServerOfHTTP1(.resetStream(.http11Required)) { server, transport in
            let first = try await transport.send(server.request(.post, body: .text("body")))
            #expect(first.text == "answer" && first.metrics.httpVersion == "http/1.1")
            let second = try await transport.send(server.request())
            #expect(second.metrics.httpVersion == "http/1.1" && second.metrics.isReusedConnection)
            // The server records a request after resetting its stream, when another may have arrived.
            #expect(server.recordedRequests.count { $0.httpVersion == "HTTP/1.1" } == 2)
        }
    }

    /// A GOAWAY lets the streams below its last end (RFC 9113, 6.8); later requests use HTTP/1.1.
    @Test func aGoAwayThatRequiresHTTP1AppliesToTheNextRequest() async throws {
        try await withServerOfHTTP1(.goAway(.http11Required)) { server, transport in
            let first = try await transport.send(server.request(.post, body: .text("body")))
            #expect(first.text == "answer" && first.metrics.httpVersion == "h2")
            let second = try await transport.send(server.request())
            #expect(second.text == "answer" && second.metrics.httpVersion == "http/1.1")
            #expect(server.recordedRequests.map(\.httpVersion) == ["HTTP/2", "HTTP/1.1"])
        }
    }

    /// A server of both versions that fails each request over HTTP/2.
    private func withServerOfHTTP1(
        _ effect: MockServer.Fault.Effect, _ body: (MockServer, HTTPTransport) async throws -> Void
    ) async throws {
        let pki = try TestPKI()
        let policy = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
        let configuration = MockServer.Configuration {
            $0.httpVersions = .both
            $0.faults = MockServer.FaultPlan { occasion in
                occasion.request?.httpVersion == "HTTP/2" ? [MockServer.Fault(effect, at: .requestHead)] : []
            }
        }
        try await withMockServer(tls: pki.identity(), configuration: configuration) { _ in
            .text("answer")
        } perform: { server in
            try await withTransport({ $0.securityPolicy = policy }) { transport in
                try await body(server, transport)
            }
        }
    }

    @Test func aRequirementOfHTTP1IsAnErrorIfOnlyHTTP2IsConfigured() async throws {
        try await FrameServer.run { frame, peer in
            if frame.path != nil { peer.send(frame.streamID, .rstStream(.http11Required)) }
        } perform: { server in
            try await withTransport({ $0.httpVersions = .http2 }) { transport in
                var request = TransportRequest.http2()
                request.head.authority = "127.0.0.1:\(server.address.port ?? 0)"
                let fixed = request
                let error = await failure { () async throws(TransportError) in try await transport.send(fixed) }
                #expect(error?.code == .streamReset && error?.message.contains("HTTP_1_1_REQUIRED") == true)
            }
        }
    }

    /// The first requests of a connection are sent before the server's limit arrives.
    @Test func aConnectionAssumesTheStreamLimitThatItsOriginSetLast() async throws {
        let settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: 2)]
        try await FrameServer.run(settings: settings) { frame, peer in
            guard let path = frame.path else { return }
            if path == "/first" {
                peer.goAway(frame.streamID)
                return peer.respond(frame.streamID, path)
            }
            let (bound, id) = (peer.bound, frame.streamID)
            peer.eventLoop.scheduleTask(in: .milliseconds(20)) { bound.value.respond(id, path) }
        } perform: { server in
            try await withTransport({ $0.httpVersions = .http2 }) { transport in
                try await send(8, transport, server)
            }
        }
    }

    /// The places of a retiring connection are dropped as its streams end: waiting requests get one on the next
    /// connection.
    @Test func aPlaceOnARetiringConnectionIsNotReused() async throws {
        let settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: 4)]
        let heads = Mutex<[Int: [HTTP2StreamID]]>([:])
        try await FrameServer.run(settings: settings) { frame, peer in
            guard let path = frame.path else { return }
            if path == "/first" {
                peer.goAway(frame.streamID)
                return peer.respond(frame.streamID, path)
            }
            let streams = heads.withLock { heads in
                heads[peer.connectionID, default: []].append(frame.streamID)
                return heads[peer.connectionID] ?? []
            }
            guard streams.count == 4 else { return }
            peer.goAway(frame.streamID)
            for id in streams { peer.respond(id, "ok") }
        } perform: { server in
            try await withTransport({ $0.httpVersions = .http2 }) { transport in
                try await send(16, transport, server)
            }
        }
        #expect(heads.withLock { $0.values.map(\.count) } == [4, 4, 4, 4])
    }

    /// Sends a request, then this many concurrently, none of which needs a second attempt.
    private func send(_ count: Int, _ transport: HTTPTransport, _ server: FrameServer) async throws {
        let authority = "127.0.0.1:\(server.address.port ?? 0)"
        @Sendable func send(_ path: String) async throws -> TransportResponse {
            let head = HTTPRequest(method: .get, scheme: "http", authority: authority, path: path)
            return try await transport.send(TransportRequest(head: head))
        }
        #expect(try await send("/first").text == "/first")
        try await withThrowingTaskGroup(of: TransportResponse.self) { group in
            for number in 0..<count { group.addTask { try await send("/\(number)") } }
            for try await response in group { #expect(response.attempts.dropLast().isEmpty) }
        }
    }

    @Test func originsAreRememberedForAnHour() throws {
        let (origins, start) = (OriginMemory<Int>(), NIODeadline.uptimeNanoseconds(1))
        func origin(_ number: Int) throws -> Origin {
            try Origin(HTTPRequest(method: .get, scheme: "https", authority: "h\(number).example", path: "/"))
        }
        for number in 0..<1_001 { origins.remember(number, for: try origin(number), start + .seconds(Int64(number))) }
        let remembered = try (0..<1_001).compactMap { origins.value(for: try origin($0), start + .minutes(59)) }
        #expect(remembered == Array(1..<1_001))
        // An origin that is known already takes no other's place.
        origins.remember(1_000, for: try origin(1_000), start + .seconds(1_000))
        #expect(origins.value(for: try origin(1), start + .minutes(59)) == 1)
        #expect(origins.value(for: try origin(1), start + .minutes(61)) == nil)
        #expect(origins.value(for: try origin(1_000), start + .minutes(61)) == 1_000)
    }

    // MARK: Settings

    /// RFC 9113, 6.5.3: a server that does not acknowledge SETTINGS receives an error, and the connection closes.
    @Test func unacknowledgedSettingsTimeOut() async throws {
        final class Silent: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            let heard: Log<[UInt8]>

            init(_ heard: Log<[UInt8]>) { self.heard = heard }

            func channelActive(context: ChannelHandlerContext) {
                context.writeAndFlush(NIOAny(ByteBuffer(bytes: rawFrame(type: 4))), promise: nil)
            }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                heard.add(Array(unwrapInboundIn(data).readableBytesView))
            }
        }
        let heard = Log<[UInt8]>()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Silent(heard)) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = FrameServer(address: try #require(listener.localAddress))
        try await FrameClient.run(server, configure: { $0.http2.pingTimeout = .milliseconds(50) }) { client in
            let outcome = await client.outcome(.http2())
            #expect(outcome.error?.code == .pingTimeout && outcome.error?.message.contains("SETTINGS") == true)
            _ = try await client.told { $0.isClosed }
        }
        // A GOAWAY frame with SETTINGS_TIMEOUT.
        let goAway = rawFrame(type: 7, .word(0) + .word(4))
        while !heard.elements.joined().suffix(goAway.count).elementsEqual(goAway) { _ = await heard.first() }
        try await listener.close()
    }
}
