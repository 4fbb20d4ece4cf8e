import FoundationEssentials
import Glibc
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import Testing

@Suite("TLS options", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct TLSOptionsTests {
    private func exchange(
        _ identity: TestPKI.Identity, _ options: TransportConfiguration.TLS
    ) async throws -> Result<TransportMetrics, TransportError> {
        let configuration = MockServer.Configuration { $0.hostName = "localhost" }
        return try await withMockServer(tls: identity, configuration: configuration) { _ in
            .text("ok")
        } perform: { server in
            try await withTransport({
                $0.securityPolicy = .insecureAcceptAnyCertificate
                $0.tls = options
            }) { transport in
                do throws(TransportError) {
                    return .success(try await transport.send(server.request()).metrics)
                } catch {
                    return .failure(error)
                }
            }
        }
    }

    private func options(_ configure: (inout TransportConfiguration.TLS) -> Void) -> TransportConfiguration.TLS {
        var options = TransportConfiguration.TLS()
        configure(&options)
        return options
    }

    // MARK: Refused at the start

    static let refused: [(String, @Sendable (inout TransportConfiguration.TLS) -> Void)] = [
        ("versions", { ($0.minimumVersion, $0.maximumVersion) = (.tls13, .tls12) }),
        ("cipherList", { $0.cipherList = "NO-SUCH-CIPHER" }),
        ("cipherList", { $0.cipherList = "" }),
        ("cipherList", { $0.cipherList = "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA255" }),
        ("cipherList", { $0.cipherList = "NULL:@SECLEVEL=0" }),
        ("cipherList", { $0.cipherList = "ADH-AES128-GCM-SHA256:@SECLEVEL=0" }),
        ("cipherSuites", { $0.cipherSuites = "TLS_NO_SUCH_SUITE" }),
        ("cipherSuites", { $0.cipherSuites = "TLS_AES_128_GCM_SHA256:TLS_NO_SUCH_SUITE" }),
        ("cipherSuites", { $0.cipherSuites = "ECDHE-RSA-AES128-GCM-SHA256" }),
        ("groups", { $0.groups = "X25519:P-257" }),
        ("groups", { $0.groups = "" }),
        ("signatureAlgorithms", { $0.signatureAlgorithms = "ECDSA+SHA257" }),
        ("signatureAlgorithms", { $0.signatureAlgorithms = "" }),
        ("cipherSuites", { $0.cipherSuites = "" }),
        ("groups", { $0.groups = ":" }),
        ("signatureAlgorithms", { $0.signatureAlgorithms = " : " }),
        ("key log", { $0.keyLog = .insecureFile("/nonexistent/keys") }),
        ("key log", { $0.keyLog = .insecureFile("/") }),
    ]

    @Test(arguments: refused.indices)
    func optionsThatOpenSSLRefusesMakeNoTransport(index: Int) {
        var configuration = TransportConfiguration()
        Self.refused[index].1(&configuration.tls)
        let error = #expect(throws: TransportError.self) { try HTTPTransport(configuration) }
        #expect(error?.code == .invalidConfiguration)
        if index > 0 && !(error?.message.contains("does not encrypt") ?? false) {
            #expect(error?.message.contains(Self.refused[index].0) == true, "\(error?.message ?? "")")
        }
    }

    // MARK: Used

    @Test(arguments: [
        ("ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"),
        ("ECDHE+CHACHA20", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
    ])
    func aCipherListIsUsed(list: String, cipher: String) async throws {
        let result = try await exchange(
            try TestPKI.selfSigned(),
            options { ($0.maximumVersion, $0.cipherList) = (.tls12, list) })
        #expect(try result.get().tlsCipher == cipher)
    }

    @Test(arguments: ["TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"])
    func cipherSuitesAreUsed(suite: String) async throws {
        let result = try await exchange(try TestPKI.selfSigned(), options { $0.cipherSuites = suite })
        #expect(try result.get().tlsCipher == suite)
    }

    @Test(arguments: [
        (TestPKI.KeyKind.p256, "ECDSA+SHA256", true), (.p256, "ed25519", false), (.ed25519, "ed25519", true),
        (.rsa2048, "rsa_pss_rsae_sha256", true), (.rsa2048, "ECDSA+SHA256:ed25519", false),
    ])
    func signatureAlgorithmsAreUsed(key: TestPKI.KeyKind, algorithms: String, fits: Bool) async throws {
        let result = try await exchange(
            try TestPKI.selfSigned { $0.key = key }, options { $0.signatureAlgorithms = algorithms })
        switch result {
        case .success: #expect(fits)
        case .failure(let error):
            #expect(!fits)
            #expect(error.code == .tlsHandshakeFailed)
        }
    }

    @Test(arguments: ["X25519", "P-256:P-384", "P-521"])
    func groupsAreUsed(groups: String) async throws {
        let result = try await exchange(try TestPKI.selfSigned(), options { $0.groups = groups })
        #expect(try result.get().tlsVersion == "TLSv1.3")
    }

    // MARK: The log of keys

    /// The environment variable is only used with the option.
    @Test func theEnvironmentCanNameTheLog() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "linnet-keys-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let identity = try TestPKI.selfSigned()
        unsetenv("SSLKEYLOGFILE")
        #expect(try await !exchange(identity, options { $0.keyLog = .insecureEnvironment }).get().isKeyLogged)
        setenv("SSLKEYLOGFILE", path, 1)
        defer { unsetenv("SSLKEYLOGFILE") }
        #expect(try await !exchange(identity, TransportConfiguration.TLS()).get().isKeyLogged)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try await exchange(identity, options { $0.keyLog = .insecureEnvironment }).get().isKeyLogged)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test(arguments: [
        (TransportConfiguration.TLS.Version.tls12, ["CLIENT_RANDOM"]),
        (.tls13, ["CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_TRAFFIC_SECRET_0"]),
    ])
    func keysAreLoggedOnlyWhenThatIsAskedFor(
        version: TransportConfiguration.TLS.Version, labels: [String]
    ) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "linnet-keys-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let identity = try TestPKI.selfSigned()
        let silent = try await exchange(identity, options { $0.maximumVersion = version }).get()
        #expect(!silent.isKeyLogged)
        #expect(!FileManager.default.fileExists(atPath: path))
        let logged = try await exchange(
            identity, options { ($0.maximumVersion, $0.keyLog) = (version, .insecureFile(path)) }
        ).get()
        #expect(logged.isKeyLogged)
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        for label in labels { #expect(text.contains(label + " ")) }
        #expect(text.hasSuffix("\n"))
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
}
