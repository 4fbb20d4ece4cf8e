import CommandSupport
import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Testing

@Suite("Certificate parsing", .timeLimit(.minutes(1)))
struct CertificateParsingTests {
    private let pki: TestPKI
    private let identity: TestPKI.Identity

    init() throws {
        pki = try TestPKI(named: "Parsing")
        identity = try pki.identity()
    }

    @Test func identifyingFieldsAreRead() throws {
        let leaf = try X509Certificate(der: identity.certificate.derBytes)
        #expect(leaf == identity.certificate)
        #expect(leaf.hashValue == identity.certificate.hashValue)
        #expect(leaf.subject == "CN=localhost")
        #expect(leaf.issuer == "CN=Parsing Intermediate")
        #expect(pki.root.subject == pki.root.issuer)
        #expect(leaf.notBefore < .now && .now < leaf.notAfter)
        #expect(abs(leaf.notAfter.timeIntervalSinceNow - 30 * 86_400) < 600)
        #expect(leaf.summary.subject == leaf.subject && leaf.summary.issuer == leaf.issuer)
        #expect(leaf.summary.notBefore == leaf.notBefore && leaf.summary.notAfter == leaf.notAfter)
        #expect(leaf.summary.serialNumber == leaf.serialNumber)
    }

    @Test func hostsAndKeyAreRead() throws {
        let other = try pki.identity {
            ($0.hosts, $0.addresses, $0.key) = (["a.example", "*.b.example"], ["192.0.2.1", "2001:db8::1"], .rsa2048)
        }
        #expect(other.certificate.hostNames == ["a.example", "*.b.example", "192.0.2.1", "2001:db8::1"])
        #expect(other.certificate.keyDescription == "RSA 2048")
        #expect(identity.certificate.keyDescription == "P-256")
        #expect(pki.root.hostNames == [])
        var template = CertificateTemplate.server()
        template.set(
            "2.5.29.17",
            ASN1.sequence(
                ASN1.address([192, 0, 2]), ASN1.address([192, 0, 2, 1, 0]), ASN1.host("a"), Part.mail("b@c")))
        #expect(try pki.forge(template).certificate.hostNames == ["a"])
    }

    @Test func serialNumberAndDatesEqualOpenSSLs() async throws {
        try await Scratch.with { scratch in
            let path = try scratch.write("leaf.der", identity.certificate.derBytes)
            let output = try Command.run(
                "openssl", "x509", "-inform", "der", "-in", path, "-noout", "-serial", "-dates", "-dateopt", "iso_8601"
            ).text.lowercased()
            let leaf = identity.certificate
            #expect(output.contains("serial=" + leaf.serialNumber.lowercased()))
            let start = leaf.notBefore.formatted(.iso8601).replacing("T", with: " ").lowercased()
            let end = leaf.notAfter.formatted(.iso8601).replacing("T", with: " ").lowercased()
            #expect(output.contains("notbefore=" + start))
            #expect(output.contains("notafter=" + end))
        }
    }

    // MARK: DER

    @Test func bytesThatAreNotACertificateAreRefused() {
        let der = identity.certificate.derBytes
        var flipped = der
        flipped[flipped.startIndex] = 0x31
        let cases = [
            Data(), Data([0x30, 0x80]), Data([0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), Data("certificate".utf8),
            der + Data([0]), der + der, der.dropLast(), der.dropFirst(), flipped,
        ]
        for bytes in cases {
            let error = #expect(throws: SecurityError.self) { try X509Certificate(der: bytes) }
            #expect(error?.code == .invalidCertificate)
        }
    }

    @Test func everyTruncationIsRefused() {
        let der = identity.certificate.derBytes
        for count in 0..<der.count {
            #expect(throws: SecurityError.self) { try X509Certificate(der: der.prefix(count)) }
        }
    }

    @Test func slicesOfDataAreRead() throws {
        let der = identity.certificate.derBytes
        let all = Data([1, 2, 3]) + der + Data([4])
        #expect(try X509Certificate(der: all[3..<(3 + der.count)]) == identity.certificate)
    }

    // MARK: PEM

    @Test func allCertificatesInATextAreReadInOrder() throws {
        let text = identity.certificateChainPEM + pki.rootPEM
        #expect(try X509Certificate.all(pem: Data(text.utf8)) == identity.chain + [pki.root])
        #expect(try X509Certificate(pem: text) == identity.certificate)
    }

    @Test func textAroundCertificatesIsIgnored() throws {
        let text = "# the root\nsubject=/CN=x\n\(pki.rootPEM)\n\n# the key\n\(identity.privateKeyPEM)# end"
        #expect(try X509Certificate.all(pem: Data(text.utf8)) == [pki.root])
        let windows = pki.rootPEM.replacing("\n", with: "\r\n")
        #expect(try X509Certificate(pem: windows) == pki.root)
        #expect(try X509Certificate(pem: String(pki.rootPEM.dropLast())) == pki.root)
    }

    @Test func oneInvalidCertificateInvalidatesTheText() {
        let root = pki.rootPEM
        let broken = [
            root.replacing("MI", with: "!!", maxReplacements: 1),
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\n",
            String(root.prefix(root.count / 2)), "-----BEGIN CERTIFICATE----\nAAAA\n-----END CERTIFICATE-----\n",
            root.replacing("-----END CERTIFICATE-----", with: "-----END X509 CRL-----"),
        ]
        for block in broken {
            for text in [block, root + block, root + block + root] {
                let error = #expect(throws: SecurityError.self, "\(text)") {
                    try X509Certificate.all(pem: Data(text.utf8))
                }
                #expect(error?.code == .invalidCertificate)
            }
        }
    }

    @Test func certificateAfterAByteOrderMarkIsRead() throws {
        let text = "\u{feff}" + identity.certificateChainPEM
        #expect(try X509Certificate.all(pem: Data(text.utf8)) == identity.chain)
    }

    @Test(arguments: ["", "\n", "no certificate", "-----BEGIN CERTIFICATE----\n"])
    func textWithoutACertificateIsRefused(text: String) {
        let error = #expect(throws: SecurityError.self) { try X509Certificate(pem: text) }
        #expect(error?.code == .invalidCertificate)
    }

    // MARK: Files

    @Test func filesAreReadInPEMAndDER() async throws {
        try await Scratch.with { scratch in
            let pem = try scratch.write("chain.pem", "the chain\n" + identity.certificateChainPEM)
            let der = try scratch.write("root.der", pki.root.derBytes)
            #expect(try X509Certificate.all(contentsOfFile: pem) == identity.chain)
            #expect(try X509Certificate.all(contentsOfFile: der) == [pki.root])
        }
    }

    @Test func unreadableFilesAreReported() async throws {
        try await Scratch.with { scratch in
            let missing = scratch.file("missing.pem")
            let error = #expect(throws: SecurityError.self) { try X509Certificate.all(contentsOfFile: missing) }
            #expect(error?.code == .cannotReadFile)
            #expect(error?.message.contains(missing) == true)
            let empty = try scratch.write("empty.pem", "")
            let nothing = #expect(throws: SecurityError.self) { try X509Certificate.all(contentsOfFile: empty) }
            #expect(nothing?.code == .invalidCertificate)
        }
    }
}
