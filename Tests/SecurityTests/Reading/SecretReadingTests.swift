import COpenSSL
import CommandSupport
import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// Bytes of keys, passphrases, and the errors of OpenSSL that say why a key is not read.
@Suite("Secrets", .timeLimit(.minutes(1)))
struct SecretReadingTests {
    @Test(
        arguments: [
            ("-----BEGIN ", true), ("-----BEGIN X", true), ("text\n-----BEGIN ", true), ("text\n-----BEGIN X", true),
            ("------BEGIN x", true), ("", false), ("-", false), ("-----BEGIN", false), ("----BEGIN ", false),
            ("----BEGIN  X-----", false), ("-----BEGIX X-----", false), ("x-----BEGIN", false), ("-----begin x", false),
        ] as [(String, Bool)])
    func blockOfPEMIsFoundByItsMarker(text: String, isPEM: Bool) {
        #expect(SecretBytes(text.utf8).isPEM == isPEM)
        #expect(PEM.isPEM(Data(text.utf8)) == isPEM)
    }

    @Test(arguments: ["", "a", "correct horse"])
    func passphraseEndsWithAZero(text: String) throws {
        let passphrase = Passphrase(text)
        #expect(passphrase.isGiven && !passphrase.wasAsked && !passphrase.exceedsIterations)
        let copy: (String, Int32)? = passphrase.withCString { bytes, count in bytes.map { (String(cString: $0), count) }
        }
        #expect(copy?.0 == text)
        #expect(copy?.1 == Int32(text.utf8.count))
        let none = Passphrase(nil)
        #expect(!none.isGiven)
        none.withCString { bytes, count in #expect(bytes == nil && count == 0) }
    }

    @Test func passphraseIsWrittenIntoABufferThatIsLargeEnough() {
        let passphrase = Passphrase("horse")
        for (size, written) in [(5, 5), (6, 5), (4, -1), (0, -1)] as [(Int32, Int32)] {
            var buffer = [CChar](repeating: 0x7A, count: 8)
            #expect(Passphrase.callback(&buffer, size, 0, passphrase.context) == written)
            let text = written > 0 ? "horse" : "zzzzz"
            #expect(buffer.prefix(5).map { UInt8($0) } == Array(text.utf8))
            #expect(buffer[5] == 0x7A)
        }
        #expect(passphrase.wasAsked)
        let none = Passphrase(nil)
        var buffer = [CChar](repeating: 0, count: 8)
        #expect(Passphrase.callback(&buffer, 8, 0, none.context) == -1)
        #expect(none.wasAsked)
        #expect(Passphrase.callback(&buffer, 8, 0, nil) == -1)
        #expect(Passphrase.callback(nil, 8, 0, none.context) == -1)
    }

    @Test(
        arguments: [(0, true), (9_999_999, true), (10_000_000, true), (10_000_001, false), (.max, false)]
            as [(UInt64, Bool)])
    func iterationsAreLimited(iterations: UInt64, isCalled: Bool) {
        let passphrase = Passphrase("horse")
        var calls = 0
        let none = passphrase.whenAsked(deriving: iterations) { text, count in
            calls += String(cString: text) == "horse" && count == 5 ? 1 : 2
            return nil
        }
        #expect(none == nil && calls == (isCalled ? 1 : 0))
        #expect(passphrase.wasAsked && passphrase.exceedsIterations == !isCalled)
        let without = Passphrase(nil)
        #expect(without.whenAsked(deriving: iterations) { _, _ in OpaquePointer(bitPattern: 1) } == nil)
        #expect(without.wasAsked && without.exceedsIterations == !isCalled)
    }

    // MARK: Files

    @Test func fileIsReadUpToItsLimit() async throws {
        try await Scratch.with { scratch in
            let path = try scratch.write("five", "12345")
            let file = try RegularFile.at(path, most: 5)
            #expect(file.size == 5)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 6, alignment: 1)
            defer { buffer.deallocate() }
            #expect(file.fill(UnsafeMutableRawBufferPointer(rebasing: buffer[..<5])))
            #expect(buffer.prefix(5).elementsEqual("12345".utf8))
            // The file is at its end.
            #expect(file.fill(UnsafeMutableRawBufferPointer(rebasing: buffer[..<0])))
            #expect(!file.fill(UnsafeMutableRawBufferPointer(rebasing: buffer[..<1])))
            #expect(try !RegularFile.at(path, most: 6).fill(buffer))
            let error = #expect(throws: SecurityError.self) { try RegularFile.at(path, most: 4) }
            #expect(error?.message.contains("more than 4 bytes") == true)
            #expect(FileSize.ofRegularFile(path) == 5)
            #expect(FileSize.ofRegularFile(scratch.path) == nil)
            #expect(FileSize.ofRegularFile(scratch.file("missing")) == nil)
            let empty = try scratch.write("empty", "")
            #expect(FileSize.ofRegularFile(empty) == 0)
            #expect(try FileBytes.read(empty) == Data())
            #expect(try FileBytes.read(path) == Data("12345".utf8))
        }
    }

    // MARK: Errors

    private static func error(_ library: Int32, _ reason: Int32, _ detail: String? = nil) -> OpenSSLError {
        OpenSSLError(UInt(library) << 23 | UInt(reason), detail: detail)
    }

    @Test(
        arguments: [
            ([], nil), ([error(ERR_LIB_EVP, EVP_R_UNSUPPORTED_ALGORITHM)], "an algorithm"),
            ([error(ERR_LIB_EVP, EVP_R_UNKNOWN_PBE_ALGORITHM)], "an algorithm"),
            ([error(ERR_LIB_PEM, EVP_R_UNSUPPORTED_ALGORITHM)], nil), ([error(ERR_LIB_EVP, EVP_R_BAD_DECRYPT)], nil),
            ([error(ERR_LIB_PEM, LINNET_ERR_R_UNSUPPORTED)], "an algorithm"),
            (
                [
                    error(ERR_LIB_EVP, EVP_R_BAD_DECRYPT),
                    error(ERR_LIB_EVP, LINNET_ERR_R_UNSUPPORTED, "Algorithm (RC2-40-CBC : 0), Properties ()"),
                ], "RC2-40-CBC"
            ),
            ([error(ERR_LIB_EVP, LINNET_ERR_R_UNSUPPORTED, "unknown")], "an algorithm"),
        ] as [([OpenSSLError], String?)])
    func unsupportedAlgorithmIsNamed(errors: [OpenSSLError], name: String?) {
        #expect(errors.unsupportedAlgorithm == name)
    }

    @Test func queueIsDrainedWithItsDetails() throws {
        OpenSSLErrorQueue.clear()
        #expect(OpenSSLErrorQueue.drain().isEmpty)
        #expect(OpenSSLErrorQueue.drain().summary == "no reason given")
        #expect(BIO_new_mem_buf(nil, 0) == nil)
        #expect(EVP_MD_fetch(nil, "nonesuch", nil) == nil)
        let errors = OpenSSLErrorQueue.drain()
        #expect(errors.count == 2)
        #expect(errors.first?.library == ERR_LIB_BIO && errors.first?.detail == nil)
        #expect(errors.last?.detail?.contains("nonesuch") == true)
        #expect(errors.summary == errors.map(\.description).joined(separator: "; "))
        #expect(OpenSSLErrorQueue.drain().isEmpty)
    }

    // MARK: PKCS#12

    /// A file without encryption, whose MAC is of a passphrase; nil is none, which differs from an empty one.
    private static func file(_ identity: ClientIdentity, _ passphrase: String?, hasMAC: Bool = true) throws -> Data {
        let file = identity.withHandles { leaf, key, issuers in
            PKCS12_create(passphrase, "test", key, leaf, issuers, -1, -1, 1, hasMAC ? 1 : -1, 0)
        }
        let made = try #require(file)
        defer { PKCS12_free(made) }
        return OpenSSLBytes.written { i2d_PKCS12(made, $0) }
    }

    private static func code(_ data: Data, _ passphrase: String?) -> SecurityError.Code? {
        do throws(SecurityError) {
            _ = try ClientIdentity(pkcs12: data, passphrase: passphrase)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func noPassphraseEqualsAnEmptyOne() throws {
        let minted = try TestPKI().clientIdentity()
        let identity = try minted.clientIdentity()
        for own in [nil, ""] as [String?] {
            let file = try Self.file(identity, own)
            #expect(try ClientIdentity(pkcs12: file).chain == minted.chain)
            #expect(try ClientIdentity(pkcs12: file, passphrase: "").chain == minted.chain)
            #expect(Self.code(file, "horse") == .wrongPassphrase)
        }
        let file = try Self.file(identity, "horse")
        #expect(Self.code(file, "horse") == nil && Self.code(file, "cow") == .wrongPassphrase)
        #expect(Self.code(file, nil) == .passphraseNeeded && Self.code(file, "") == .wrongPassphrase)
    }

    /// Nothing says which passphrase is right, and OpenSSL may ask for the MAC nevertheless.
    @Test func fileWithoutAMACHasNoRightPassphrase() throws {
        let minted = try TestPKI().clientIdentity()
        let file = try Self.file(minted.clientIdentity(), "horse", hasMAC: false)
        for passphrase in ["horse", "cow", ""] {
            #expect([nil, .wrongPassphrase].contains(Self.code(file, passphrase)))
        }
        #expect([nil, .passphraseNeeded].contains(Self.code(file, nil)))
    }

    /// A file has a key; without one it is only a list of certificates.
    @Test func fileWithoutAKeyIsNoIdentity() throws {
        let identity = try TestPKI().clientIdentity().clientIdentity()
        let made = identity.withHandles { leaf, _, issuers in
            PKCS12_create("horse", nil, nil, leaf, issuers, -1, -1, 1, 1, 0)
        }
        let file = try #require(made)
        defer { PKCS12_free(file) }
        let data = OpenSSLBytes.written { i2d_PKCS12(file, $0) }
        #expect(Self.code(data, "horse") == .invalidIdentity)
    }
}

/// The names of the store's anchors, and what it remembers of them.
@Suite("Stores of anchors", .timeLimit(.minutes(1)))
struct TrustStoreTests {
    @Test func rememberedAnchorsAreBounded() throws {
        let der = try TestPKI().root.derBytes
        let others = try (0..<513).map { _ in try #require(X509Handle(der: der)) }
        let store = try TrustStore(.nowhere, [])
        let first = store.handle(of: others[0].pointer)
        for other in others[1..<512] { _ = store.handle(of: other.pointer) }
        #expect(store.handle(of: others[0].pointer) === first)
        #expect(store.handle(of: others[511].pointer) === store.handle(of: others[511].pointer))
        let last = store.handle(of: others[512].pointer)
        #expect(store.handle(of: others[0].pointer) !== first)
        #expect(store.handle(of: others[512].pointer) === last)
    }

    @Test func anchorsAreFoundByTheirNames() throws {
        let (one, two) = (try TestPKI.forgeRoot(.authority("One")), try TestPKI.forgeRoot(.authority("Two")))
        let again = try TestPKI.forgeRoot(.authority("One"))
        let handles = try [one, two, again].map { try $0.certificate.handle }
        let store = try TrustStore(.nowhere, handles)
        func found(_ handle: X509Handle) -> Set<Data> {
            Set(store.certificates(named: X509_get_subject_name(handle.pointer)).map(\.der))
        }
        #expect(found(handles[0]) == [one.der, again.der])
        #expect(found(handles[1]) == [two.der])
        #expect(try found(TestPKI.forgeRoot(.authority("Three")).certificate.handle) == [])
        #expect(store.certificates(named: nil).isEmpty)
    }

    @Test func sourcesAreDistinguished() throws {
        let pki = try TestPKI()
        let own = try TrustAnchors.certificates([pki.root])
        let extended = try TrustAnchors.system.adding([pki.root])
        #expect([TrustAnchors.system, extended, own].map(\.includesSystem) == [true, true, false])
        #expect([TrustAnchors.system, extended, own].map(\.allowsPartialChains) == [false, true, true])
        #expect([TrustAnchors.system, extended, own].map(\.isAtLocation) == [false, false, false])
        #expect(TrustAnchors.system.certificates == [] && extended.certificates == [pki.root])
        #expect(try own.adding([pki.intermediate]).certificates == [pki.root, pki.intermediate])
        let error = #expect(throws: SecurityError.self) { try own.adding([]) }
        #expect(error?.code == .noAnchors)
    }
}
