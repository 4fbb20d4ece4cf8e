import CommandSupport
import FoundationEssentials
import HTTPTypes
import Linnet
import LinnetTransport
import Testing

/// TLS with other implementations: nginx, and `openssl s_server` with `openssl ocsp`.
@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(3)))
struct TLSPeerTests {
    static let versions = [TransportConfiguration.TLS.Version.tls12, .tls13]

    private func status(
        _ server: Server, policy: SecurityPolicy? = nil,
        _ configure: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) async throws -> Int {
        try await server.withSession(policy: policy, configure) { session in
            try await session.get("1k").response().head.status.code
        }
    }

    private func error(
        _ server: Server, policy: SecurityPolicy? = nil,
        _ configure: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) async throws -> SessionError? {
        do {
            _ = try await status(server, policy: policy, configure)
            return nil
        } catch let error as SessionError {
            return error
        }
    }

    private func requiringStaple() throws -> SecurityPolicy {
        var profile = ChainProfile.strict
        profile.revocation.failure = .hardForLeaf
        return .everyHost(.systemTrust(anchors: try Environment.anchors, profile: profile))
    }

    // MARK: Keys

    @Test(arguments: [(Server.rsa, "rsa"), (.p384, "p384"), (.ed25519, "ed25519")], versions)
    func everyKindOfKeyIsTrustedAndPinned(
        peer: (server: Server, name: String), version: TransportConfiguration.TLS.Version
    ) async throws {
        let pin = try Environment.certificate(peer.name).publicKeyPin
        let pinned = try SecurityPolicy.publicKeyPins([pin], anchors: Environment.anchors)
        for policy in [nil, pinned] {
            #expect(try await status(peer.server, policy: policy) { $0.tls.maximumVersion = version } == 200)
        }
        let other = try SecurityPolicy.publicKeyPins([Environment.pin], anchors: Environment.anchors)
        #expect(try await error(peer.server, policy: other)?.trustRefusal?.reason == .pinMismatch)
    }

    @Test func theServersOnlyKeyExchangeGroupIsNegotiated() async throws {
        for (groups, fits) in [("P-384", true), ("X25519:P-384", true), ("X25519", false), ("P-256:P-521", false)] {
            let error = try await error(.sServerP384) { $0.tls.groups = groups }
            #expect(error?.code == (fits ? nil : .tlsFailed), "\(groups)")
        }
    }

    /// An environment variable does not make a deployed program log its keys.
    @Test(.enabled(if: BuiltProgram.linnetRequest.exists, "linnet-request is not beside the tests"))
    func noEnvironmentVariableEnablesKeyLogging() async throws {
        let log = FileManager.default.temporaryDirectory.appending(path: "linnet-keys-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: log) }
        let authority = try Environment.value(of: "LINNET_TEST_CA")
        let run = try await BuiltProgram.linnetRequest.run(
            [try Server.tls.url.appending(path: "1k").absoluteString, "--cacert", authority],
            environment: ["SSLKEYLOGFILE": log])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == ServedFile.small.bytes)
        #expect(!FileManager.default.fileExists(atPath: log))
    }

    @Test(
        .enabled(if: BuiltProgram.linnetRequest.exists, "linnet-request is not beside the tests"),
        arguments: [([], "h2"), (["--http1"], "http/1.1")])
    func theToolUsesTheRequestedHTTPVersion(options: [String], version: String) async throws {
        let url = try Server(variable: "LINNET_TEST_NGINX_H2").url.appending(path: "1k").absoluteString
        let authority = try Environment.value(of: "LINNET_TEST_CA")
        let run = try await BuiltProgram.linnetRequest.run([url, "--cacert", authority] + options, environment: [:])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("protocol     \(version)\n"))
    }

    // MARK: Chains

    @Test func aMissingIntermediateIsRefused() async throws {
        let refusal = try await error(.noIntermediate)?.trustRefusal
        #expect(refusal?.reason == .unknownAuthority)
        let certificates = try ["root", "intermediate"].map { try Environment.certificate($0) }
        // The chain is accepted when the intermediate certificate is an anchor.
        #expect(
            try await status(.noIntermediate, policy: .systemTrust(anchors: .certificates(certificates))) == 200)
    }

    // MARK: Staples

    @Test(arguments: versions)
    func aRevokedCertificateIsRefusedByItsStaple(version: TransportConfiguration.TLS.Version) async throws {
        for policy in [nil, try requiringStaple()] {
            #expect(
                try await status(.sServerStapled, policy: policy) { $0.tls.maximumVersion = version } == 200)
            let revoked = try await error(.sServerRevoked, policy: policy) { $0.tls.maximumVersion = version }
            #expect(revoked?.trustRefusal?.reason == .revoked)
        }
    }

    @Test(arguments: versions)
    func aMissingRequiredStapleIsRefused(version: TransportConfiguration.TLS.Version) async throws {
        let error = try await error(.sServerUnstapled) { $0.tls.maximumVersion = version }
        #expect(error?.trustRefusal?.reason == .stapleMissing)
    }

    /// nginx queries its responder when a client requests a staple, and sends the staple to later clients.
    @Test func nginxsStapleIsAccepted() async throws {
        let policy = try requiringStaple()
        var reason: TrustRefusal.Reason?
        repeat {
            reason = try await error(.stapling, policy: policy)?.trustRefusal?.reason
            #expect(reason == nil || reason == .revocationUnknown)
        } while reason != nil
    }
}

extension Server {
    static let rsa = Server(variable: "LINNET_TEST_NGINX_RSA")
    static let p384 = Server(variable: "LINNET_TEST_NGINX_P384")
    static let ed25519 = Server(variable: "LINNET_TEST_NGINX_ED25519")
    static let noIntermediate = Server(variable: "LINNET_TEST_NGINX_NOINTERMEDIATE")
    static let client = Server(variable: "LINNET_TEST_NGINX_CLIENT")
    static let stapling = Server(variable: "LINNET_TEST_NGINX_STAPLING")
    static let sServerClient12 = Server(variable: "LINNET_TEST_S_SERVER_CLIENT12")
    static let sServerClient13 = Server(variable: "LINNET_TEST_S_SERVER_CLIENT13")
    static let sServerStapled = Server(variable: "LINNET_TEST_S_SERVER_STAPLED")
    static let sServerUnstapled = Server(variable: "LINNET_TEST_S_SERVER_UNSTAPLED")
    static let sServerRevoked = Server(variable: "LINNET_TEST_S_SERVER_REVOKED")
    static let sServerP384 = Server(variable: "LINNET_TEST_S_SERVER_P384")
    static let mitm = Server(variable: "LINNET_TEST_MITM")
}
