import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import Synchronization
import Testing

/// HTTPTypes has a type of the same name.
typealias HTTP2ErrorCode = NIOHTTP2.HTTP2ErrorCode

/// An HTTP/2 server with frames written by the test.
struct FrameServer: Sendable {
    /// Called on the connection's event loop with each received frame.
    typealias Script = @Sendable (HTTP2Frame, Peer) -> Void

    /// The server's end of one connection; used on its event loop only.
    struct Peer {
        fileprivate let context: ChannelHandlerContext

        var eventLoop: any EventLoop { context.eventLoop }

        /// Distinguishes connections, also if one reuses the memory of another.
        let connectionID: Int

        /// To return to the event loop from any thread.
        var bound: NIOLoopBound<Peer> { NIOLoopBound(self, eventLoop: context.eventLoop) }

        func send(_ id: HTTP2StreamID, _ payload: HTTP2Frame.FramePayload, _ promise: EventLoopPromise<Void>? = nil) {
            context.writeAndFlush(NIOAny(HTTP2Frame(streamID: id, payload: payload)), promise: promise)
        }

        func head(_ id: HTTP2StreamID, _ fields: HPACKHeaders = [":status": "200"], isEnd: Bool = false) {
            send(id, .headers(.init(headers: fields, endStream: isEnd)))
        }

        func data(_ id: HTTP2StreamID, _ text: String, isEnd: Bool = false) {
            send(id, .data(.init(data: .byteBuffer(ByteBuffer(string: text)), endStream: isEnd)))
        }

        /// A whole response.
        func respond(_ id: HTTP2StreamID, _ text: String = "", status: String = "200") {
            head(id, [":status": status], isEnd: text.isEmpty)
            if !text.isEmpty { data(id, text, isEnd: true) }
        }

        func goAway(_ last: HTTP2StreamID, _ code: HTTP2ErrorCode = .noError) {
            send(.rootStream, .goAway(lastStreamID: last, errorCode: code, opaqueData: nil))
        }

        /// Writes bytes without the framing, which cannot write invalid frames.
        func raw(_ frames: [[UInt8]]) {
            guard let framing = try? context.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self) else {
                return
            }
            framing.writeAndFlush(NIOAny(ByteBuffer(bytes: frames.joined())), promise: nil)
        }

        /// Stops reading, and therefore acknowledges nothing.
        func stopReading() { try? context.channel.syncOptions?.setOption(.autoRead, value: false) }

        func close() { context.close(promise: nil) }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame
        typealias OutboundOut = HTTP2Frame
        /// The closure may retain peers, which retain this handler: it is dropped with the connection.
        private var script: Script?
        private let connectionID = FrameServer.lastConnectionID.add(1, ordering: .relaxed).newValue

        init(_ script: @escaping Script) { self.script = script }

        func handlerRemoved(context: ChannelHandlerContext) { script = nil }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            script?(unwrapInboundIn(data), Peer(context: context, connectionID: connectionID))
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {}
    }

    let address: SocketAddress

    private static let lastConnectionID = Atomic(0)

    /// Runs a server for the duration of the operation.
    static func run<Result>(
        settings: HTTP2Settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: 100)],
        _ script: @escaping Script, perform: (FrameServer) async throws -> Result
    ) async throws -> Result {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(
                        NIOHTTP2Handler(
                            mode: .server, initialSettings: settings, headerBlockValidation: .disabled,
                            contentLengthValidation: .disabled))
                    try pipeline.addHandler(Handler(script))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            let result = try await perform(FrameServer(address: try #require(listener.localAddress)))
            try await listener.close()
            return result
        } catch {
            try await listener.close()
            throw error
        }
    }
}

extension HTTP2Frame {
    /// The path of the request, in a HEADERS frame that starts one.
    var path: String? {
        guard case .headers(let section) = payload else { return nil }
        return section.headers.first(name: ":path")
    }

    /// Whether it ends its stream's direction.
    var isEnd: Bool {
        switch payload {
        case .headers(let section): section.endStream
        case .data(let data): data.endStream
        default: false
        }
    }

    var resetCode: HTTP2ErrorCode? {
        if case .rstStream(let code) = payload { code } else { nil }
    }
}

/// A frame, byte by byte (RFC 9113, 4.1).
func rawFrame(type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
    let length = UInt32(payload.count)
    let head = [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags]
    return head + (0..<4).map { UInt8(stream >> (24 - 8 * $0) & 0xFF) } + payload
}
