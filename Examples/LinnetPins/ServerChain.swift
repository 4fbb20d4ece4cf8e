import ExampleSupport
import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetTransport
import Synchronization

/// Reads the certificate chain of a server.
///
/// The evaluator records and refuses every chain, so the handshake fails and no byte of a request is sent.
struct ServerChain {
    private final class Recorder: TrustEvaluator {
        private let seen = Mutex<ServerTrust?>(nil)

        var trust: ServerTrust? { seen.withLock { $0 } }

        func evaluate(_ trust: ServerTrust) async -> TrustDecision {
            seen.withLock { $0 = trust }
            return .refused(TrustRefusal(.hostRefused, "The chain was read.", trust: trust))
        }
    }

    /// A failure to read a server's chain.
    struct Unreachable: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns the chain that a server presents.
    static func read(_ host: HostAndPort, timeout: Duration) async throws -> ServerTrust {
        let recorder = Recorder()
        var configuration = TransportConfiguration()
        configuration.securityPolicy = .everyHost(recorder)
        configuration.timeouts.connect = timeout
        configuration.timeouts.tlsHandshake = timeout
        let transport = try HTTPTransport(configuration)
        let head = HTTPRequest(method: .head, scheme: "https", authority: host.description, path: "/")
        do {
            _ = try await transport.send(TransportRequest(head: head))
        } catch {
            await transport.shutdown(.immediate)
            guard let trust = recorder.trust else { throw Unreachable(description: "\(host): \(error.message)") }
            return trust
        }
        await transport.shutdown(.immediate)
        throw Unreachable(description: "\(host): the server presented no certificates.")
    }
}
