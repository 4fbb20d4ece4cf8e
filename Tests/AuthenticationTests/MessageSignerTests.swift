import COpenSSL
import FoundationEssentials
import HTTPTypes
import LinnetMessages
import Testing

@testable import LinnetAuthentication

@Suite(.timeLimit(.minutes(1)))
struct MessageSignerTests {
    private static let created = Date(timeIntervalSince1970: 1_618_884_473)

    private func signer(
        _ key: ExampleKey, _ components: [SignatureComponent], label: String = "sig1", tag: String? = nil,
        lifetime: Duration? = nil, isVerbose: Bool = false
    ) throws -> MessageSigner {
        var signer = try MessageSigner(
            key.forSigning(), covering: components, keyID: "test-key-\(key)", label: label, tag: tag,
            lifetime: lifetime, hasAlgorithm: isVerbose, hasNonce: isVerbose)
        signer.now = { Self.created }
        signer.makeNonce = { "b3k2pp5k7z" }
        return signer
    }

    /// B.2.6 from its parts.
    @Test func theFieldsOfTheRFCToTheByte() throws {
        let components: [SignatureComponent] = [
            .field(.date), .method, .path, .authority, .field(.contentType), .field(.contentLength),
        ]
        var message = try SignatureExampleTests.request()
        try signer(.ed25519, components, label: "sig-b26").sign(&message)
        let example = try #require(SignatureExampleTests.examples.last)
        #expect(message.fields[.signatureInput] == "sig-b26=\(example.input)")
        #expect(message.fields[.signature] == "sig-b26=:\(example.signature):")
    }

    @Test(arguments: ExampleKey.allCases)
    func allParametersAreInTheInput(key: ExampleKey) throws {
        var message = try SignatureExampleTests.request()
        message.fields[.signatureInput] = "other=()"
        message.fields[.signature] = "other=:AQID:"
        let signer = try signer(
            key, [.method, .targetURI, .contentDigest], tag: "a\"b\\", lifetime: .seconds(60), isVerbose: true)
        try signer.sign(&message)
        let algorithm = signer.key.algorithm
        #expect(
            message.fields[.signatureInput]?.hasPrefix(
                #"other=(), sig1=("@method" "@target-uri" "content-digest");created=1618884473;expires=1618884533"#
                    + #";keyid="test-key-\#(key)";alg="\#(algorithm)";nonce="b3k2pp5k7z";tag="a\"b\\""#) == true)
        let verifier = MessageSignatureVerifier(try key.forVerifying())
        try verifier.verify("sig1", of: message, at: Self.created.addingTimeInterval(60))
        #expect(throws: AuthenticationError.self) {
            try verifier.verify("sig1", of: message, at: Self.created.addingTimeInterval(61))
        }
        #expect(throws: AuthenticationError.self) { try verifier.verify("sig2", of: message) }
        #expect(throws: AuthenticationError.self) { try verifier.verify("other", of: message) }
    }

    @Test func aWrongSignerIsRefused() throws {
        let key = try ExampleKey.hmac.forSigning()
        let name = try #require(HTTPField.Name("A"))
        let wrong: [(MessageSigner.Type) throws -> MessageSigner] = [
            { try $0.init(key, covering: [], label: "Sig") }, { try $0.init(key, covering: [], label: "") },
            { try $0.init(key, covering: [], keyID: "ü") }, { try $0.init(key, covering: [], tag: "\n") },
            { try $0.init(key, covering: [], lifetime: .milliseconds(999)) },
            { try $0.init(key, covering: [], lifetime: .seconds(1e18)) },
            { try $0.init(key, covering: [.method, .method]) },
            { try $0.init(key, covering: [.field(name), .field(name)]) },
            { try $0.init(key, covering: [.field(name, member: "A")]) },
        ]
        for make in wrong {
            let error = #expect(throws: AuthenticationError.self) { try make(MessageSigner.self) }
            #expect(error?.code == .invalidSigner)
        }
        _ = try MessageSigner(key, covering: [.field(name), .bytes(of: name), .field(name, member: "a")])
    }

    @Test func aPublicKeyCannotSign() throws {
        var message = try SignatureExampleTests.request()
        let signer = try MessageSigner(ExampleKey.ed25519.forVerifying(), covering: [.method])
        let error = #expect(throws: AuthenticationError.self) { try signer.sign(&message) }
        #expect(error?.code == .invalidKey && !message.fields.contains(.signature))
    }
}

