import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Testing

/// Encrypted keys in files that would take minutes or days to read.
@Suite("The work of decrypting keys", .timeLimit(.minutes(2)))
struct KeyDerivationTests {
    private static let tooMany: Int64 = 10_000_001

    private func code(_ make: () throws -> ClientIdentity) -> SecurityError.Code? {
        do {
            _ = try make()
            return nil
        } catch {
            return (error as? SecurityError)?.code
        }
    }

    private func codes(key: [UInt8]) throws -> [SecurityError.Code?] {
        let certificates = Data(try TestPKI().clientIdentity(named: "alice").certificateChainPEM.utf8)
        let base64 = Data(key).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let pem = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n\(base64)\n-----END ENCRYPTED PRIVATE KEY-----\n"
        return [Data(key), Data(pem.utf8)].map { key in
            code { try ClientIdentity(certificates: certificates, privateKey: key, passphrase: "horse") }
        }
    }

    // MARK: Keys

    /// The bytes are no ciphertext, so that a passphrase that is tried is the wrong one.
    @Test(arguments: [
        (KeyEncryption.pbkdf2(iterations: 1000), SecurityError.Code.wrongPassphrase),
        (.pbkdf2(iterations: tooMany), .unsupportedEncryption),
        (.pbkdf2(iterations: 0x7FFF_FFFF), .unsupportedEncryption),
        (.pbkdf2(iterations: .max), .unsupportedEncryption),
        (.pkcs12(iterations: 1000), .wrongPassphrase),
        (.pkcs12(iterations: tooMany), .unsupportedEncryption),
        (.pkcs12(iterations: -1), .unsupportedEncryption),
        (.scrypt(cost: 16_384, blockSize: 8, parallelization: 1), .wrongPassphrase),
        (.scrypt(cost: 16_384, blockSize: 8, parallelization: 100), .unsupportedEncryption),
        (
            .scrypt(cost: 0x100_0000_0000, blockSize: 0x100_0000_0000, parallelization: 0x100_0000_0000),
            .unsupportedEncryption
        ),
    ])
    func aKeyWithTooManyIterationsIsRefused(encryption: KeyEncryption, expected: SecurityError.Code) throws {
        let codes = try codes(key: encryption.key)
        #expect(codes == [expected, expected])
    }

    @Test func withoutAPassphraseTooManyIterationsAreReportedToo() throws {
        let certificates = Data(try TestPKI().clientIdentity(named: "alice").certificateChainPEM.utf8)
        let key = Data(KeyEncryption.pbkdf2(iterations: Self.tooMany).key)
        do throws(SecurityError) {
            _ = try ClientIdentity(certificates: certificates, privateKey: key)
            Issue.record("The key was read.")
        } catch {
            #expect(error.code == .unsupportedEncryption)
            #expect(error.message.contains("10000000 iterations"))
        }
    }

    // MARK: PKCS#12

    @Test(arguments: [
        (EncryptedFile(mac: 1000), SecurityError.Code.wrongPassphrase),
        (EncryptedFile(mac: tooMany), .unsupportedEncryption),
        (EncryptedFile(mac: -1), .unsupportedEncryption),
        (EncryptedFile(contents: .pkcs12(iterations: 1000), key: .pbkdf2(iterations: 1000)), .wrongPassphrase),
        (EncryptedFile(contents: .pkcs12(iterations: tooMany)), .unsupportedEncryption),
        (EncryptedFile(contents: .pbkdf2(iterations: tooMany)), .unsupportedEncryption),
        (EncryptedFile(key: .pkcs12(iterations: tooMany)), .unsupportedEncryption),
        (EncryptedFile(key: .pbkdf2(iterations: tooMany)), .unsupportedEncryption),
        (EncryptedFile(key: .pbkdf2(iterations: tooMany), nesting: 2), .unsupportedEncryption),
        (
            EncryptedFile(
                mac: 4_000_000, contents: .pkcs12(iterations: 4_000_000), key: .pbkdf2(iterations: 4_000_000)),
            .unsupportedEncryption
        ),
    ])
    func aFileWithTooManyIterationsIsRefused(file: EncryptedFile, expected: SecurityError.Code) {
        let code = code { try ClientIdentity(pkcs12: Data(file.bytes), passphrase: "horse") }
        #expect(code == expected)
    }

    // MARK: Sizes

    @Test func bytesOfMoreThanAMebibyteAreRefused() throws {
        let minted = try TestPKI().clientIdentity(named: "alice")
        let certificates = Data(minted.certificateChainPEM.utf8)
        let key = Data(minted.privateKeyPEM.utf8)
        let bundle = try minted.pkcs12(passphrase: "horse")
        // The rest is ignored.
        func filled(_ data: Data, _ count: Int) -> Data { data + Data(repeating: 0x0A, count: count - data.count) }
        let cases: [(Int, [SecurityError.Code?])] = [
            (1 << 20, [nil, nil]), (1 << 20 + 1, [.invalidKey, .invalidIdentity]),
        ]
        for (count, expected) in cases {
            let codes = [
                code { try ClientIdentity(certificates: certificates, privateKey: filled(key, count)) },
                code { try ClientIdentity(pkcs12: filled(bundle, count), passphrase: "horse") },
            ]
            #expect(codes == expected)
        }
    }
}

