import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// Inputs that OpenSSL or a text comparison would accept.
@Suite("Strictness", .timeLimit(.minutes(1)))
struct StrictnessTests {
    @Test(arguments: ["192.0.2", "192.0.2.256", "192.0.2.1.5", "1"])
    func malformedAddressPatternsAreRefused(_ text: String) {
        let error = #expect(throws: SecurityError.self) { try HostPattern(text) }
        #expect(error?.code == .invalidPattern)
    }

    @Test(arguments: ["bücher.example", "*.bücher.example", "\u{212A}elvin.example", "example\u{3002}com"])
    func nonASCIINamesAreRefusedWithAHint(_ text: String) {
        let error = #expect(throws: SecurityError.self) { try HostPattern(text) }
        #expect(error?.code == .invalidPattern)
        #expect(error?.message.contains("xn--") == true)
    }

    @Test(arguments: [
        "\u{212A}elvin.example", "kelvin.example\u{0}", "kelvin.example..", "ke lvin.example", "[::1]", "",
    ])
    func invalidHostsDoNotBypassRules(_ host: String) async throws {
        let policy = try SecurityPolicy(
            rules: [HostRule("kelvin.example", .refuse)],
            otherHosts: .insecureAcceptAnyCertificate)
        #expect(await policy.evaluate(try TestPKI().identity().trust(host)).refusal?.reason == .hostRefused)
        #expect(try !HostPattern("kelvin.example").matches(host))
    }

    @Test func mostSpecificPatternComesFirst() throws {
        let ranked = [
            "a.b.example.com", "*.b.example.com", "**.b.example.com", "*.example.com", "**.example.com", "**.com",
        ]
        let patterns = try ranked.reversed().map { try HostPattern($0) }
        #expect(patterns.sorted { $0.specificity > $1.specificity }.map(\.description) == ranked)
    }

    @Test func weakKeysAreRefused() async throws {
        let pki = try TestPKI()
        let weak = try pki.identity { $0.key = .rsa1024 }
        let evaluator = try StandardTrustEvaluator.pins([weak.pin], anchors: pki.anchors)
        #expect(await evaluator.refusal(of: weak.chain)?.reason == .rsaKeySize)
    }

    @Test func serverCertificateCannotIssueCertificates() async throws {
        let pki = try TestPKI()
        let forged = try pki.identity(issuedBy: pki.identity { $0.hosts = ["evil.test"] })
        let evaluator = try StandardTrustEvaluator.pins([pki.root.publicKeyPin], anchors: pki.anchors)
        #expect(await evaluator.refusal(of: forged.chain)?.reason == .invalidPurpose)
    }

    @Test func encryptedCertificateIsRefusedWithoutAPrompt() throws {
        let header = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\n"
        let line = "-----BEGIN CERTIFICATE-----\n"
        let text = try TestPKI().rootPEM.replacing(line, with: line + header)
        #expect(throws: SecurityError.self) { try X509Certificate(pem: text) }
    }

    @Test func verifiedChainIsKeptWhenACombinedEvaluatorFollows() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity()
        let pinning = try StandardTrustEvaluator.pins([identity.pin], anchors: pki.anchors)
        let system = StandardTrustEvaluator.systemTrust(anchors: try pki.anchors)
        let verified = [identity.certificate, pki.intermediate, pki.root].map(\.derBytes)
        for evaluator in [
            StandardTrustEvaluator.allOf(system, .hostname), StandardTrustEvaluator.allOf(.hostname, system),
            StandardTrustEvaluator.allOf(pinning, .hostname), StandardTrustEvaluator.allOf(.hostname, system, pinning),
        ] {
            let trust = await evaluator.trust(in: identity.chain)
            #expect(trust?.chain == verified)
            #expect(trust?.isPinned == evaluator.isPinning)
        }
    }
}
