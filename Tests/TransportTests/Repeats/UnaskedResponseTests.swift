import HTTPTypes
import LinnetSecurity
import LinnetTesting
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import LinnetTransport

/// A response that nobody asked for, which lies in the socket when the next request would be written.
///
/// Client and server share one event loop, on which the test runs too: it writes for the server between two steps of
/// the client, which has not read then.
@Suite("Unasked responses", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct UnaskedResponseTests {
    /// Answers each request with its path.
    private final class Peer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let channels: Channels

        init(_ channels: Channels) { self.channels = channels }

        func channelActive(context: ChannelHandlerContext) {
            channels.add(context.channel)
            context.fireChannelActive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let head = String(buffer: unwrapInboundIn(data))
            let path = head.split(separator: " ").dropFirst().first.map { String($0) } ?? ""
            context.writeAndFlush(NIOAny(ByteBuffer(string: response(path))), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// The connections that the server has accepted.
    private final class Channels: Sendable {
        private let all = Mutex<[any Channel]>([])

        var count: Int { all.withLock { $0.count } }
        var last: (any Channel)? { all.withLock { $0.last } }

        func add(_ channel: any Channel) { all.withLock { $0.append(channel) } }
    }

    /// Runs requests on the event loop of both sides; `between` runs on it after the first response.
    private func paths(
        overTLS: Bool, _ methods: [HTTPRequest.Method], between: @escaping @Sendable (any Channel) -> Void
    ) async throws -> (texts: [String?], connections: Int, failures: [TransportMetrics.Failure?]) {
        let channels = Channels()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let identity = try TLSServerContext(try TestPKI.selfSigned())
        let listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if overTLS { try channel.pipeline.syncOperations.addHandler(TLSServerHandler(identity)) }
                    try channel.pipeline.syncOperations.addHandler(Peer(channels))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        var configuration = TransportConfiguration()
        configuration.eventLoops = .group(group)
        configuration.securityPolicy = .insecureAcceptAnyCertificate
        configuration.httpVersions = .http1
        let transport = try HTTPTransport(configuration)
        let result = try await withTaskExecutorPreference(transport.taskExecutors[0]) {
            var (texts, failures): ([String?], [TransportMetrics.Failure?]) = ([], [])
            for (number, method) in methods.enumerated() {
                let head = HTTPRequest(
                    method: method, scheme: overTLS ? "https" : "http", authority: "localhost:\(port)",
                    path: "/\(number)")
                let response = try await transport.send(TransportRequest(head: head))
                texts.append(response.text)
                failures += response.attempts.map(\.failure)
                if number == 0, let channel = channels.last { between(channel) }
            }
            return (texts, failures)
        }
        await transport.shutdown()
        try await listener.close()
        try await group.shutdownGracefully()
        return (result.0, channels.count, result.1)
    }

    @Test(arguments: [false, true], [HTTPRequest.Method.get, .post])
    func anUnaskedResponseAnswersNoRequest(overTLS: Bool, method: HTTPRequest.Method) async throws {
        let seen = try await paths(overTLS: overTLS, [.get, method]) { channel in
            channel.writeAndFlush(ByteBuffer(string: response("unasked")), promise: nil)
        }
        #expect(seen.texts == ["/0", "/1"])
        #expect(seen.connections == 2)
        #expect(seen.failures == [nil, .notSent, nil])
    }

    /// A POST would fail if it had been written: the server may have processed it.
    @Test(arguments: [false, true])
    func aConnectionThatTheServerHasClosedTakesNoRequest(overTLS: Bool) async throws {
        let seen = try await paths(overTLS: overTLS, [.get, .post]) { $0.close(promise: nil) }
        #expect(seen.texts == ["/0", "/1"])
        #expect(seen.connections == 2)
    }

    @Test(arguments: [false, true])
    func aQuietConnectionIsUsedAgain(overTLS: Bool) async throws {
        let seen = try await paths(overTLS: overTLS, [.get, .get, .post, .get]) { _ in }
        #expect(seen.texts == ["/0", "/1", "/2", "/3"])
        #expect(seen.connections == 1)
    }
}

private func response(_ text: String) -> String {
    "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
}
