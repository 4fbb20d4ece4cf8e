import HTTPTypes
import LinnetTesting
import LinnetTransport
import NIOCore
import NIOPosix
import Testing

/// Servers that read a body out of small buffers: the socket has accepted all of it long before the server has it.
@Suite("Bytes on their way", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct AcknowledgedBytesTests {
    /// Reads a little at a time, and answers when it has read a number of bytes.
    private final class SlowReader: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let total: Int
        private let pause: TimeAmount?
        private var count = 0

        /// Reads up to 16 KiB after each pause; without one it stops after the first read.
        init(total: Int, pause: TimeAmount?) {
            (self.total, self.pause) = (total, pause)
        }

        func channelActive(context: ChannelHandlerContext) { context.read() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            count += unwrapInboundIn(data).readableBytes
            guard count < total else {
                let answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                return context.writeAndFlush(NIOAny(answer), promise: nil)
            }
        }

        func channelReadComplete(context: ChannelHandlerContext) {
            guard let pause else { return }
            context.eventLoop.assumeIsolated().scheduleTask(in: pause) { context.read() }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    private static let size = 1_500_000

    private func upload(pause: TimeAmount?, timeouts: TransportTimeouts) async throws -> Result<String?, TransportError>
    {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_rcvbuf), value: 32_768)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16_384))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(SlowReader(total: Self.size, pause: pause))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let head = HTTPRequest(
            method: .put, scheme: "http", authority: "127.0.0.1:\(listener.localAddress?.port ?? 0)", path: "/")
        let result = try await withTransport { transport in
            do throws(TransportError) {
                let body = TransportRequestBody.bytes(ByteBuffer(repeating: 0x61, count: Self.size))
                let request = TransportRequest(head: head, body: body, timeouts: timeouts)
                return Result<String?, TransportError>.success(try await transport.send(request).text)
            } catch {
                return .failure(error)
            }
        }
        try await listener.close()
        try await group.shutdownGracefully()
        return result
    }

    /// About 400 KB/s, so that the body takes several times the idle timeout after the socket has accepted it.
    @Test func aServerThatReadsSteadilyOutOfSmallBuffersDoesNotTimeOut() async throws {
        let timeouts = TransportTimeouts(idleRead: .seconds(1), idleWrite: .seconds(1))
        let result = try await upload(pause: .milliseconds(40), timeouts: timeouts)
        #expect(try result.get() == "ok")
    }

    @Test func aServerThatReadsNoFurtherTimesOut() async throws {
        let timeouts = TransportTimeouts(idleRead: .milliseconds(300), idleWrite: .milliseconds(300))
        let start = ContinuousClock.now
        let result = try await upload(pause: nil, timeouts: timeouts)
        #expect(start.duration(to: .now) < .seconds(20))
        #expect(throws: TransportError.self) { try result.get() }
        if case .failure(let error) = result {
            #expect([.readTimeout, .writeTimeout].contains(error.code))
        }
    }
}
