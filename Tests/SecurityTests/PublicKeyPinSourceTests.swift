import CommandSupport
import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Testing

/// Pins of certificates and keys equal the results of the openssl tool.
@Suite("Pins from keys and certificates", .timeLimit(.minutes(1)))
struct PublicKeyPinSourceTests {
    private func opensslPin(certificate path: String) throws -> String {
        let script = """
            openssl x509 -in "$1" -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary
            """
        return "sha256/" + (try Command.run("sh", "-c", script, "sh", path)).output.base64EncodedString()
    }

    @Test(arguments: TestPKI.KeyKind.allCases + [.ed448, .rsaPSS2048])
    func allFormsOfAKeyHaveTheSamePin(kind: TestPKI.KeyKind) async throws {
        let identity = try TestPKI.selfSigned { $0.key = kind }
        try await Scratch.with { scratch in
            let certificate = try scratch.write("certificate.pem", identity.certificateChainPEM)
            let key = try scratch.write("key.pem", identity.privateKeyPEM)
            let expected = try opensslPin(certificate: certificate)
            #expect(expected.count == 51)
            #expect(identity.pin.description == expected)
            #expect(identity.certificate.summary.publicKeyPin == identity.pin)
            #expect(PublicKeyPin(certificate: identity.certificate) == identity.pin)
            #expect(try PublicKeyPin(certificate: X509Certificate(der: identity.certificate.derBytes)) == identity.pin)

            let forms: [(name: String, arguments: [String])] =
                [
                    ("public.pem", ["-pubout"]), ("public.der", ["-pubout", "-outform", "der"]),
                    ("private.der", ["-outform", "der"]),
                ] + ([.ed25519, .ed448, .rsaPSS2048].contains(kind) ? [] : [("traditional.pem", ["-traditional"])])
            for form in forms {
                let script =
                    "openssl pkey -in \(key) -out \(scratch.file(form.name)) \(form.arguments.joined(separator: " "))"
                #expect(try Command.run("sh", "-c", script).status == 0)
                #expect(try PublicKeyPin(key: scratch.read(form.name)).description == expected, "\(form.name)")
            }
            #expect(try PublicKeyPin(key: Data(identity.privateKeyPEM.utf8)).description == expected)
            #expect(try PublicKeyPin(key: Data(identity.certificateChainPEM.utf8)).description == expected)
            #expect(try PublicKeyPin(key: identity.certificate.derBytes).description == expected)
        }
    }

    @Test func differentKeysHaveDifferentPins() throws {
        let pki = try TestPKI()
        let pins = try [pki.root.publicKeyPin, pki.intermediate.publicKeyPin, pki.identity().pin, pki.identity().pin]
        #expect(Set(pins).count == 4)
    }

    @Test func textAroundAKeyIsIgnored() throws {
        let identity = try TestPKI.selfSigned()
        let text = "A key for\nlocalhost:\n\(identity.privateKeyPEM)\nand no more.\n"
        #expect(try PublicKeyPin(key: Data(text.utf8)) == identity.pin)
    }

    @Test func invalidKeysAreRefused() throws {
        let identity = try TestPKI.selfSigned()
        let pem = identity.privateKeyPEM
        let bytes: [Data] = [
            Data(), Data([0x30]), Data([0x30, 0x03, 0x02, 0x01, 0x00]), Data("no key".utf8),
            Data("-----BEGIN PUBLIC KEY-----\n".utf8), Data("-----BEGIN X-----\nAAAA\n-----END X-----\n".utf8),
            Data(pem.utf8.prefix(pem.utf8.count / 2)), identity.certificate.derBytes.dropLast(),
            identity.certificate.derBytes + Data([0]),
        ]
        for bytes in bytes {
            let error = #expect(throws: SecurityError.self) { try PublicKeyPin(key: bytes) }
            #expect(error?.code == .invalidKey)
        }
    }

    @Test(arguments: [["-pubout"], []])
    func bytesAfterAKeyInDERAreRefused(arguments: [String]) async throws {
        let identity = try TestPKI.selfSigned()
        try await Scratch.with { scratch in
            let key = try scratch.write("key.pem", identity.privateKeyPEM)
            let script = "openssl pkey -in \(key) -outform der \(arguments.joined(separator: " "))"
            let der = try Command.run("sh", "-c", script).output
            #expect(try PublicKeyPin(key: der) == identity.pin)
            let error = #expect(throws: SecurityError.self) { try PublicKeyPin(key: der + Data([0])) }
            #expect(error?.code == .invalidKey)
        }
    }

    @Test(arguments: ["pem", "der"])
    func encryptedKeyIsRefusedWithoutAPrompt(form: String) async throws {
        let identity = try TestPKI.selfSigned()
        try await Scratch.with { scratch in
            let key = try scratch.write("key.pem", identity.privateKeyPEM)
            let made = try Command.run(
                "openssl", "pkcs8", "-topk8", "-in", key, "-outform", form, "-passout", "pass:secret", "-out",
                scratch.file("encrypted"))
            #expect(made.status == 0)
            let error = #expect(throws: SecurityError.self) { try PublicKeyPin(key: scratch.read("encrypted")) }
            #expect(error?.code == .invalidKey)
        }
    }
}
