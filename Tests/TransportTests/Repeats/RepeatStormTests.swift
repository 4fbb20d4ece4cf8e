import HTTPTypes
import LinnetTransport
import NIOCore
import NIOHTTP2
import Synchronization
import Testing

/// HTTP/2 servers that accept requests and fail them, again and again. The tests count the arriving requests.
@Suite("Storms of repeats", .timeLimit(.minutes(1)))
struct RepeatStormTests {
    typealias Failure = TransportMetrics.Failure

    /// The requests that a server has seen.
    private final class Tally: Sendable {
        private let heads = Mutex<[Int: Int]>([:])
        private let order = Mutex<[Int]>([])

        var sends: Int { heads.withLock { $0.values.reduce(0, +) } }
        var connections: Int { heads.withLock { $0.count } }

        /// Counts a request; returns which one it is on its connection, and which connection that is.
        func count(_ peer: FrameServer.Peer) -> (request: Int, connection: Int) {
            let id = peer.connectionID
            let request = heads.withLock { heads in
                heads[id, default: 0] += 1
                return heads[id] ?? 0
            }
            let connection = order.withLock { order in
                if !order.contains(id) { order.append(id) }
                return order.count
            }
            return (request, connection)
        }
    }

    private func request(
        _ server: FrameServer, _ method: HTTPRequest.Method = .get, _ path: String = "/"
    ) -> TransportRequest {
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "127.0.0.1:\(server.address.port ?? 0)", path: path)
        return TransportRequest(head: head, body: method == .post ? .text("body") : nil)
    }

    /// Sends this number of requests at once; returns their errors.
    private func errors(
        _ count: Int, _ transport: HTTPTransport, _ request: TransportRequest
    ) async -> [TransportError?] {
        await withTaskGroup(of: TransportError?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    await failure { () async throws(TransportError) in try await transport.send(request) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    // MARK: Certainly not processed

    @Test func aPostThatIsNeverProcessedIsSentSixTimesWithPauses() async throws {
        let (tally, observer) = (Tally(), RecordingObserver())
        try await FrameServer.run { frame, peer in
            guard frame.path != nil else { return }
            _ = tally.count(peer)
            peer.goAway(.rootStream)
        } perform: { server in
            try await withTransport({ $0.httpVersions = .http2 }) { transport in
                let start = ContinuousClock.now
                let error = await failure { () async throws(TransportError) in
                    try await transport.send(request(server, .post), observer: observer)
                }
                #expect(start.duration(to: .now) >= .milliseconds(375))
                #expect(error?.code == .connectionClosed)
                #expect(error?.attempts.map(\.failure) == Array(repeating: .notProcessed, count: 6))
            }
        }
        #expect(tally.sends == 6 && tally.connections == 6)
        #expect(observer.record.attempts.map(\.failure) == Array(repeating: .notProcessed, count: 6))
        #expect(Set(observer.record.attempts.map(\.connectionID)).count == 6)
    }

    @Test func manyRequestsShareTheConnectionsOfAStorm() async throws {
        let tally = Tally()
        try await FrameServer.run { frame, peer in
            guard frame.path != nil else { return }
            _ = tally.count(peer)
            peer.goAway(.rootStream)
        } perform: { server in
            try await withTransport({ $0.httpVersions = .http2 }) { transport in
                let start = ContinuousClock.now
                let errors = await errors(32, transport, request(server))
                #expect(errors.count == 32 && errors.allSatisfy { $0?.code == .connectionClosed })
                #expect(errors.allSatisfy { ($0?.attempts.count).map { $0 == 6 } ?? false })
                #expect(start.duration(to: .now) >= .milliseconds(375))
            }
        }
        #expect(tally.sends <= 6 * 32)
        #expect(tally.connections <= 20, "\(tally.connections) connections, \(tally.sends) requests")
    }

    @Test func aRefusedStreamIsRepeatedAndReported() async throws {
        let tally = Tally()
        try await FrameServer.run { frame, peer in
            guard frame.isEnd else { return }
            if tally.count(peer).request < 3 {
                peer.send(frame.streamID, .rstStream(.refusedStream))
            } else {
                peer.respond(frame.streamID, "ok")
            }
        } perform: { server in
            try await withTransport({ $0.httpVersions = .http2 }) { transport in
                let response = try await transport.send(request(server, .post))
                #expect(response.text == "ok")
                #expect(response.attempts.dropLast().map(\.failure) == [.notProcessed, .notProcessed])
                #expect(response.metrics.failure == nil)
            }
        }
        #expect(tally.sends == 3 && tally.connections == 1)
    }

    /// The server takes one request of each connection, and says so before it has answered it. All wait their turn.
    @Test func everyPostIsServedOnceByAServerThatTakesOneAConnection() async throws {
        let tally = Tally()
        let served = Mutex<[String]>([])
        let path = Mutex<[Int: String]>([:])
        try await FrameServer.run { frame, peer in
            guard frame.streamID == 1 else { return }
            if let text = frame.path {
                _ = tally.count(peer)
                path.withLock { $0[peer.connectionID] = text }
                peer.goAway(1)
            }
            guard frame.isEnd, let text = path.withLock({ $0[peer.connectionID] }) else { return }
            served.withLock { $0.append(text) }
            peer.respond(1, text)
        } perform: { server in
            try await withTransport({ $0.httpVersions = .http2 }) { transport in
                let errors = await withTaskGroup(of: TransportError?.self) { group in
                    for number in 0..<32 {
                        group.addTask {
                            await failure { () async throws(TransportError) in
                                try await transport.send(request(server, .post, "/\(number)"))
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(errors.count == 32 && errors.allSatisfy { $0 == nil })
            }
        }
        #expect(served.withLock { $0.sorted() } == (0..<32).map { "/\($0)" }.sorted())
        #expect(tally.connections >= 32)
    }

    // MARK: Perhaps processed

    /// The connection was opened for the requests, so none of them can have met the end of an idle connection.
    @Test func thirtyTwoRequestsOnAFreshConnectionThatEndsAreNotRepeated() async throws {
        let tally = Tally()
        try await FrameServer.run { frame, peer in
            if frame.path != nil, tally.count(peer).request == 32 { peer.close() }
        } perform: { server in
            try await withTransport({ $0.httpVersions = .http2 }) { transport in
                let errors = await errors(32, transport, request(server))
                #expect(errors.allSatisfy { $0?.code == .connectionClosed && $0?.attempts.map(\.failure) == [.other] })
            }
        }
        #expect(tally.sends == 32 && tally.connections == 1)
    }

    @Test func aSiblingThatWasServedMakesNoConnectionStale() async throws {
        let tally = Tally()
        try await FrameServer.run { frame, peer in
            guard frame.path != nil, tally.count(peer).request == 32 else { return }
            peer.respond(frame.streamID, "ok")
            peer.close()
        } perform: { server in
            try await withTransport({ $0.httpVersions = .http2 }) { transport in
                let errors = await errors(32, transport, request(server))
                #expect(errors.count { $0 == nil } == 1)
                #expect(errors.compactMap { $0 }.allSatisfy { $0.attempts.map(\.failure) == [.other] })
            }
        }
        #expect(tally.sends == 32 && tally.connections == 1)
    }

    /// A connection that lay idle may have been closed before all of them: each is sent once more, and never again.
    @Test(arguments: [(HTTPRequest.Method.get, 64), (.post, 32)])
    func anIdleConnectionThatDiesUnderThirtyTwoRequestsIsRepeatedOnce(
        method: HTTPRequest.Method, sends: Int
    ) async throws {
        let tally = Tally()
        try await FrameServer.run { frame, peer in
            if frame.path == "/first" { return peer.respond(frame.streamID, "ok") }
            if frame.path != nil, tally.count(peer).request == 32 { peer.close() }
        } perform: { server in
            try await withTransport({ $0.httpVersions = .http2 }) { transport in
                try await expectText("ok", transport, request(server, .get, "/first"))
                let errors = await errors(32, transport, request(server, method))
                let expected: [Failure] = method == .get ? [.staleConnection, .other] : [.staleConnection]
                #expect(errors.allSatisfy { $0?.attempts.map(\.failure) == expected })
            }
        }
        #expect(tally.sends == sends && tally.connections == sends / 32)
    }
}
