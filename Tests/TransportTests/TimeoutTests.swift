import FoundationEssentials
import HTTPTypes
import LinnetTesting
import LinnetTransport
import NIOCore
import NIOPosix
import Testing

@Suite("Timeouts", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct TimeoutTests {
    private let short = Duration.milliseconds(50)

    private func error(
        _ server: MockServer, _ timeouts: TransportTimeouts, body: TransportRequestBody? = nil
    ) async throws -> TransportError? {
        try await withTransport { transport in
            await failure { () async throws(TransportError) in
                try await transport.send(server.request(body == nil ? .get : .put, body: body, timeouts: timeouts))
            }
        }
    }

    private func stalling(at trigger: MockServer.Fault.Trigger) async throws -> MockServer {
        try await MockServer.start(
            configuration: MockServer.Configuration { $0.requestBodies = .streamed }
        ) { _ in MockResponse(body: .text("hello"), faults: [.init(.stall, at: trigger)]) }
    }

    @Test(arguments: [MockServer.Fault.Trigger.responseHead, .responseBody(after: 3)])
    func aSilentServerEndsAtTheTimeout(trigger: MockServer.Fault.Trigger) async throws {
        let server = try await stalling(at: trigger)
        #expect(try await error(server, TransportTimeouts(idleRead: short))?.code == .readTimeout)
        await server.shutdown()
    }

    @Test func theWholeRequestHasATimeout() async throws {
        let server = try await stalling(at: .responseHead)
        #expect(try await error(server, TransportTimeouts(request: short))?.code == .requestTimeout)
        await server.shutdown()
    }

    @Test func aDrippingServerOnlyReachesTheRequestTimeout() async throws {
        try await withMockServer { _ in
            MockResponse(
                body: .bytes(Data(count: 100_000)), throttle: .init(bytes: 1, pause: .milliseconds(5)))
        } perform: { server in
            let timeouts = TransportTimeouts(idleRead: .seconds(20), request: .milliseconds(100))
            let failed = try await error(server, timeouts)
            #expect(failed?.code == .requestTimeout)
        }
    }

    @Test func aServerThatAcceptsNothingEndsAtTheTimeout() async throws {
        let server = try await MockServer.startRaw { connection in
            // Never reads.
            try await connection.perform(.stall)
        }
        let body = TransportRequestBody.bytes(ByteBuffer(repeating: 0, count: 64 * 1024 * 1024))
        #expect(try await error(server, TransportTimeouts(idleWrite: short), body: body)?.code == .writeTimeout)
        await server.shutdown()
    }

    @Test func waitingForAConnectionHasATimeout() async throws {
        let server = try await stalling(at: .responseHead)
        try await withTransport({ $0.pool.connectionsPerOrigin = 1 }) { transport in
            let first = Task { () async throws(TransportError) in try await transport.send(server.request()) }
            _ = try await server.nextRequest()
            let error = await failure { () async throws(TransportError) in
                try await transport.send(server.request(timeouts: TransportTimeouts(poolWait: .milliseconds(50))))
            }
            #expect(error?.code == .poolTimeout)
            first.cancel()
            _ = await first.result
        }
        await server.shutdown()
    }

    @Test func theHandshakeHasATimeout() async throws {
        let server = try await MockServer.startRaw { connection in try await connection.perform(.stall) }
        try await withTransport { transport in
            let head = HTTPRequest(
                method: .get, scheme: "https", authority: "127.0.0.1:\(server.port)", path: "/")
            let error = await failure { () async throws(TransportError) in
                try await transport.send(
                    TransportRequest(head: head, timeouts: TransportTimeouts(tlsHandshake: .milliseconds(50))))
            }
            #expect(error?.code == .tlsTimeout)
        }
        await server.shutdown()
    }

    @Test func connectingHasATimeout() async throws {
        // A listener with a full queue answers no further SYN.
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 0)
            .serverChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let connect = {
            ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(.seconds(20)).connect(host: "127.0.0.1", port: port)
        }
        // The first connection finds room. Any later one may have to wait.
        let first = try await connect().get()
        let fillers = (0..<3).map { _ in connect() }
        try await withTransport { transport in
            let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: "/")
            let error = await failure { () async throws(TransportError) in
                try await transport.send(
                    TransportRequest(
                        head: head, timeouts: TransportTimeouts(connect: .milliseconds(100), idleRead: .seconds(1))))
            }
            #expect(error?.code == .connectTimeout)
        }
        try? await listener.close()
        // Closing the listener resets the connections that it never accepted.
        try? await first.close()
        for filler in fillers { try? await filler.get().close() }
    }

    /// Each time the transport ends while its connection is being opened, at another point of that.
    @Test func zeroMeansAtOnce() async throws {
        let server = try await stalling(at: .responseHead)
        for _ in 0..<300 {
            #expect(try await error(server, TransportTimeouts(request: .zero))?.code == .requestTimeout)
        }
        await server.shutdown()
    }
}
