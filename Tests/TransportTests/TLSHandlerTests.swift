import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import LinnetTransport

/// The handler over a socket, without HTTP, with the server of LinnetTesting.
@Suite("TLS handlers", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct TLSHandlerTests {
    /// The events above TLS on one side.
    enum Seen: Sendable, Equatable {
        case serverName(String?)
        case bytes(String)
        case truncated
        case inactive
    }

    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let continuation: AsyncStream<Seen>.Continuation
        let onHandshake: @Sendable (any Channel) -> Void

        init(_ continuation: AsyncStream<Seen>.Continuation, _ onHandshake: @escaping @Sendable (any Channel) -> Void) {
            self.continuation = continuation
            self.onHandshake = onHandshake
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            continuation.yield(.bytes(String(buffer: unwrapInboundIn(data))))
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            switch event as? TLSServerEvent {
            case .handshakeCompleted(let handshake):
                continuation.yield(.serverName(handshake.serverName))
                onHandshake(context.channel)
            case .truncated:
                continuation.yield(.truncated)
            case nil where event is TLSTruncated:
                continuation.yield(.truncated)
            case nil:
                break
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            continuation.yield(.inactive)
            continuation.finish()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// Connects a client that accepts any certificate; returns the events of both sides.
    private func converse(
        serverName: String? = "localhost", version: TransportConfiguration.TLS.Version = .tls13,
        onHandshake: @escaping @Sendable (any Channel) -> Void = { _ in },
        client use: @escaping @Sendable (any Channel) -> Void = { _ in }
    ) async throws -> (server: [Seen], client: [Seen]) {
        let server = try TLSServerContext(try TestPKI.selfSigned())
        let (seenByServer, continuation) = AsyncStream<Seen>.makeStream()
        let (seenByClient, clientContinuation) = AsyncStream<Seen>.makeStream()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TLSServerHandler(server))
                    try channel.pipeline.syncOperations.addHandler(Recorder(continuation, onHandshake))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        var options = TransportConfiguration.TLS()
        options.maximumVersion = version
        let context = try TLSClientContext(options, applicationProtocols: ["http/1.1"])
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(to: try #require(listener.localAddress)).get()
        let info = try await client.eventLoop.flatSubmit {
            let promise = client.eventLoop.makePromise(of: TLSSessionInfo.self)
            let handler = TLSHandler(context, serverName: serverName, promise: promise) { presented in
                var trust = VerifiedTrust(chain: presented.certificates, pins: [], isPinned: false)
                trust.awaitsStaple = false
                return .accepted(trust)
            }
            do {
                try client.pipeline.syncOperations.addHandler(handler)
                try client.pipeline.syncOperations.addHandler(Recorder(clientContinuation, { _ in }))
            } catch {
                promise.fail(error)
            }
            return promise.futureResult
        }.get()
        #expect(info.version == (version == .tls13 ? "TLSv1.3" : "TLSv1.2"))
        #expect(info.applicationProtocol == "http/1.1")
        use(client)
        let events = (server: await all(seenByServer), client: await all(seenByClient))
        try await client.closeFuture.get()
        try await listener.close()
        return events
    }

    private func all(_ events: AsyncStream<Seen>) async -> [Seen] {
        await events.reduce(into: []) { $0.append($1) }
    }

    /// Closes a channel below TLS, without close_notify.
    private static func abandon<Handler: ChannelHandler & SendableMetatype>(_ channel: any Channel, below: Handler.Type)
    {
        channel.eventLoop.execute {
            try? channel.pipeline.syncOperations.context(handlerType: Handler.self).close(promise: nil)
        }
    }

    /// Passes on what it has received once that is a large read.
    private final class Gatherer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer
        private let size: Int
        private var gathered = ByteBuffer()

        init(_ size: Int) { self.size = size }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            gathered.writeBuffer(&bytes)
            guard let read = gathered.readSlice(length: size) else { return }
            context.fireChannelRead(wrapInboundOut(read))
        }
    }

    /// Not for the handshake and small transfers, since a connection may stay unused afterwards.
    @Test func openSSLsBuffersAreKeptForMuchOrForAnotherRequest() async throws {
        let kept = Mutex<[Bool?]>([])
        _ = try await converse { _ in
        } client: { client in
            client.eventLoop.execute {
                let operations = client.pipeline.syncOperations
                let handler = try? operations.handler(type: TLSHandler.self)
                func note() { kept.withLock { $0.append(handler?.connection?.keepsBuffers) } }
                note()
                operations.writeAndFlush(NIOAny(ByteBuffer(string: "small")), promise: nil)
                note()
                operations.triggerUserOutboundEvent(ConnectionIsReused(), promise: nil)
                note()
                operations.triggerUserOutboundEvent(ConnectionRests(), promise: nil)
                note()
                let many = ByteBuffer(repeating: 0, count: TLSHandler.manyBytes)
                operations.writeAndFlush(NIOAny(many), promise: nil)
                note()
                client.close(promise: nil)
            }
        }
        #expect(kept.withLock(\.self) == [false, false, true, false, true])
    }

    /// Notes whether the buffers are kept when the first bytes arrive, and closes.
    private final class Observer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let handler: TLSHandler
        private let note: (Bool?) -> Void

        init(_ handler: TLSHandler, _ note: @escaping (Bool?) -> Void) {
            self.handler = handler
            self.note = note
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            note(handler.connection?.keepsBuffers)
            context.close(promise: nil)
        }
    }

    @Test(arguments: [true, false]) func openSSLsBuffersAreKeptAfterALargeRead(isLarge: Bool) async throws {
        let servers = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: (any Channel).self)
        let kept = EventRecorder<Bool?>()
        let size = isLarge ? TLSHandler.manyBytes : 30_000
        _ = try await converse { server in
            servers.succeed(server)
        } client: { client in
            client.eventLoop.execute {
                let operations = client.pipeline.syncOperations
                guard let handler = try? operations.handler(type: TLSHandler.self) else { return }
                try? operations.addHandler(Gatherer(size), position: .first)
                try? operations.addHandler(Observer(handler) { kept.record($0) }, position: .after(handler))
                servers.futureResult.whenSuccess { server in
                    server.writeAndFlush(ByteBuffer(repeating: 97, count: size), promise: nil)
                }
            }
        }
        #expect(try await kept.wait(count: 1) == [isLarge])
    }

    @Test(arguments: [TransportConfiguration.TLS.Version.tls12, .tls13])
    func aCloseIsAnnounced(version: TransportConfiguration.TLS.Version) async throws {
        let seen = try await converse(version: version) { _ in
        } client: { client in
            client.writeAndFlush(ByteBuffer(string: "bye"), promise: nil)
            client.close(promise: nil)
        }
        #expect(seen.server == [.serverName("localhost"), .bytes("bye"), .inactive])
    }

    /// RFC 8446, 6.1: each side sends close_notify before it closes its direction, in either order.
    @Test(arguments: [TransportConfiguration.TLS.Version.tls12, .tls13])
    func aCloseIsAnswered(version: TransportConfiguration.TLS.Version) async throws {
        let seen = try await converse(version: version) { server in
            // The server half-closes and waits for the client's end.
            server.close(mode: .output, promise: nil)
        }
        #expect(seen.server == [.serverName("localhost"), .inactive])
        #expect(seen.client == [.inactive])
    }

    @Test(arguments: [TransportConfiguration.TLS.Version.tls12, .tls13])
    func anEndOfTheServerWithoutCloseNotifyIsATruncation(version: TransportConfiguration.TLS.Version) async throws {
        let seen = try await converse(version: version) { server in
            Self.abandon(server, below: TLSServerHandler.self)
        }
        #expect(seen.client == [.truncated, .inactive])
    }

    @Test(arguments: [TransportConfiguration.TLS.Version.tls12, .tls13])
    func theTestServerReportsAnEndOfItsClientWithoutCloseNotify(
        version: TransportConfiguration.TLS.Version
    ) async throws {
        let seen = try await converse(version: version) { _ in
        } client: { client in
            Self.abandon(client, below: TLSHandler.self)
        }
        #expect(seen.server == [.serverName("localhost"), .truncated, .inactive])
    }

    @Test func addressesAreNoServerNames() async throws {
        let seen = try await converse(serverName: nil) { _ in
        } client: {
            $0.close(promise: nil)
        }
        #expect(seen.server.first == .serverName(nil))
    }

    /// Bytes that wait for the socket are plaintext, in one copy, and not ciphertext.
    @Test(arguments: [TransportConfiguration.TLS.Version.tls12, .tls13])
    func aLargeWriteIsEncryptedAtTheSocketsPace(version: TransportConfiguration.TLS.Version) async throws {
        let text = String(repeating: "0123456789abcdef", count: 1024 * 1024)
        let ciphertext = Mutex<Int?>(nil)
        let seen = try await converse(
            version: version,
            client: { client in
                client.eventLoop.execute {
                    // Small ones before and behind it keep their place.
                    client.write(ByteBuffer(string: "<"), promise: nil)
                    client.write(ByteBuffer(string: text), promise: nil)
                    client.writeAndFlush(ByteBuffer(string: ">")).whenComplete { _ in
                        client.close(mode: .output, promise: nil)
                    }
                    let waiting = try? client.syncOptions?.getOption(.bufferedWritableBytes)
                    ciphertext.withLock { $0 = waiting }
                }
            })
        let waiting = try #require(ciphertext.withLock { $0 })
        #expect(waiting < 1024 * 1024)
        let received = seen.server.reduce(into: "") { all, event in
            if case .bytes(let bytes) = event { all += bytes }
        }
        #expect(received.utf8.count == text.utf8.count + 2)
        let isInOrder = received == "<" + text + ">"
        #expect(isInOrder)
    }
}
