internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOPosix

/// Sets up and serves the connections that a server accepts.
struct Service: Sendable {
    enum Kind: Sendable {
        case http(MockServer.Handler)
        case raw(@Sendable (RawConnection) async throws -> Void)
    }

    let kind: Kind
    let configuration: MockServer.Configuration
    let tls: TLSServerContext?
    let log = RequestLog()
    let registry = ConnectionRegistry()

    /// Creates the pipeline of a new connection and the task that serves it.
    ///
    /// Called on the channel's event loop.
    func accept(_ channel: any Channel) throws {
        let index = registry.makeIndex()
        let faults = configuration.faults.faults(connectionIndex: index)
        let holdsHello = faults.contains { $0.trigger == .clientHello }
        let hello = holdsHello ? channel.eventLoop.makePromise(of: Void.self) : nil
        let wire = WireHandler(isHeld: !faults.isEmpty, hello: hello)
        try channel.pipeline.syncOperations.addHandler(wire)
        if let tls { try channel.pipeline.syncOperations.addHandler(TLSServerHandler(tls)) }
        let connection = ServerConnection(
            index: index, channel: channel, wire: NIOLoopBound(wire, eventLoop: channel.eventLoop),
            clock: configuration.clock, isTLS: tls != nil, hello: hello?.futureResult)
        switch kind {
        case .http(let handler):
            let responder = Responder(handler: handler, configuration: configuration, log: log)
            let negotiated = try negotiate(connection, responder)
            try registry.run(connection) {
                await serve(connection, faults) { try await negotiated.next()?.serve() }
            }
        case .raw(let handler):
            let inbound = try InboundHandler.addQueue(of: ByteBuffer.self, to: channel, connection)
            let raw = RawConnection(connection: connection, inbound: inbound)
            try registry.run(connection) { await serve(connection, faults) { try await handler(raw) } }
        }
    }

    /// Installs the handlers of the HTTP version, or a selector that detects the version. The queue yields the result.
    private func negotiate(
        _ connection: ServerConnection, _ responder: Responder
    ) throws -> InboundQueue<NegotiatedProtocol> {
        let negotiated = InboundQueue<NegotiatedProtocol>()
        switch configuration.httpVersions {
        case .http1:
            negotiated.push(try installHTTP1(connection, responder))
        case .http2:
            negotiated.push(try installHTTP2(connection, responder))
        case .both:
            let selector = VersionSelector(isTLS: tls != nil, chosen: negotiated) { version in
                switch version {
                case .http1: try installHTTP1(connection, responder)
                case .http2: try installHTTP2(connection, responder)
                }
            }
            try connection.channel.pipeline.syncOperations.addHandler(selector)
        }
        return negotiated
    }

    private func installHTTP1(_ connection: ServerConnection, _ responder: Responder) throws -> NegotiatedProtocol {
        let pipeline = connection.channel.pipeline.syncOperations
        try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
        try pipeline.addHandler(HTTP1RequestParts())
        let inbound = try InboundHandler.addQueue(of: RequestPart.self, to: connection.channel, connection) { part in
            if case .head = part { connection.beginExchange() }
        }
        return .http1(HTTP1Connection(connection: connection, inbound: inbound, responder: responder))
    }

    private func installHTTP2(_ connection: ServerConnection, _ responder: Responder) throws -> NegotiatedProtocol {
        let channel = connection.channel
        let gate = HTTP2Gate()
        let handler = HTTP2ConnectionHandler(connection, gate: gate, responder: responder)
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        let codec = NIOHTTP2Handler(
            mode: .server, eventLoop: channel.eventLoop,
            connectionConfiguration: .init(configuration.http2), streamConfiguration: .init(configuration.http2),
            inboundStreamInitializer: { stream in
                stream.eventLoop.makeCompletedFuture { try bound.value.accept(stream) }
            })
        try channel.pipeline.syncOperations.addHandlers([gate, codec, handler])
        connection.http2 = bound
        return .http2(HTTP2Connection(connection: connection, streams: handler.streams, responder: responder))
    }

    private func serve(
        _ connection: ServerConnection, _ faults: [MockServer.Fault], _ work: () async throws -> Void
    ) async {
        do {
            if !faults.isEmpty {
                for fault in faults where fault.trigger == .connect { try await connection.perform(fault.effect) }
                await connection.release()
            }
            if let hello = connection.hello {
                try await hello.get()
                for fault in faults where fault.trigger == .clientHello { try await connection.perform(fault.effect) }
                await connection.releaseHello()
            }
            try await work()
        } catch is ExchangeEnded {
            return
        } catch is CancellationError {
        } catch {
            log.recordFailure(on: connection.index, "\(error)")
        }
        await connection.close()
        if connection.failedHandshake {
            log.recordFailure(
                on: connection.index, "The client closed the connection before the TLS handshake was complete.")
        }
    }
}

/// The HTTP version of a connection, with the type that serves it.
enum NegotiatedProtocol: Sendable {
    case http1(HTTP1Connection)
    case http2(HTTP2Connection)

    func serve() async throws {
        switch self {
        case .http1(let connection): try await connection.serve()
        case .http2(let connection): await connection.serve()
        }
    }
}

/// A listening socket with its event loop thread.
struct Listener: Sendable {
    /// The port; nil for a unix socket.
    let port: Int?
    private let path: String?
    private let channel: any Channel
    private let group: MultiThreadedEventLoopGroup

    static func start(_ service: Service) async throws(TestingError) -> Listener {
        // A separate thread: a client that blocks its event loop must not block the server, and the thread's
        // descriptors are closed with it at shutdown.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let path = service.configuration.unixSocket
        do {
            guard 0...65_535 ~= service.configuration.port else {
                throw TestingError(.invalidConfiguration, "\(service.configuration.port) is no port.")
            }
            let bootstrap = ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try service.accept(channel) }
                }
            let bound =
                if let path { bootstrap.bind(unixDomainSocketPath: path) } else {
                    bootstrap.bind(host: "127.0.0.1", port: service.configuration.port)
                }
            let channel = try await bound.get()
            return Listener(port: channel.localAddress?.port, path: path, channel: channel, group: group)
        } catch {
            try? await group.shutdownGracefully()
            if let error = error as? TestingError { throw error }
            throw TestingError(
                .cannotListen,
                "The server cannot listen on \(path ?? "127.0.0.1:\(service.configuration.port)"): \(error).",
                underlying: error)
        }
    }

    /// Closes the listening socket.
    func stopAccepting() async {
        try? await channel.close().get()
        if let path { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Closes the remaining channels and ends the thread.
    func stop() async {
        try? await group.shutdownGracefully()
    }
}
