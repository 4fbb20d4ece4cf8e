import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import Testing

@testable import LinnetTesting

@Suite(.leavesNothingAlive, .timeLimit(.minutes(1))) struct HTTP2GateTests {
    /// A reset, or close_notify after the last bytes, closes a channel between `channelRead` and `channelReadComplete`.
    @Test(arguments: [true, false]) func aConnectionThatEndsDuringAReadReleasesItsStreams(isComplete: Bool) throws {
        let channel = EmbeddedChannel()
        let codec = NIOHTTP2Handler(
            mode: .server, eventLoop: channel.eventLoop, connectionConfiguration: .init(), streamConfiguration: .init(),
            inboundStreamInitializer: { $0.eventLoop.makeSucceededVoidFuture() })
        try channel.pipeline.syncOperations.addHandlers([HTTP2Gate(), codec])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.pipeline.fireChannelRead(Self.request())
        if isComplete { channel.pipeline.fireChannelReadComplete() }
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    /// The preface, SETTINGS, and the head of `GET /` on stream 1 (RFC 9113, 3.4 and 6.2).
    private static func request() throws -> ByteBuffer {
        var bytes = ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        bytes.writeBytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
        var block = ByteBuffer()
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        try encoder.encode(
            headers: [":method": "GET", ":scheme": "https", ":path": "/", ":authority": "localhost"], to: &block)
        bytes.writeBytes([0, 0, UInt8(block.readableBytes), 1, 5, 0, 0, 0, 1])
        bytes.writeBuffer(&block)
        return bytes
    }
}
