import ArgumentParser
import FoundationEssentials
import Linnet

/// Requests a URL from a server that requires a client certificate (mutual TLS).
@main
struct MutualTLS: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "recipe-mutual-tls")

    @Argument(help: "The URL, with https.")
    var url: String

    @Option(help: "The client's certificate with its chain, in PEM or DER.")
    var certificate: String

    @Option(help: "The private key. The environment has its passphrase, PASSPHRASE.")
    var key: String

    @Option(help: "A file with the certificates of additional authorities.")
    var authority: String?

    func run() async throws {
        let passphrase = ProcessInfo.processInfo.environment["PASSPHRASE"]
        let identity = try ClientIdentity.files(certificates: certificate, privateKey: key, passphrase: passphrase)
        for finding in identity.findings() { print("warning: \(finding)") }
        let anchors: TrustAnchors = try authority.map { try .file($0) } ?? .system
        let host = URL(string: url)?.host() ?? ""
        let session = try HTTPSession {
            $0.securityPolicy = .everyHost(.systemTrust(anchors: anchors))
            // The certificate reveals who the client is, so that it is for this host alone.
            $0.clientIdentities = try ClientIdentityPolicy(rules: [.init(host, identity)])
        }
        do {
            print(try await session.get(url).text())
        } catch {
            guard error.code == .clientCertificateRefused else { throw error }
            print("refused: \(error.message)")
            throw ExitCode.failure
        }
        await session.shutdown()
    }
}
