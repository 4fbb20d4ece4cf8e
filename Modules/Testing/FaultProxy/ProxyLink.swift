internal import FoundationEssentials
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Carries bytes between a client and its destination, under the conditions of a ``FaultProxy``.
final class ProxyLink: Sendable {
    struct Destination: Sendable {
        let host: String
        let port: Int

        /// The address to connect to.
        var address: String { host.hasSuffix(".test") || host == "localhost" ? "127.0.0.1" : host }
    }

    private typealias Server = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// How one direction ended.
    private enum End: Sendable {
        case closed
        case reset
        case cut(MockServer.Fault.Effect)
    }

    let conditions: Mutex<FaultProxy.Conditions>
    private let clock: any Clock<Duration>

    init(_ conditions: FaultProxy.Conditions, _ clock: any Clock<Duration>) {
        self.conditions = Mutex(conditions)
        self.clock = clock
    }

    /// Connects to a destination, and passes bytes in both directions until one side ends.
    ///
    /// - Parameter answer: The proxy's answer to the client, before the first byte of the destination.
    func carry(_ client: RawConnection, to destination: Destination, answering answer: Data = Data()) async throws {
        let server = try await connect(to: destination, for: client)
        let end = try await server.executeThenClose { inbound, outbound in
            if !answer.isEmpty { try await client.write(answer) }
            return await withTaskGroup(of: End.self) { group in
                group.addTask { await self.pass(from: client, to: outbound) }
                group.addTask { await self.pass(from: inbound, to: client) }
                let end = await group.next() ?? .closed
                group.cancelAll()
                return end
            }
        }
        switch end {
        case .closed: try await client.perform(.close)
        case .reset: try await client.perform(.reset)
        case .cut(let effect): try await client.perform(effect)
        }
    }

    private func connect(to destination: Destination, for client: RawConnection) async throws -> Server {
        try await ClientBootstrap(group: client.eventLoop)
            .connect(host: destination.address, port: destination.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel(
                        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
    }

    private func pass(from client: RawConnection, to server: NIOAsyncChannelOutboundWriter<ByteBuffer>) async -> End {
        var passed = 0
        do {
            while let bytes = try await client.read() {
                let write: (ByteBuffer) async throws -> Void = { try await server.write($0) }
                if let end = try await pass(ByteBuffer(bytes: bytes), .fromClient, after: &passed, write) { return end }
            }
        } catch {
            return .reset
        }
        return .closed
    }

    private func pass(from server: NIOAsyncChannelInboundStream<ByteBuffer>, to client: RawConnection) async -> End {
        var passed = 0
        do {
            for try await bytes in server {
                let write: (ByteBuffer) async throws -> Void = { try await client.write(Data($0.readableBytesView)) }
                if let end = try await pass(bytes, .fromServer, after: &passed, write) { return end }
            }
        } catch {
            return .reset
        }
        return .closed
    }

    /// Passes a piece. Returns the end if the connection is cut in it.
    private func pass(
        _ bytes: ByteBuffer, _ direction: FaultProxy.Direction, after passed: inout Int,
        _ write: (ByteBuffer) async throws -> Void
    ) async throws -> End? {
        let conditions = conditions.withLock { $0 }
        var bytes = bytes
        var end: End?
        if let cut = conditions.cut, cut.direction == direction, passed + bytes.readableBytes >= cut.bytes {
            bytes = bytes.readSlice(length: max(0, cut.bytes - passed)) ?? bytes
            end = .cut(cut.effect)
        }
        passed += bytes.readableBytes
        var wait = conditions.latency
        if let rate = conditions.bytesPerSecond {
            wait += .nanoseconds(Int64(bytes.readableBytes) * 1_000_000_000 / Int64(max(1, rate)))
        }
        if wait > .zero { try await clock.sleep(for: wait) }
        if bytes.readableBytes > 0 { try await write(bytes) }
        return end
    }
}
