import FoundationEssentials
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix

/// An HTTP/2 client that sends and receives frames, so that the frames of a server can be checked.
struct FrameClient {
    /// The frames so far, without SETTINGS acknowledgements.
    private(set) var received: [HTTP2Frame] = []
    private var inbound: NIOAsyncChannelInboundStream<HTTP2Frame>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<HTTP2Frame>

    /// Connects with prior knowledge, calls a closure with the connection, and closes it.
    static func with<Result>(
        port: Int, _ talk: (inout FrameClient) async throws -> Result
    ) async throws -> Result {
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOHTTP2Handler(mode: .client))
                    return try NIOAsyncChannel<HTTP2Frame, HTTP2Frame>(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound, outbound in
            var client = FrameClient(inbound: inbound.makeAsyncIterator(), outbound: outbound)
            return try await talk(&client)
        }
    }

    private init(
        inbound: NIOAsyncChannelInboundStream<HTTP2Frame>.AsyncIterator,
        outbound: NIOAsyncChannelOutboundWriter<HTTP2Frame>
    ) {
        self.inbound = inbound
        self.outbound = outbound
    }

    /// Sends the heads of several requests together.
    func get(_ streams: Int..., path: String = "/") async throws {
        try await outbound.write(
            contentsOf: streams.map { HTTP2Frame(streamID: .init($0), payload: .headers(head("GET", path, true))) })
    }

    /// Sends a request with a body, as far as the flow-control windows allow.
    func post(_ stream: Int, _ bodies: [ByteBuffer], ends: Bool = true, fields: [(String, String)] = []) async throws {
        let head = HTTP2Frame(streamID: .init(stream), payload: .headers(head("POST", "/", false, fields)))
        let data = bodies.enumerated().map { index, bytes in
            let isLast = ends && index == bodies.count - 1
            return HTTP2Frame(
                streamID: .init(stream), payload: .data(.init(data: .byteBuffer(bytes), endStream: isLast)))
        }
        try await outbound.write(contentsOf: [head] + data)
    }

    func reset(_ stream: Int, _ code: HTTP2ErrorCode) async throws {
        try await outbound.write(HTTP2Frame(streamID: .init(stream), payload: .rstStream(code)))
    }

    func ping(_ number: UInt64) async throws {
        try await outbound.write(
            HTTP2Frame(streamID: .rootStream, payload: .ping(.init(withInteger: number), ack: false)))
    }

    /// Reads until a frame with this description (``description(of:)``) has arrived. Returns false when the connection
    /// ends without it.
    @discardableResult
    mutating func receive(until last: String) async throws -> Bool {
        if received.contains(where: { Self.description(of: $0) == last }) { return true }
        while let frame = try await inbound.next(isolation: #isolation) {
            received.append(frame)
            if Self.description(of: frame) == last { return true }
        }
        return false
    }

    /// Reads until the server closes or resets the connection.
    mutating func receiveToEnd() async {
        _ = try? await receive(until: "")
    }

    /// The frames of a stream so far; stream 0 has the frames of the connection.
    func frames(_ stream: Int) -> [String] {
        received.filter { Int($0.streamID) == stream }.map { Self.description(of: $0) }
    }

    /// The body of a stream so far, as text.
    func body(_ stream: Int) -> String {
        received.reduce(into: "") { text, frame in
            guard Int(frame.streamID) == stream, case .data(let data) = frame.payload,
                case .byteBuffer(let bytes) = data.data
            else { return }
            text += String(buffer: bytes)
        }
    }

    static func description(of frame: HTTP2Frame) -> String {
        let id = Int(frame.streamID)
        switch frame.payload {
        case .headers(let head):
            let status = head.headers.first(name: ":status") ?? "trailers"
            return "\(id) \(status)" + (head.endStream ? " end" : "")
        case .data(let data): return "\(id) data \(data.data.readableBytes)" + (data.endStream ? " end" : "")
        case .rstStream(let code): return "\(id) reset \(code.networkCode)"
        case .goAway(let last, let code, _): return "goaway \(Int(last)) \(code.networkCode)"
        case .ping(let data, let ack): return "\(ack ? "pong" : "ping") \(data.integer)"
        case .settings(.settings(let settings)):
            return "settings \(settings.first { $0.parameter == .maxConcurrentStreams }?.value ?? -1)"
        case .windowUpdate(let increment): return "\(id) window \(increment)"
        default: return "\(id) other"
        }
    }

    private func head(
        _ method: String, _ path: String, _ ends: Bool, _ fields: [(String, String)] = []
    ) -> HTTP2Frame.FramePayload.Headers {
        let pseudo = [(":method", method), (":scheme", "http"), (":authority", "example.test"), (":path", path)]
        return .init(headers: HPACKHeaders(pseudo + fields), endStream: ends)
    }
}