@Suite(.timeLimit(.minutes(1)))
struct SignatureKeyTests {
    /// The raw bytes of the keys of B.1.3 and B.1.4.
    @Test func aKeyOfRawBytesIsTheSame() throws {
        let seed = try #require(Data(base64Encoded: "n4Ni+HpISpVObnQMW0wOhCKROaIKqKtW/2ZYb2p9KcU="))
        let (own, other) = (try SignatureKey.ed25519(seed), try ExampleKey.ed25519.forSigning())
        #expect(own.handle.sign([1, 2], own.algorithm) == other.handle.sign([1, 2], other.algorithm))
        let number = try #require(Data(base64Encoded: "UpuF81l+kOxbjf7T4mNSv0r5tN67Gim7rnf6EFpcYDs="))
        let key = try SignatureKey.ecdsaP256(number)
        #expect(key.algorithm == .ecdsaP256SHA256)
        let signature = try #require(key.handle.sign([1, 2], key.algorithm))
        let verifying = try ExampleKey.p256.forVerifying()
        #expect(signature.count == 64)
        #expect(verifying.handle.verify(signature, of: [1, 2], key.algorithm))
        #expect(!verifying.handle.verify(signature, of: [1, 3], key.algorithm))
        #expect(!verifying.handle.verify(Array(signature.dropLast()), of: [1, 2], key.algorithm))
    }

    /// Numbers that begin with zeros are padded.
    @Test func eachSignatureOfP256Has64Bytes() throws {
        let (key, verifying) = (try ExampleKey.p256.forSigning(), try ExampleKey.p256.forVerifying())
        for byte in 0..<UInt8.max {
            let signature = try #require(key.handle.sign([byte], key.algorithm))
            #expect(signature.count == 64 && verifying.handle.verify(signature, of: [byte], key.algorithm))
        }
    }

    @Test func aKeyIsInDERToo() throws {
        let pem = ExampleKey.ed25519.privatePEM.split(separator: "\n")
        let der = try #require(Data(base64Encoded: String(pem[1])))
        #expect(try SignatureKey(privateKey: der).algorithm == .ed25519)
    }

    @Test func aKeyThatCannotSignIsRefused() throws {
        let wrong: [() throws -> SignatureKey] = [
            { try SignatureKey(privateKey: Data()) },
            { try SignatureKey(privateKey: Data("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----".utf8)) },
            { try SignatureKey(privateKey: Data(ExampleKey.p256.publicPEM.utf8)) },
            { try SignatureKey(privateKey: Data(repeating: 0x30, count: 100_000)) },
            { try SignatureKey(privateKey: try Self.pem(of: linnet_EVP_EC_gen("P-384"))) },
            { try SignatureKey(privateKey: try Self.pem(of: linnet_EVP_RSA_gen(1024))) },
            { try SignatureKey(privateKey: try Self.pem(of: linnet_EVP_ED448_gen())) },
            { try .ed25519(Data(count: 31)) }, { try .ecdsaP256(Data(count: 33)) },
            { try .ecdsaP256(Data(count: 32)) }, { try .ecdsaP256(Data(repeating: 0xFF, count: 32)) },
            { try .hmacSHA256(Data(count: 15)) },
        ]
        for (index, make) in wrong.enumerated() {
            let error = #expect(throws: AuthenticationError.self, "\(index)") { try make() }
            #expect(error?.code == .invalidKey)
        }
    }

    @Test func anEncryptedKeySaysSo() throws {
        for key in [linnet_EVP_ED25519_gen(), linnet_EVP_EC_gen("P-256")] {
            defer { EVP_PKEY_free(key) }
            let pem = try Self.text {
                PEM_write_bio_PrivateKey($0, key, EVP_aes_128_cbc(), [1, 2, 3, 4, 5, 6], 6, nil, nil) == 1
            }
            let error = #expect(throws: AuthenticationError.self) { try SignatureKey(privateKey: pem) }
            #expect(error?.code == .invalidKey && error?.message.contains("encrypted") == true)
        }
    }

    /// A key in PEM, which OpenSSL wrote.
    private static func pem(of key: OpaquePointer?) throws -> Data {
        defer { EVP_PKEY_free(key) }
        return try text { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) == 1 }
    }

    private static func text(_ write: (OpaquePointer) -> Bool) throws -> Data {
        let bio = try #require(BIO_new(BIO_s_mem()))
        defer { BIO_free(bio) }
        try #require(write(bio))
        var bytes: UnsafeMutablePointer<CChar>?
        let count = linnet_BIO_get_mem_data(bio, &bytes)
        return Data(bytes: try #require(bytes), count: count)
    }

    @Test func digestsHaveTheFormOfTheirField() throws {
        let hasher = try #require(DigestHasher(ContentDigest.Algorithm.sha512))
        Array(#"{"hello": "world"}"#.utf8).withUnsafeBytes { hasher.update($0) }
        let digest = ContentDigest(.sha512, hasher.finishBytes())
        #expect(digest.description == SignatureExampleTests.digest)
        #expect(digest.hexadecimal.count == 128)
    }
}
