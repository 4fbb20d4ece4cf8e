import LinnetTesting
import NIOCore
import NIOPosix

/// A client that sends and receives text, so that the bytes of a server can be checked exactly.
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

    /// Connects, calls a closure with the connection, and closes it.
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

    /// Reads until the bytes since the last call end with a text, and returns them.
    mutating func receive(through end: String) async throws -> String {
        received = ""
        while !received.hasSuffix(end), let bytes = try await inbound.next(isolation: #isolation) {
            received += String(buffer: bytes)
        }
        return received
    }

    /// Reads until the server closes its side.
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

/// Sends one request to a server, and returns everything it sends until it closes the connection.
func transcript(of request: String, port: Int) async throws -> String {
    try await Conversation.with(port: port) { conversation in
        try await conversation.send(request)
        _ = await conversation.receiveToEnd()
        return conversation.received
    }
}
