import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import NIOCore
import NIOPosix
import Synchronization

@testable import LinnetTransport

/// A server with replaceable ticket keys, and a client with sessions that use the test's clock.
struct ResumptionBench: Sendable {
    struct Outcome: Sendable {
        var info: TLSSessionInfo
        /// How often the judge was asked.
        var verdicts: Int
    }

    /// The time of day; each look at it can make it go on.
    final class ManualTime: Sendable {
        private let state = Mutex((now: Date(timeIntervalSince1970: 1_000_000_000), step: 0.0))

        func advance(by seconds: TimeInterval) { state.withLock { $0.now += seconds } }
        func advance(byEachLook step: TimeInterval) { state.withLock { $0.step = step } }
        func look() -> Date {
            state.withLock { state in
                defer { state.now += state.step }
                return state.now
            }
        }
    }

    private final class ServerSlot: Sendable {
        let context: Mutex<TLSServerContext>
        init(_ context: TLSServerContext) { self.context = Mutex(context) }
    }

    /// Greets the client, behind the tickets.
    private final class Greeter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard case .handshakeCompleted? = event as? TLSServerEvent else { return }
            context.channel.writeAndFlush(ByteBuffer(string: "hello"), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// Waits for the greeting.
    private final class Greeted: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let promise: EventLoopPromise<Void>

        init(_ promise: EventLoopPromise<Void>) { self.promise = promise }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { promise.succeed() }
        func channelInactive(context: ChannelHandlerContext) { promise.fail(ChannelError.eof) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    let cache: TLSSessionCache
    let time: ManualTime
    private let client: TLSClientContext
    private let identity: TestPKI.Identity
    private let slot: ServerSlot
    private let listener: any Channel
    private let policy = SecurityPolicy.insecureAcceptAnyCertificate

    /// Runs a test with a bench.
    static func run(
        _ version: TransportConfiguration.TLS.Version, perform: (ResumptionBench) async throws -> Void
    ) async throws {
        let bench = try await ResumptionBench(version)
        do {
            try await perform(bench)
            try await bench.listener.close()
        } catch {
            try await bench.listener.close()
            throw error
        }
    }

    private init(_ version: TransportConfiguration.TLS.Version) async throws {
        let time = ManualTime()
        self.time = time
        cache = TLSSessionCache { time.look() }
        var options = TransportConfiguration.TLS()
        options.maximumVersion = version
        client = try TLSClientContext(options, applicationProtocols: ["http/1.1"], sessions: cache)
        identity = try TestPKI.selfSigned()
        let slot = ServerSlot(try Self.serverContext(identity))
        self.slot = slot
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let context = slot.context.withLock { $0 }
                    try channel.pipeline.syncOperations.addHandler(TLSServerHandler(context))
                    try channel.pipeline.syncOperations.addHandler(Greeter())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    private static func serverContext(
        _ identity: TestPKI.Identity, issuesTickets: Bool = true
    ) throws -> TLSServerContext {
        try TLSServerContext(identity, issuesSessionTickets: issuesTickets)
    }

    /// Makes the server reject its earlier tickets.
    func renewServer(issuesTickets: Bool = true) throws {
        let context = try Self.serverContext(identity, issuesTickets: issuesTickets)
        slot.context.withLock { $0 = context }
    }

    /// Connects, waits for the server's greeting and closes the connection. The decision is valid for some seconds.
    ///
    /// - Parameter afterOffer: Called on the event loop between the client's and the server's hello.
    func connect(
        verdictHolds seconds: TimeInterval = 7 * 86_400,
        afterOffer: @escaping @Sendable (TLSResumption?) -> Void = { _ in }
    ) async throws -> Outcome {
        let counted = Counted()
        let validUntil = time.look() + seconds
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(to: address).get()
        let (client, policy) = (client, policy)
        do {
            let info = try await channel.eventLoop.flatSubmit {
                let promise = channel.eventLoop.makePromise(of: TLSSessionInfo.self)
                let greeted = channel.eventLoop.makePromise(of: Void.self)
                let resumption = client.resumption(host: "localhost", port: 443, policy: policy)
                let handler = TLSHandler(
                    client, serverName: "localhost", resumption: resumption, promise: promise
                ) { presented in
                    counted.increment()
                    var trust = VerifiedTrust(
                        chain: presented.certificates, pins: [], isPinned: true, validUntil: validUntil)
                    trust.awaitsStaple = false
                    return .accepted(trust)
                }
                do {
                    try channel.pipeline.syncOperations.addHandler(handler)
                    try channel.pipeline.syncOperations.addHandler(Greeted(greeted))
                } catch {
                    promise.fail(error)
                    greeted.fail(error)
                }
                afterOffer(resumption)
                return promise.futureResult.and(greeted.futureResult).map { $0.0 }
            }.get()
            try await channel.close()
            return Outcome(info: info, verdicts: counted.count)
        } catch {
            try? await channel.close()
            throw error
        }
    }

    private final class Counted: Sendable {
        private let value = Mutex(0)
        func increment() { value.withLock { $0 += 1 } }
        var count: Int { value.withLock { $0 } }
    }

    private var address: SocketAddress {
        get throws {
            guard let address = listener.localAddress else { throw ChannelError.unknownLocalAddress }
            return address
        }
    }
}