/// Password-based encryption of something that is no ciphertext.
enum KeyEncryption: Sendable {
    /// PBES2 with PBKDF2 (RFC 8018).
    case pbkdf2(iterations: Int64)
    /// PBES2 with scrypt (RFC 7914).
    case scrypt(cost: Int64, blockSize: Int64, parallelization: Int64)
    /// pbeWithSHAAnd3-KeyTripleDES-CBC (RFC 7292, appendix C).
    case pkcs12(iterations: Int64)

    /// An EncryptedPrivateKeyInfo (RFC 5958).
    var key: [UInt8] { BER.sequence(algorithm, BER.octets(48)) }

    fileprivate var algorithm: [UInt8] {
        switch self {
        case .pbkdf2(let iterations):
            Self.pbes2(
                BER.sequence(
                    BER.pkcs5(12),
                    BER.sequence(
                        BER.octets(8), BER.integer(iterations),
                        BER.sequence(BER.object([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02, 0x09]), BER.value(0x05)))))
        case .scrypt(let cost, let blockSize, let parallelization):
            Self.pbes2(
                BER.sequence(
                    BER.object([0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x04, 0x0B]),
                    BER.sequence(
                        BER.octets(8), BER.integer(cost), BER.integer(blockSize), BER.integer(parallelization))))
        case .pkcs12(let iterations):
            BER.sequence(
                BER.object([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x01, 0x03]),
                BER.sequence(BER.octets(8), BER.integer(iterations)))
        }
    }

    private static func pbes2(_ derivation: [UInt8]) -> [UInt8] {
        // AES-256-CBC.
        let cipher = BER.sequence(
            BER.object([0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2A]), BER.octets(16))
        return BER.sequence(BER.pkcs5(13), BER.sequence(derivation, cipher))
    }
}

/// A PKCS#12 file (RFC 7292) with a wrong MAC.
struct EncryptedFile: Sendable {
    var mac: Int64 = 1
    var contents: KeyEncryption?
    var key: KeyEncryption?
    /// How many bags contain the key's.
    var nesting = 0

    var bytes: [UInt8] {
        let safes = [contents.map { encrypted($0) }, key.map { data(BER.sequence(bag($0))) }].compactMap { $0 }
        let digest = BER.sequence(
            BER.sequence(BER.object([0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]), BER.value(0x05)),
            BER.octets(32))
        return BER.sequence(
            BER.integer(3), data(BER.value(0x30, safes.flatMap { $0 })),
            BER.sequence(digest, BER.octets(8), BER.integer(mac)))
    }

    private func bag(_ key: KeyEncryption) -> [UInt8] {
        var bag = BER.sequence(BER.bag(2), BER.value(0xA0, key.key))
        for _ in 0..<nesting { bag = BER.sequence(BER.bag(6), BER.value(0xA0, BER.sequence(bag))) }
        return bag
    }

    private func data(_ content: [UInt8]) -> [UInt8] {
        BER.sequence(BER.pkcs7(1), BER.value(0xA0, BER.value(0x04, content)))
    }

    private func encrypted(_ encryption: KeyEncryption) -> [UInt8] {
        let content = BER.sequence(
            BER.pkcs7(1), encryption.algorithm, BER.value(0x80, [UInt8](repeating: 0x55, count: 48)))
        return BER.sequence(BER.pkcs7(6), BER.value(0xA0, BER.sequence(BER.integer(0), content)))
    }
}

/// Writes values of ASN.1 (X.690).
private enum BER {
    static func value(_ tag: UInt8, _ content: [UInt8] = []) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        return [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }

    static func sequence(_ values: [UInt8]...) -> [UInt8] { value(0x30, values.flatMap { $0 }) }

    static func octets(_ count: Int) -> [UInt8] { value(0x04, [UInt8](repeating: 0x55, count: count)) }

    static func object(_ octets: [UInt8]) -> [UInt8] { value(0x06, octets) }

    static func integer(_ number: Int64) -> [UInt8] {
        var octets = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        // The shortest form.
        while octets.count > 1, octets[0] == (octets[1] < 0x80 ? 0 : 0xFF) { octets.removeFirst() }
        return value(0x02, octets)
    }

    static func pkcs5(_ number: UInt8) -> [UInt8] {
        object([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, number])
    }

    static func pkcs7(_ number: UInt8) -> [UInt8] {
        object([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, number])
    }

    static func bag(_ number: UInt8) -> [UInt8] {
        object([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01, number])
    }
}
