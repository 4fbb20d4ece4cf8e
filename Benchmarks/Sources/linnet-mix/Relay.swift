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
            .bind(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try Socket(wrappingChannelSynchronously: channel) }
            }
        Task {
            try await listener.executeThenClose { clients in
                try await withThrowingDiscardingTaskGroup { tasks in
                    for try await client in clients { tasks.addTask { try? await carry(client, to: inner) } }
                }
            }
        }
        return listener.channel.localAddress?.port ?? 0
    }

    private static func carry(_ client: Socket, to port: Int) async throws {
        let server = try await ClientBootstrap(group: client.channel.eventLoop)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try Socket(wrappingChannelSynchronously: channel) }
            }
        try await client.executeThenClose { fromClient, toClient in
            try await server.executeThenClose { fromServer, toServer in
                await withTaskGroup { tasks in
                    tasks.addTask { try? await pass(fromClient, toServer) }
                    tasks.addTask { try? await pass(fromServer, toClient) }
                    await tasks.next()
                    tasks.cancelAll()
                }
            }
        }
    }

    private static func pass(
        _ source: NIOAsyncChannelInboundStream<ByteBuffer>, _ target: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws {
        for try await bytes in source { try await target.write(bytes) }
    }
}
