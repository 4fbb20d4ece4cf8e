import LinnetTesting
import NIOCore
import NIOPosix

/// A client that only sends and receives text, so that what a server does on the wire can be asserted byte for byte.
struct Conversation {
    /// How the server ended its side.
    enum Ending: Equatable {
        case fin
        case reset
    }

    private(set) var received = ""
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    let channel: any Channel

    /// Connects, talks, and closes.
    static func with<Result>(
        port: Int, keepsOpenAfterFIN: Bool = false, _ talk: (inout Conversation) async throws -> Result
    ) async throws -> Result {
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: keepsOpenAfterFIN)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        return try await connection.executeThenClose { inbound, outbound in
            var conversation = Conversation(
                inbound: inbound.makeAsyncIterator(), outbound: outbound, channel: connection.channel)
            return try await talk(&conversation)
        }
    }

    private init(
        inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>, channel: any Channel
    ) {
        self.inbound = inbound
        self.outbound = outbound
        self.channel = channel
    }

    func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text))
    }

    /// Reads until what was received since the last call ends with this text, and returns it.
    mutating func receive(through end: String) async throws -> String {
        received = ""
        while !received.hasSuffix(end), let bytes = try await inbound.next(isolation: #isolation) {
            received += String(buffer: bytes)
        }
        return received
    }

    /// Reads until the server's end.
    mutating func receiveToEnd() async -> Ending {
        received = ""
        do {
            while let bytes = try await inbound.next(isolation: #isolation) { received += String(buffer: bytes) }
            return .fin
        } catch {
            return .reset
        }
    }
}

/// Sends one request to a server and returns all that it says until it ends the connection.
func transcript(of request: String, port: Int) async throws -> String {
    try await Conversation.with(port: port) { conversation in
        try await conversation.send(request)
        _ = await conversation.receiveToEnd()
        return conversation.received
    }
}
