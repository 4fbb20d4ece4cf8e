import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import LinnetTransport

/// Two handlers over a socket, without HTTP.
@Suite("TLS handlers", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct TLSHandlerTests {
    /// What a server sees of its client.
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
            if let event = event as? TLSHandshakeCompleted {
                continuation.yield(.serverName(event.serverName))
                onHandshake(context.channel)
            }
            if event is TLSTruncated { continuation.yield(.truncated) }
        }

        func channelInactive(context: ChannelHandlerContext) {
            continuation.yield(.inactive)
            continuation.finish()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// Connects a client that accepts any certificate; returns what the server saw.
    private func converse(
        serverName: String? = "localhost", version: TLSOptions.Version = .tls13,
        onHandshake: @escaping @Sendable (any Channel) -> Void = { _ in },
        client use: @escaping @Sendable (any Channel) -> Void = { _ in }
    ) async throws -> [Seen] {
        let identity = try TestPKI.selfSigned()
        let server = try TLSServerContext(
            certificateChainPEM: identity.certificateChainPEM, privateKeyPEM: identity.privateKeyPEM)
        let (seen, continuation) = AsyncStream<Seen>.makeStream()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(TLSHandler(server: server))
                    try channel.pipeline.syncOperations.addHandler(Recorder(continuation, onHandshake))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        var options = TLSOptions()
        options.maximumVersion = version
        let context = try TLSClientContext(options, applicationProtocols: ["http/1.1"])
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(to: try #require(listener.localAddress)).get()
        let info = try await client.eventLoop.flatSubmit {
            let promise = client.eventLoop.makePromise(of: TLSSessionInfo.self)
            let handler = TLSHandler(client: context, serverName: serverName, promise: promise) { presented in
                var trust = VerifiedTrust(chain: presented.certificates, pins: [], isPinned: false)
                trust.awaitsStaple = false
                return .accepted(trust)
            }
            do {
                try client.pipeline.syncOperations.addHandler(handler)
            } catch {
                promise.fail(error)
            }
            return promise.futureResult
        }.get()
        #expect(info.version == (version == .tls13 ? "TLSv1.3" : "TLSv1.2"))
        #expect(info.applicationProtocol == "http/1.1")
        use(client)
        var all: [Seen] = []
        for await event in seen { all.append(event) }
        try await client.closeFuture.get()
        try await listener.close()
        return all
    }

    @Test(arguments: [TLSOptions.Version.tls12, .tls13])
    func aCloseIsAnnounced(version: TLSOptions.Version) async throws {
        let seen = try await converse(version: version) { _ in
        } client: { client in
            client.writeAndFlush(ByteBuffer(string: "bye"), promise: nil)
            client.close(promise: nil)
        }
        #expect(seen == [.serverName("localhost"), .bytes("bye"), .inactive])
    }

    /// RFC 8446, 6.1: each side sends close_notify before it closes its direction, in either order.
    @Test(arguments: [TLSOptions.Version.tls12, .tls13])
    func aCloseIsAnswered(version: TLSOptions.Version) async throws {
        let seen = try await converse(version: version) { server in
            // The server half-closes and waits for the client's end.
            server.close(mode: .output, promise: nil)
        }
        #expect(seen == [.serverName("localhost"), .inactive])
    }

    @Test func anEndWithoutWordsIsATruncation() async throws {
        let seen = try await converse { _ in
        } client: { client in
            client.triggerUserOutboundEvent(TLSAbandon(), promise: nil)
            client.close(promise: nil)
        }
        #expect(seen == [.serverName("localhost"), .truncated, .inactive])
    }

    @Test func addressesAreNoServerNames() async throws {
        let seen = try await converse(serverName: nil) { _ in
        } client: {
            $0.close(promise: nil)
        }
        #expect(seen.first == .serverName(nil))
    }

    /// Bytes that wait for the socket are plaintext, in one copy, and not ciphertext.
    @Test(arguments: [TLSOptions.Version.tls12, .tls13])
    func aLargeWriteIsEncryptedAsTheSocketTakesIt(version: TLSOptions.Version) async throws {
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
        let received = seen.reduce(into: "") { all, event in
            if case .bytes(let bytes) = event { all += bytes }
        }
        #expect(received.utf8.count == text.utf8.count + 2)
        let isInOrder = received == "<" + text + ">"
        #expect(isInOrder)
    }
}
