import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetTesting
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import LinnetTransport

/// A client certificate is sent after the final decision on the server, also if the stapled response follows the chain
/// (TLS 1.2).
@Suite("The order of verdicts and client certificates", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct ClientCertificateOrderTests {
    /// Everything that a server receives, before TLS.
    private final class Wire: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let bytes: Mutex<[UInt8]>

        init() { bytes = Mutex([]) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            bytes.withLock { $0.append(contentsOf: buffer.readableBytesView) }
            context.fireChannelRead(data)
        }
    }

    /// Ends a connection as soon as its handshake is over.
    private final class Closer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted? = event as? TLSServerEvent { context.close(promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    private struct Outcome {
        var error: TransportError?
        /// Whether the client's certificate went over the wire, where TLS 1.2 does not encrypt it.
        var isCertificateShown: Bool
        var chosen: Int
    }

    private let servers: TestPKI
    private let clients: TestPKI

    init() throws {
        servers = try TestPKI()
        clients = try TestPKI(named: "Clients")
    }

    private func connect(promisesStaple: Bool, staple: Bool = false, asks: Bool = false) async throws -> Outcome {
        let server = try servers.identity { $0.promisesStaple = promisesStaple }
        let minted = try clients.clientIdentity()
        let identity = try minted.clientIdentity()
        let context = try TLSServerContext(
            server, maximumVersion: .tls12, stapledOCSPResponse: staple ? try servers.ocspResponse(about: server) : nil,
            clientCertificates: .required(issuedBy: [clients.root]))
        let wire = Wire()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(wire, TLSServerHandler(context), Closer())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let chosen = EventRecorder<Bool>()
        let anchors = try TrustAnchors.certificates([servers.root])
        let error = try await withTransport({
            $0.securityPolicy = .systemTrust(anchors: anchors)
            $0.clientIdentities = .everyHost(identity)
            if asks {
                $0.clientIdentities = $0.clientIdentities.asking { _, proposed in
                    chosen.record(true)
                    return proposed
                }
            }
        }) { transport in
            let head = HTTPRequest(method: .get, scheme: "https", authority: "localhost:\(port)", path: "/")
            return await failure { () async throws(TransportError) in
                try await transport.send(TransportRequest(head: head))
            }
        }
        try await listener.close()
        let der = Array(minted.certificate.derBytes)
        return Outcome(
            error: error, isCertificateShown: wire.bytes.withLock { $0.firstRange(of: der) != nil },
            chosen: chosen.events.count)
    }

    @Test(arguments: [false, true])
    func aMissingStapleIsRefusedFirst(asks: Bool) async throws {
        let outcome = try await connect(promisesStaple: true, asks: asks)
        #expect(outcome.error?.trustRefusal?.reason == .stapleMissing, "\(String(describing: outcome.error))")
        #expect(!outcome.isCertificateShown)
        #expect(outcome.chosen == 0)
    }

    @Test(arguments: [(false, false), (true, false), (false, true), (true, true)])
    func aServerWithAPromisedStapleReceivesTheCertificate(promisesStaple: Bool, asks: Bool) async throws {
        let outcome = try await connect(promisesStaple: promisesStaple, staple: true, asks: asks)
        #expect(outcome.error?.code != .trustRefused, "\(String(describing: outcome.error))")
        #expect(outcome.isCertificateShown)
        // Once for each connection; the server ends them, and the request may be tried on a second one.
        #expect((outcome.chosen > 0) == asks)
    }
}
