import LinnetTesting
import NIOCore
import NIOPosix
import Synchronization

/// A connection on which a test writes requests by hand.
final class RawClient: Sendable {
    private enum Event: Sendable {
        case bytes(ByteBuffer)
        case closed
    }

    /// A response of HTTP/1.1 with a length or in chunks.
    struct Response: Sendable {
        let head: String
        let body: String
        var status: Int { Int(head.split(separator: " ")[1]) ?? 0 }
    }

    private let channel: any Channel
    private let events: EventRecorder<Event>
    private let readBytes = Mutex(0)

    private init(channel: any Channel, events: EventRecorder<Event>) {
        self.channel = channel
        self.events = events
    }

    static func connect(to port: Int) async throws -> RawClient {
        let events = EventRecorder<Event>()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(events: events))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return RawClient(channel: channel, events: events)
    }

    func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text))
    }

    /// Sends a GET.
    func get(_ path: String, _ fields: [String] = []) async throws {
        let lines = ["GET \(path) HTTP/1.1", "Host: gateway.example"] + fields + ["", ""]
        try await send(lines.joined(separator: "\r\n"))
    }

    /// Waits for any bytes.
    func waitForBytes() async throws {
        try await events.wait { !Self.text(of: $0).isEmpty }
    }

    /// Waits for the next response; nil if the connection ends without all of it.
    func response() async throws -> Response? {
        let start = readBytes.withLock { $0 }
        let all = try await events.wait { events in
            Self.parse(Self.text(of: events), from: start) != nil
                || events.contains { if case .closed = $0 { true } else { false } }
        }
        guard let (response, end) = Self.parse(Self.text(of: all), from: start) else { return nil }
        readBytes.withLock { $0 = end }
        return response
    }

    func waitForClose() async throws {
        try await events.wait { $0.contains { if case .closed = $0 { true } else { false } } }
    }

    func close() async { try? await channel.close() }

    private static func text(of events: [Event]) -> [UInt8] {
        events.flatMap { event in
            if case .bytes(let bytes) = event { Array(bytes.readableBytesView) } else { [UInt8]() }
        }
    }

    private static func parse(_ bytes: [UInt8], from start: Int) -> (Response, end: Int)? {
        let rest = bytes[start...]
        guard let end = rest.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return nil }
        let head = String(decoding: rest[..<end], as: UTF8.self)
        let lines = head.lowercased().split(separator: "\r\n")
        if let length = lines.first(where: { $0.hasPrefix("content-length:") }).flatMap({
            Int($0.dropFirst("content-length:".count).trimmingPrefix(while: \.isWhitespace))
        }) {
            guard bytes.count >= end + length else { return nil }
            return (
                Response(head: head, body: String(decoding: bytes[end..<end + length], as: UTF8.self)), end + length
            )
        }
        guard lines.contains("transfer-encoding: chunked") else { return (Response(head: head, body: ""), end) }
        guard let last = bytes[end...].firstRange(of: Array("0\r\n\r\n".utf8))?.upperBound else { return nil }
        return (Response(head: head, body: String(decoding: bytes[end..<last], as: UTF8.self)), last)
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let events: EventRecorder<Event>
        init(events: EventRecorder<Event>) { self.events = events }
        func channelRead(context: ChannelHandlerContext, data: NIOAny) { events.record(.bytes(unwrapInboundIn(data))) }
        func channelInactive(context: ChannelHandlerContext) { events.record(.closed) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
