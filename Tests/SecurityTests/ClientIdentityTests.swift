import CommandSupport
import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Testing

@Suite("Client identities", .timeLimit(.minutes(2)))
struct ClientIdentityTests {
    private let pki: TestPKI
    private let minted: TestPKI.Identity
    private let passphrase = "correct horse"

    init() throws {
        pki = try TestPKI()
        minted = try pki.clientIdentity(named: "alice")
    }

    private var certificates: Data { Data(minted.certificateChainPEM.utf8) }
    private var key: Data { Data(minted.privateKeyPEM.utf8) }

    private func code(_ make: () throws -> ClientIdentity) -> SecurityError.Code? {
        do {
            _ = try make()
            return nil
        } catch {
            return (error as? SecurityError)?.code
        }
    }

    // MARK: Sources

    @Test(arguments: TestPKI.KeyKind.allCases + [.ed448, .rsaPSS2048])
    func everyFormatGivesTheSameChain(kind: TestPKI.KeyKind) async throws {
        let minted = try pki.clientIdentity { $0.key = kind }
        let (certificates, key) = (Data(minted.certificateChainPEM.utf8), Data(minted.privateKeyPEM.utf8))
        let encrypted = Data(minted.privateKeyPEM(passphrase: passphrase).utf8)
        let bundle = try minted.pkcs12(passphrase: passphrase)
        try await Scratch.with { scratch in
            let both = try scratch.write("both.pem", minted.certificateChainPEM + minted.privateKeyPEM)
            let chain = try scratch.write("chain.pem", minted.certificateChainPEM)
            let secret = try scratch.write("key.pem", encrypted)
            let file = try scratch.write("bundle.p12", bundle)
            _ = try scratch.write("plain.pem", key)
            for (name, options) in [("key.der", ""), ("encrypted.der", "-passout pass:\(passphrase.dropFirst(8))")] {
                let script =
                    "openssl pkcs8 -topk8 \(options.isEmpty ? "-nocrypt" : options) -outform der -in plain.pem -out "
                    + name
                #expect(try Command.run("sh", "-c", "cd '\(scratch.path)' && \(script)").status == 0)
            }
            let all = try [
                ClientIdentity(certificates: certificates, privateKey: key),
                ClientIdentity(certificates: certificates, privateKey: encrypted, passphrase: passphrase),
                ClientIdentity(certificates: certificates, privateKey: scratch.read("key.der")),
                ClientIdentity(
                    certificates: certificates, privateKey: scratch.read("encrypted.der"), passphrase: "horse"),
                ClientIdentity(pkcs12: bundle, passphrase: passphrase),
                .files(certificates: both),
                .files(certificates: chain, privateKey: secret, passphrase: passphrase),
                .pkcs12(file: file, passphrase: passphrase),
            ]
            for identity in all {
                #expect(identity.chain == minted.chain)
                #expect(identity.findings(expiryNotice: .zero).isEmpty)
            }
            #expect(Set(all.map(\.id)).count == all.count)
        }
    }

    @Test func chainIsOrderedAndRootsAreOmitted() throws {
        let stranger = try TestPKI().rootPEM
        let texts = [pki.rootPEM, stranger, pki.intermediatePEM] + [minted.certificateChainPEM]
        let identity = try ClientIdentity(certificates: Data(texts.joined().utf8), privateKey: key)
        #expect(identity.chain == [minted.certificate, pki.intermediate])
    }

    // MARK: Refusals

    @Test func mismatchedAndInvalidInputsAreRefused() throws {
        let other = try pki.clientIdentity(named: "bob")
        let otherKey = Data(other.privateKeyPEM.utf8)
        #expect(code { try ClientIdentity(certificates: certificates, privateKey: otherKey) } == .keyMismatch)
        let root = Data(pki.rootPEM.utf8)
        #expect(code { try ClientIdentity(certificates: root, privateKey: key) } == .keyMismatch)
        #expect(code { try ClientIdentity(certificates: key, privateKey: key) } == .invalidCertificate)
        #expect(code { try ClientIdentity(certificates: certificates, privateKey: certificates) } == .invalidKey)
        #expect(code { try ClientIdentity(certificates: certificates, privateKey: Data()) } == .invalidKey)
        #expect(code { try ClientIdentity(pkcs12: Data("no file".utf8)) } == .invalidIdentity)
        #expect(code { try ClientIdentity(pkcs12: Data()) } == .invalidIdentity)
        #expect(code { try .files(certificates: "/nonexistent.pem") } == .cannotReadFile)
        #expect(code { try .pkcs12(file: "/") } == .cannotReadFile)
    }

