internal import LinnetTransport
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2

/// What a server does with the connections it accepts.
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

    /// Makes the pipeline of a new connection, and the task that serves it.
    ///
    /// Runs on the channel's event loop.
    func accept(_ channel: any Channel) throws {
        let index = registry.makeIndex()
        let faults = configuration.faults.faults(connectionIndex: index)
        let wire = WireHandler(isHeld: !faults.isEmpty)
        try channel.pipeline.syncOperations.addHandler(wire)
        if let tls { try channel.pipeline.syncOperations.addHandler(TLSHandler(server: tls)) }
        let connection = ServerConnection(
            index: index, channel: channel, wire: NIOLoopBound(wire, eventLoop: channel.eventLoop),
            clock: configuration.clock, isTLS: tls != nil)
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

    /// Installs the version of HTTP, or what finds it out; the queue yields it.
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
                for fault in faults { try await connection.perform(fault.effect) }
                await connection.release()
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
            log.recordFailure(on: connection.index, "The client ended the connection before TLS was up.")
        }
    }
}
