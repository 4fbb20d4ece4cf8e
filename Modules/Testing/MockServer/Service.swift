internal import LinnetTransport
internal import NIOCore
internal import NIOHTTP1

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
            try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
            let inbound = try addQueue(of: HTTPServerRequestPart.self, to: connection) { part in
                if case .head = part { connection.beginExchange() }
            }
            let http = HTTPConnection(connection: connection, inbound: inbound, handler: handler, service: self)
            try registry.run(connection) { await serve(connection, faults) { try await http.serve() } }
        case .raw(let handler):
            let inbound = try addQueue(of: ByteBuffer.self, to: connection) { _ in }
            let raw = RawConnection(connection: connection, inbound: inbound)
            try registry.run(connection) { await serve(connection, faults) { try await handler(raw) } }
        }
    }

    private func addQueue<Part: Sendable>(
        of type: Part.Type, to connection: ServerConnection, onPart: @escaping (Part) -> Void
    ) throws -> InboundQueue<Part> {
        let queue = InboundQueue<Part>()
        let handler = InboundHandler(queue, connection: connection, onPart: onPart)
        try connection.channel.pipeline.syncOperations.addHandler(handler)
        let bound = NIOLoopBound(handler, eventLoop: connection.channel.eventLoop)
        queue.onDemand { bound.eventLoop.execute { bound.value.resumeReading() } }
        return queue
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