    @Test func mismatchSaysWhichCertificatesWereGiven() throws {
        let other = Data(try pki.clientIdentity(named: "bob").privateKeyPEM.utf8)
        func message(_ pem: String) -> String? {
            let error = #expect(throws: SecurityError.self) {
                try ClientIdentity(certificates: Data(pem.utf8), privateKey: other)
            }
            return error?.message
        }
        let one = try pki.clientIdentity(named: "alice") { $0.hasIntermediate = false }.certificateChainPEM
        #expect(message(one) == "The private key does not match the certificate \"CN=alice\".")
        #expect(message(minted.certificateChainPEM) == "The private key matches none of the 2 certificates.")
    }

    @Test func missingAndWrongPassphrasesAreErrors() throws {
        let encrypted = Data(minted.privateKeyPEM(passphrase: passphrase).utf8)
        let bundle = try minted.pkcs12(passphrase: passphrase)
        for wrong in ["", "wrong", String(repeating: "x", count: 5000)] {
            #expect(
                code { try ClientIdentity(certificates: certificates, privateKey: encrypted, passphrase: wrong) }
                    == .wrongPassphrase)
            #expect(code { try ClientIdentity(pkcs12: bundle, passphrase: wrong) } == .wrongPassphrase)
        }
        #expect(code { try ClientIdentity(certificates: certificates, privateKey: encrypted) } == .passphraseNeeded)
        #expect(code { try ClientIdentity(pkcs12: bundle) } == .passphraseNeeded)
        let open = try minted.pkcs12(passphrase: "")
        #expect(code { try ClientIdentity(pkcs12: open) } == nil)
        #expect(code { try ClientIdentity(pkcs12: open, passphrase: "") } == nil)
    }

    @Test func truncatedFileIsRefused() throws {
        let bundle = try minted.pkcs12(passphrase: passphrase)
        for count in stride(from: 0, to: bundle.count, by: 97) {
            #expect(code { try ClientIdentity(pkcs12: bundle.prefix(count), passphrase: passphrase) } != nil)
        }
    }

    @Test func expiredIdentityIsRefusedAndReported() throws {
        let expired = try pki.clientIdentity { $0.validity = .expired }
        let early = try pki.clientIdentity { $0.validity = .notYetValid }
        #expect(code { try expired.clientIdentity() } == .identityExpired)
        #expect(code { try early.clientIdentity() } == .identityNotYetValid)
        let identity = try expired.clientIdentity(at: .days(-2))
        #expect(identity.findings(expiryNotice: .zero).map(\.kind) == [.expired])
        #expect(identity.findings(at: .days(-2)).first?.kind == .expiresSoon)
        #expect(identity.findings(at: .days(-60)).first?.kind == .notYetValid)
    }

    /// Both ends belong to the validity (RFC 5280, 4.1.2.5).
    @Test func identityIsValidAtBothEnds() throws {
        let minted = try pki.clientIdentity { $0.hasIntermediate = false }
        let (begin, end) = (minted.certificate.notBefore, minted.certificate.notAfter)
        func kinds(_ identity: ClientIdentity, _ time: Date, _ notice: Int = 0) -> [ClientIdentityPolicy.Finding.Kind] {
            identity.findings(at: time, expiryNotice: .seconds(notice)).map(\.kind)
        }
        let identity = try minted.clientIdentity(at: begin)
        #expect(try minted.clientIdentity(at: end).chain == identity.chain)
        let (before, after) = (begin.addingTimeInterval(-1), end.addingTimeInterval(1))
        #expect(code { try minted.clientIdentity(at: before) } == .identityNotYetValid)
        #expect(code { try minted.clientIdentity(at: after) } == .identityExpired)
        #expect(kinds(identity, begin) == [] && kinds(identity, end) == [])
        #expect(kinds(identity, before) == [.notYetValid] && kinds(identity, after) == [.expired])
        #expect(kinds(identity, end.addingTimeInterval(-10), 10) == [])
        #expect(kinds(identity, end.addingTimeInterval(-10), 11) == [.expiresSoon])
    }

    @Test(
        arguments: [
            (["1.3.6.1.5.5.7.3.2"], [0x80], []), (["2.5.29.37.0"], [0x80], []), ([], [0x80], []),
            (["1.3.6.1.5.5.7.3.1"], [0x80], ["notForClients"]), (["1.3.6.1.5.5.7.3.2"], [], []),
            (["1.3.6.1.5.5.7.3.2"], [0x20], ["notForSignatures"]),
            (["1.3.6.1.5.5.7.3.1"], [0x20], ["notForClients", "notForSignatures"]),
        ] as [([String], [UInt8], [String])])
    func usageOfAnIdentityIsReported(purposes: [String], usage: [UInt8], kinds: [String]) throws {
        var template = CertificateTemplate.server()
        template.set("2.5.29.37", purposes.isEmpty ? [] : ASN1.sequence(of: purposes.map(ASN1.object)))
        template.set("2.5.29.15", usage.isEmpty ? [] : ASN1.bitString(usage, unused: usage == [0x80] ? 7 : 5))
        let forged = try TestPKI.identity(pki.forge(template), issuers: [])
        #expect(try forged.clientIdentity().findings(expiryNotice: .zero).map(\.kind.description) == kinds)
    }

    @Test func serverCertificateAsIdentityIsReported() throws {
        let identity = try pki.identity().clientIdentity()
        #expect(identity.findings(expiryNotice: .zero).map(\.kind) == [.notForClients])
    }

    /// The format of older programs: certificates encrypted with 40-bit RC2.
    @Test func legacyEncryptionIsItsOwnError() async throws {
        try await Scratch.with { scratch in
            _ = try scratch.write("both.pem", minted.certificateChainPEM + minted.privateKeyPEM)
            for (options, expected) in [
                ("-legacy", SecurityError.Code?.some(.unsupportedEncryption)),
                ("-keypbe PBE-SHA1-3DES -certpbe PBE-SHA1-3DES -macalg sha1", nil),
            ] {
                let export = "openssl pkcs12 -export -in both.pem -passout pass:horse -out old.p12 \(options)"
                let made = try Command.run("sh", "-c", "cd '\(scratch.path)' && \(export)")
                try #require(made.status == 0, "\(made.errors)")
                do throws(SecurityError) {
                    let identity = try ClientIdentity.pkcs12(file: scratch.file("old.p12"), passphrase: "horse")
                    #expect(expected == nil)
                    #expect(identity.chain == minted.chain)
                } catch {
                    #expect(error.code == expected)
                    #expect(error.message.contains("RC2-40-CBC"))
                    #expect(error.message.contains("openssl pkcs12 -legacy"))
                }
                let wrong = code { try .pkcs12(file: scratch.file("old.p12"), passphrase: "cow") }
                #expect(wrong == .wrongPassphrase)
            }
        }
    }

    // MARK: Secrecy

    @Test(arguments: TestPKI.KeyKind.allCases)
    func descriptionsDoNotContainTheKey(kind: TestPKI.KeyKind) throws {
        let minted = try pki.clientIdentity { $0.key = kind }
        let identity = try minted.clientIdentity()
        let policy = try ClientIdentityPolicy(rules: [.init("localhost", identity)], otherHosts: identity)
        var text = "\(identity) \(String(reflecting: identity)) \(policy)"
        dump(identity, to: &text)
        dump(policy, to: &text)
        dump([identity], to: &text)
        #expect(text.contains("CN=client"))
        let lines = minted.privateKeyPEM.split(separator: "\n").filter { !$0.hasPrefix("-") }
        let der = try #require(Data(base64Encoded: lines.joined()))
        // The text must not appear, nor any eight bytes after the header, in hexadecimal or as numbers.
        for line in lines { #expect(!text.contains(line)) }
        let compact = text.lowercased().filter { !" ,\n:".contains($0) }
        for start in 30..<(der.count - 8) where kind != .rsa2048 || start.isMultiple(of: 16) {
            let bytes = der[(der.startIndex + start)...].prefix(8)
            // An EC key file also contains the public key, which certificates show.
            if minted.certificate.derBytes.firstRange(of: bytes) != nil { continue }
            #expect(!compact.contains(bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()))
            #expect(!compact.contains(bytes.map(String.init).joined()))
        }
    }
}
