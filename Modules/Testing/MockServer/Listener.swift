internal import NIOCore
internal import NIOPosix

/// A listening socket with the thread that serves it.
struct Listener: Sendable {
    let port: Int
    private let channel: any Channel
    private let group: MultiThreadedEventLoopGroup

    static func start(_ service: Service) async throws(TestingError) -> Listener {
        // A thread of its own: a client that blocks its event loop must not block the server with it, and ending the
        // thread at shutdown leaves no descriptor behind.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let channel = try await ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try service.accept(channel) }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            return Listener(port: channel.localAddress?.port ?? 0, channel: channel, group: group)
        } catch {
            try? await group.shutdownGracefully()
            throw TestingError(.cannotListen, "The server cannot listen on 127.0.0.1: \(error)", underlying: error)
        }
    }

    /// Closes the listening socket.
    func stopAccepting() async {
        try? await channel.close().get()
    }

    /// Ends the thread, and what is left on it.
    func stop() async {
        try? await group.shutdownGracefully()
    }
}
