import NIOCore
import NIOEmbedded
import Testing

@testable import LinnetTransport

@Suite("The memory that connections keep", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct ConnectionReuseTests {
    private enum Told: Equatable {
        case isReused, rests
    }

    private final class Recorder: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var told: [Told] = []

        func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
            switch event {
            case is ConnectionIsReused: told.append(.isReused)
            case is ConnectionRests: told.append(.rests)
            default: break
            }
            context.triggerUserOutboundEvent(event, promise: promise)
        }
    }

    private func makeExchange(isReused: Bool) -> HTTPExchange {
        var metrics = TransportMetrics()
        metrics.isReusedConnection = isReused
        return HTTPExchange(
            request: .http2(), observer: nil, timeouts: TransportTimeouts(), deadline: nil, mayBeStale: false,
            metrics: metrics)
    }

    private func makeChannel() throws -> (EmbeddedChannel, Recorder) {
        let recorder = Recorder()
        let channel = EmbeddedChannel(handler: recorder)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return (channel, recorder)
    }

    @Test func memoryIsKeptFromTheSecondRequestUntilTheConnectionRests() throws {
        let (channel, recorder) = try makeChannel()
        let context = try channel.pipeline.syncOperations.context(handler: recorder)
        // The events of a context begin below its handler.
        let below = Recorder()
        try channel.pipeline.syncOperations.addHandler(below, position: .first)
        var reuse = ConnectionReuse()
        reuse.announce(makeExchange(isReused: false), in: context)
        #expect(below.told.isEmpty)
        for round in 1...2 {
            for _ in 1...3 { reuse.announce(makeExchange(isReused: true), in: context) }
            #expect(below.told.count == 2 * round - 1)
            reuse.rest(in: context)
        }
        #expect(below.told == [.isReused, .rests, .isReused, .rests])
        _ = try channel.finish()
    }

    /// The server's SETTINGS, and PINGs of hours, are no requests.
    @Test func framesOfAnHTTP2ConnectionKeepNoMemory() throws {
        let (channel, recorder) = try makeChannel()
        let connection = try HTTP2Connection.install(on: channel, configuration: TransportConfiguration())
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        let ping: [UInt8] = [0, 0, 8, 6, 0, 0, 0, 0, 0] + Array(repeating: 7, count: 8)
        try channel.writeInbound(ByteBuffer(bytes: settings + ping))
        connection.start(makeExchange(isReused: false))
        channel.embeddedEventLoop.run()
        try channel.writeInbound(ByteBuffer(bytes: ping))
        #expect(recorder.told.isEmpty && connection.streams.count == 1)
        connection.start(makeExchange(isReused: true))
        #expect(recorder.told == [.isReused])
        _ = try channel.finish()
        connection.connectionEnded()
    }
}
