import Foundation
import NIOCore
import NIOPosix

/// Passes connections on from an address and a fixed port to a port of the loopback address, on which servers of
/// LinnetTesting listen.
enum Relay {
    private typealias Socket = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Starts to listen. Returns the port.
    static func start(from host: String, _ port: Int, to inner: Int) async throws -> Int {
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .bind(host: host, port: port) { channel in channel.eventLoop.makeCompletedFuture { try socket(channel) } }
        Task {
            try await listener.executeThenClose { clients in
                try await withThrowingDiscardingTaskGroup { tasks in
                    for try await client in clients { tasks.addTask { try? await carry(client, to: inner) } }
                }
            }
        }
        return listener.channel.localAddress?.port ?? 0
    }

    private static func socket(_ channel: any Channel) throws -> Socket {
        try Socket(wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
    }

    /// Passes bytes until both directions have ended, or one has failed.
    private static func carry(_ client: Socket, to port: Int) async throws {
        let server = try await ClientBootstrap(group: client.channel.eventLoop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try socket(channel) }
            }
        try await client.executeThenClose { fromClient, toClient in
            try await server.executeThenClose { fromServer, toServer in
                try await withThrowingTaskGroup { tasks in
                    tasks.addTask { try await pass(fromClient, toServer) }
                    tasks.addTask { try await pass(fromServer, toClient) }
                    while try await tasks.next() != nil {}
                }
            }
        }
    }

    private static func pass(
        _ source: NIOAsyncChannelInboundStream<ByteBuffer>, _ target: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws {
        for try await bytes in source { try await target.write(bytes) }
        // To close the socket would discard bytes that it has not accepted yet.
        target.finish()
    }
}
