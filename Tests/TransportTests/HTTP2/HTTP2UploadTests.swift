import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2
import Synchronization
import Testing

@testable import LinnetTransport

/// Events during the upload of a request body.
@Suite("HTTP/2 uploads", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct HTTP2UploadTests {
    /// A megabyte, in memory or streamed.
    private static func body(isStreamed: Bool) -> TransportRequestBody {
        let megabyte = ByteBuffer(repeating: 1, count: 1_000_000)
        guard isStreamed else { return .bytes(megabyte) }
        return .stream(length: 1_000_000, isReplayable: true) { SliceReader(bytes: megabyte) }
    }

    private struct SliceReader: TransportBodyReader {
        var bytes: ByteBuffer

        mutating func next() async throws -> ByteBuffer? {
            bytes.readableBytes > 0 ? bytes.readSlice(length: min(50_000, bytes.readableBytes)) : nil
        }
    }

    /// Opens the windows by the received bytes.
    private static func widen(_ frame: HTTP2Frame, _ peer: FrameServer.Peer) {
        guard case .data(let data) = frame.payload, data.data.readableBytes > 0 else { return }
        peer.send(.rootStream, .windowUpdate(windowSizeIncrement: data.data.readableBytes))
        if !data.endStream { peer.send(frame.streamID, .windowUpdate(windowSizeIncrement: data.data.readableBytes)) }
    }

    // MARK: Early answers

    /// RFC 9113, 8.1: a server may answer before it has read the request, and asks the client to stop by RST_STREAM
    /// alone.
    @Test(arguments: [true, false])
    func aCompleteSuccessDoesNotStopTheUpload(isStreamed: Bool) async throws {
        let received = Mutex(0)
        try await FrameServer.run { frame, peer in
            if frame.path != nil { peer.respond(frame.streamID, "early") }
            if case .data(let data) = frame.payload { received.withLock { $0 += data.data.readableBytes } }
            Self.widen(frame, peer)
        } perform: { server in
            try await FrameClient.run(server) { client in
                let response = try await client.send(.http2(method: .post, body: Self.body(isStreamed: isStreamed)))
                #expect(response.text == "early")
                #expect(response.metrics.requestBodyBytes == 1_000_000)
                #expect(response.metrics.requestEnd != nil && !response.metrics.isRequestBodyCutShort)
                let next = try await client.send(.http2("/next"))
                #expect(next.text == "early")
            }
        }
        #expect(received.withLock { $0 } == 1_000_000)
    }

    enum End: CaseIterable {
        case noError, internalError, goAway, close

        func happen(_ peer: FrameServer.Peer) {
            switch self {
            case .noError: peer.send(1, .rstStream(.noError))
            case .internalError: peer.send(1, .rstStream(.internalError))
            case .goAway: peer.goAway(0)
            case .close: peer.close()
            }
        }
    }

    /// An end of the upload after a complete response does not fail the response, and the metrics report it.
    @Test(arguments: End.allCases)
    func anEndAfterACompleteResponseCutsTheUploadShort(end: End) async throws {
        let waiting = Log<NIOLoopBound<FrameServer.Peer>>()
        try await FrameServer.run { frame, peer in
            guard frame.path != nil else { return }
            peer.respond(frame.streamID, "early")
            waiting.add(peer.bound)
        } perform: { server in
            try await FrameClient.run(server) { client in
                let response = try await client.send(
                    .http2(method: .post, body: Self.body(isStreamed: true), delivery: .streamed))
                var body = response.body.makeAsyncIterator()
                let first = try await body.next()
                #expect(first.map { String(buffer: $0) } == "early")
                let peer = try #require(await waiting.first())
                peer.execute { end.happen($0) }
                #expect(try await body.next() == nil)
                let metrics = try #require(response.body.completion?.metrics)
                #expect(metrics.isRequestBodyCutShort && metrics.requestBodyBytes < 1_000_000)
            }
        }
    }

    @Test func aStreamedResponseEndsWithItsRequest() async throws {
        let waiting = Log<NIOLoopBound<FrameServer.Peer>>()
        try await FrameServer.run { frame, peer in
            guard frame.path != nil else { return }
            peer.respond(frame.streamID, "early")
            waiting.add(peer.bound)
        } perform: { server in
            try await FrameClient.run(server) { client in
                let response = try await client.send(
                    .http2(method: .post, body: Self.body(isStreamed: false), delivery: .streamed))
                var body = response.body.makeAsyncIterator()
                let first = try await body.next()
                #expect(first.map { String(buffer: $0) } == "early")
                #expect(response.body.completion == nil)
                let peer = try #require(await waiting.first())
                peer.execute {
                    $0.send(1, .windowUpdate(windowSizeIncrement: 1_000_000))
                    $0.send(.rootStream, .windowUpdate(windowSizeIncrement: 1_000_000))
                }
                #expect(try await body.next() == nil)
                #expect(response.body.completion?.metrics.requestBodyBytes == 1_000_000)
            }
        }
    }

    /// A body that ends when the test says so, without a byte.
    private struct WaitingReader: TransportBodyReader {
        let end: Signal

        mutating func next() async throws -> ByteBuffer? {
            await end.wait()
            return nil
        }
    }

    /// The end of a request after its response makes room for the next stream, and that stream's body follows at once.
    @Test func theEndOfAnUploadBeginsAWaitingOne() async throws {
        let end = Signal()
        try await FrameServer.run(settings: [HTTP2Setting(parameter: .maxConcurrentStreams, value: 1)]) { frame, peer in
            if frame.path == "/early" { peer.respond(frame.streamID, "early") }
            if case .data(let data) = frame.payload, frame.streamID == 3, data.endStream {
                peer.respond(3, "\(data.data.readableBytes)")
            }
        } perform: { server in
            try await FrameClient.run(server) { client in
                _ = try await client.told { $0.capacities == [1] }
                let body = TransportRequestBody.stream(length: nil, isReplayable: true) { WaitingReader(end: end) }
                let early = try await client.send(.http2("/early", method: .post, body: body, delivery: .streamed))
                var chunks = early.body.makeAsyncIterator()
                let chunk = try await chunks.next()
                #expect(chunk.map { String(buffer: $0) } == "early")
                async let response = client.send(
                    .http2(
                        "/waiting", method: .post, body: .text("0123456789"),
                        timeouts: TransportTimeouts(request: .seconds(20))))
                while await client.deadlines(ofStream: 3) == nil, !Task.isCancelled { await Task.yield() }
                end.send()
                let text = try await response.text
                #expect(text == "10")
                let rest = try await chunks.next()
                #expect(rest == nil)
            }
        }
    }

    // MARK: Time

    /// 16 MB at 2 MB a second, for all streams together: each of them waits for longer than its time to send while the
    /// others are served, and the connection makes progress.
    @Test func uploadsThatShareASlowConnectionAllArrive() async throws {
        let counts = Mutex<[Int: Int]>([:])
        let settings = [HTTP2Setting(parameter: .initialWindowSize, value: 4_000_000)]
        try await FrameServer.run(settings: settings) { frame, peer in
            let id = Int(frame.streamID)
            if case .data(let data) = frame.payload {
                let count = data.data.readableBytes
                counts.withLock { $0[id, default: 0] += count }
                let peer = peer.bound
                if count > 0 {
                    // The bytes that fit into the window are sent at once; then this many each time.
                    peer.eventLoop.scheduleTask(in: .milliseconds(32)) {
                        peer.value.send(.rootStream, .windowUpdate(windowSizeIncrement: count))
                    }
                }
            }
            if frame.isEnd { peer.respond(frame.streamID, "\(counts.withLock { $0[id] ?? 0 })") }
        } perform: { server in
            try await FrameClient.run(server) { client in
                let texts = try await withThrowingTaskGroup(of: String?.self) { group in
                    for _ in 0..<16 {
                        group.addTask {
                            try await client.send(
                                .http2(
                                    method: .post, body: Self.body(isStreamed: false),
                                    timeouts: TransportTimeouts(idleRead: .seconds(2), idleWrite: .seconds(2)))
                            ).text
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(texts == Array(repeating: "1000000", count: 16))
            }
        }
    }

    /// Only its own window lets a waiting stream make progress.
    @Test func anUploadWithoutWindowFailsBesideOthersWithOne() async throws {
        let (stuck, other) = (Signal(), Signal())
        try await FrameServer.run { frame, peer in
            if frame.path == "/stuck" { return stuck.send() }
            if case .data = frame.payload, frame.streamID == 1 {
                // The connection's window is large enough.
                peer.send(.rootStream, .windowUpdate(windowSizeIncrement: 65_535))
            } else {
                Self.widen(frame, peer)
            }
            if frame.isEnd, frame.streamID != 1 {
                peer.respond(frame.streamID, "all")
                other.send()
            }
        } perform: { server in
            try await FrameClient.run(server) { client in
                async let outcome = client.outcome(
                    .http2(
                        "/stuck", method: .post, body: Self.body(isStreamed: false),
                        timeouts: TransportTimeouts(idleWrite: .milliseconds(200))))
                await stuck.wait()
                var texts: Set<String?> = []
                for _ in 0..<3 {
                    texts.insert(try await client.send(.http2(method: .post, body: Self.body(isStreamed: true))).text)
                    await other.wait()
                }
                #expect(texts == ["all"])
                #expect(await outcome.error?.code == .writeTimeout)
            }
        }
    }

    /// The read timeout does not run while the request is sent, even if the response has started.
    @Test func theReadTimeoutDoesNotRunWhileTheRequestIsSent() async throws {
        let heads = Log<NIOLoopBound<FrameServer.Peer>>()
        try await FrameServer.run { frame, peer in
            guard frame.path != nil else { return }
            peer.head(frame.streamID)
            heads.add(peer.bound)
        } perform: { server in
            try await FrameClient.run(server) { client in
                let response = try await client.send(
                    .http2(
                        method: .post, body: Self.body(isStreamed: false), delivery: .streamed,
                        timeouts: TransportTimeouts(idleRead: .seconds(60), idleWrite: .seconds(60))))
                let before = await client.deadlines(ofStream: 1)
                #expect(before?.read == nil && before?.write != nil)
                let peer = try #require(await heads.first())
                peer.execute {
                    $0.send(.rootStream, .windowUpdate(windowSizeIncrement: 1_000_000))
                    $0.send(1, .windowUpdate(windowSizeIncrement: 1_000_000))
                    $0.data(1, "x")
                }
                var body = response.body.makeAsyncIterator()
                #expect(try await body.next() != nil)
                while await client.deadlines(ofStream: 1)?.write != nil, !Task.isCancelled { await Task.yield() }
                let after = await client.deadlines(ofStream: 1)
                #expect(after?.read != nil)
            }
        }
    }

    /// Each part that the socket accepts is progress.
    @Test func theWriteTimeoutRestartsWithEachAcceptedPart() async throws {
        let (heads, totals) = (Log<NIOLoopBound<FrameServer.Peer>>(), Log<Int>())
        let received = Mutex(0)
        try await FrameServer.run { frame, peer in
            if frame.path != nil { heads.add(peer.bound) }
            guard case .data(let data) = frame.payload else { return }
            totals.add(
                received.withLock { received in
                    received += data.data.readableBytes
                    return received
                })
        } perform: { server in
            try await FrameClient.run(server) { client in
                let upload = Task {
                    await client.outcome(
                        .http2(
                            method: .post, body: Self.body(isStreamed: false),
                            timeouts: TransportTimeouts(idleWrite: .seconds(60))))
                }
                let peer = try #require(await heads.first())
                // The initial windows of a connection.
                _ = await totals.first { $0 == 65_535 }
                var due = try #require(await client.deadlines(ofStream: 1)?.write)
                for number in 1...4 {
                    peer.execute {
                        $0.send(.rootStream, .windowUpdate(windowSizeIncrement: 10_000))
                        $0.send(1, .windowUpdate(windowSizeIncrement: 10_000))
                    }
                    _ = await totals.first { $0 == 65_535 + number * 10_000 }
                    let next = try #require(await client.deadlines(ofStream: 1)?.write)
                    #expect(next > due)
                    due = next
                }
                upload.cancel()
                #expect(await upload.value.error?.code == .cancelled)
            }
        }
    }
}
