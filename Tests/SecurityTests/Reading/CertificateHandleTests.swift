import COpenSSL
import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// A certificate as OpenSSL parses it, and the cache of parsed certificates.
@Suite("Certificate handles", .timeLimit(.minutes(1)))
struct CertificateHandleTests {
    private static func handle(_ change: (inout CertificateTemplate) -> Void) throws -> X509Handle {
        var template = CertificateTemplate.server()
        change(&template)
        return try TestPKI.forgeRoot(template).certificate.handle
    }

    @Test(
        arguments: [
            ([0x01, 0x23, 0x45], "012345"), ([0x0F], "0f"), ([0x10], "10"), ([0x11, 0x09, 0xA0], "1109a0"),
            ([0x00, 0xFF], "ff"), ([0x80, 0x01], "-7fff"), ([0xFF], "-01"),
        ] as [([UInt8], String)])
    func serialNumberIsShownInHexadecimal(octets: [UInt8], text: String) throws {
        #expect(try Self.handle { $0.serialNumber = octets }.serialNumber == text)
    }

    @Test func namesAreShown() throws {
        let handle = try Self.handle { $0.subject = ASN1.name("a") }
        #expect(handle.subject == "CN=a" && handle.issuer == "CN=a")
        #expect(handle.alternativeNames == "DNS:localhost")
        #expect(try Self.handle { $0.set("2.5.29.17", []) }.alternativeNames == nil)
        #expect(try Self.handle { $0.subject = ASN1.name(nil) }.subject == "")
        let first = try Self.handle {
            $0.extensions.removeAll { $0.identifier != "2.5.29.17" }
            $0.extensions += [.init("2.5.29.14", [])]
        }
        #expect(first.alternativeNames == "DNS:localhost")
    }

    /// OpenSSL reads a criticality of FALSE, which DER does not encode.
    @Test func certificateThatOnlyOpenSSLReadsIsExamined() throws {
        func handle(_ list: [UInt8], issuer: [UInt8]?) throws -> X509Handle {
            try Self.handle {
                $0.issuer = issuer
                $0.extensions = [.init("2.5.29.14", []), .init("2.5.29.35", [])]
                $0.uniqueIdentifiers = ASN1.value(0xA3, ASN1.sequence(list))
            }
        }
        let odd = ASN1.sequence(ASN1.object("1.2.3"), [1, 1, 0], ASN1.octetString([]))
        let subtree = ASN1.sequence(ASN1.value(0xA1, ASN1.sequence(ASN1.host("a"))))
        let constraints = CertificateTemplate.Extension("2.5.29.30", subtree).der
        for (list, isConstrained) in [(odd, false), (constraints + odd, true), (odd + constraints, true)] {
            let own = try handle(list, issuer: nil)
            #expect(own.facts == nil && own.isSelfIssued && own.hasNameConstraints == isConstrained)
            // Names before and behind it.
            for name in ["A", "Z"] {
                #expect(try !handle(list, issuer: ASN1.name(name)).isSelfIssued)
            }
        }
    }

    // MARK: Validity

    private static let (begin, end) = (1_735_689_600, 1_735_776_000)

    private static func day(_ isReadable: Bool) throws -> X509Handle {
        try handle {
            ($0.notBefore, $0.notAfter) = (ASN1.utcTime("250101000000Z"), ASN1.utcTime("250102000000Z"))
            guard !isReadable else { return }
            // A criticality of FALSE, which OpenSSL reads.
            $0.extensions = [.init("2.5.29.14", [])]
            $0.uniqueIdentifiers = ASN1.value(
                0xA3, ASN1.sequence(ASN1.sequence(ASN1.object("1.2.3"), [1, 1, 0], ASN1.octetString([]))))
        }
    }

    /// Both ends belong to the validity (RFC 5280, 4.1.2.5), whoever reads them.
    @Test(arguments: [true, false])
    func validityHasBothEnds(isReadable: Bool) throws {
        let handle = try Self.day(isReadable)
        #expect((handle.facts != nil) == isReadable)
        for (seconds, validity) in [
            (Self.begin - 1, .notYet), (Self.begin, .valid), (Self.begin + 1, .valid), (Self.end - 1, .valid),
            (Self.end, .valid), (Self.end + 1, .over), (0, .notYet), (4_000_000_000, .over),
        ] as [(Int, X509Handle.Validity)] {
            #expect(handle.validity(at: seconds) == validity, "\(seconds)")
            #expect(handle.validity(at: Date(timeIntervalSince1970: Double(seconds) + 0.9)) == validity)
        }
        #expect(handle.validity(at: Date(timeIntervalSince1970: .infinity)) == .over)
        #expect(handle.notBefore == Date(timeIntervalSince1970: Double(Self.begin)))
        #expect(handle.notAfter == Date(timeIntervalSince1970: Double(Self.end)))
    }

    @Test func timesOfOpenSSLAreConverted() throws {
        for seconds in [0, 1, 86_399, 86_400, 1_750_000_000, -1, -86_401] {
            let time = try #require(ASN1_TIME_set(nil, seconds))
            defer { ASN1_TIME_free(time) }
            #expect(OpenSSLTime.date(time) == Date(timeIntervalSince1970: Double(seconds)))
        }
        #expect(OpenSSLTime.date(nil) == nil)
        let none = try #require(ASN1_TIME_new())
        defer { ASN1_TIME_free(none) }
        ASN1_STRING_set(none, "no time", 7)
        #expect(OpenSSLTime.date(none) == nil)
    }

    @Test func bytesAndTextOfOpenSSLAreCopied() throws {
        for (count, bytes) in [(1, Data([7])), (0, Data()), (-1, Data())] {
            let written = OpenSSLBytes.written { out in
                out.pointee = CRYPTO_malloc(1, #file, #line)?.assumingMemoryBound(to: UInt8.self)
                out.pointee?.pointee = 7
                // Without bytes, OpenSSL leaves the pointer alone.
                guard count <= 0 else { return Int32(count) }
                CRYPTO_free(out.pointee, #file, #line)
                out.pointee = nil
                return Int32(count)
            }
            #expect(written == bytes)
        }
        #expect(OpenSSLText.written { BIO_write($0, "a", 1) == 1 } == "a")
        #expect(OpenSSLText.written { BIO_write($0, "a", 1) == 0 } == "")
        #expect(OpenSSLText.written { _ in true } == "")
    }

    // MARK: What is remembered

    @Test func profilesThatWerePassedAreBounded() throws {
        let handle = try Self.handle { _ in }
        let profiles = (0..<11).map { days in
            var profile = ChainProfile.default
            profile.maximumLeafLifetime = .seconds(days)
            return profile
        }
        #expect(!handle.hasPassed(profiles[0], at: .leaf))
        for profile in profiles.prefix(9) { handle.pass(profile, at: .leaf) }
        #expect(profiles.map { handle.hasPassed($0, at: .leaf) } == (0..<11).map { $0 < 9 })
        #expect(!handle.hasPassed(profiles[0], at: .intermediate))
        handle.pass(profiles[9], at: .leaf)
        #expect(profiles.map { handle.hasPassed($0, at: .leaf) } == (0..<11).map { (1...9).contains($0) })
    }

    @Test func parsedCertificatesAreBounded() throws {
        let cache = CertificateCache()
        let handle = try Self.handle { _ in }
        func data(_ number: Int, count: Int = 4) -> Data {
            Data([UInt8(number)]) + Data(count: count - 1)
        }
        for number in 0..<128 { cache.insert(handle, for: data(number)) }
        #expect((0..<128).allSatisfy { cache.certificate(data($0)) === handle })
        // One that is known takes no place.
        cache.insert(handle, for: data(0))
        #expect((0..<128).allSatisfy { cache.certificate(data($0)) === handle })
        cache.insert(handle, for: data(128))
        #expect((0...128).map { cache.certificate(data($0)) != nil } == (0...128).map { $0 > 0 })
        cache.insert(handle, for: data(129, count: 8192))
        cache.insert(handle, for: data(130, count: 8193))
        #expect(cache.certificate(data(129, count: 8192)) === handle)
        #expect(cache.certificate(data(130, count: 8193)) == nil)
        #expect(cache.certificate(data(1)) == nil && cache.certificate(data(2)) === handle)
    }

    /// Larger certificates get another handle each time, so their chain would not be found again.
    @Test(arguments: [(8192, 1), (8193, 0)])
    func chainsOfLargeCertificatesAreNotRemembered(count: Int, remembered: Int) throws {
        func template(_ filler: Int) -> CertificateTemplate {
            var template = CertificateTemplate.server()
            template.keyKind = .ed25519
            template.extensions.append(.init("1.2.3", [UInt8](repeating: 0, count: filler)))
            return template
        }
        // Signatures of Ed25519 have the same length each time.
        let short = try TestPKI.forgeRoot(template(7000)).der.count
        let large = try TestPKI.forgeRoot(template(7000 + count - short))
        #expect(large.der.count == count)
        let (memory, handle) = (VerifiedChains(), try large.certificate.handle)
        let question = VerifiedChains.Question(
            presented: [handle], host: nil, securityLevel: 2, depth: 10, flags: 0)
        memory.remember([handle], for: question)
        #expect(memory.count == remembered)
    }

    /// A chain that is never valid as a whole is not remembered; one that is valid for a second is.
    @Test(arguments: [("250102000000Z", 1), ("250102000001Z", 0)])
    func chainIsRememberedForItsCommonValidity(begin: String, remembered: Int) throws {
        let day = try Self.day(true)
        let next = try Self.handle {
            ($0.notBefore, $0.notAfter) = (ASN1.utcTime(begin), ASN1.utcTime("250103000000Z"))
        }
        let memory = VerifiedChains()
        let question = VerifiedChains.Question(
            presented: [day, next], host: nil, securityLevel: 2, depth: 10, flags: 0)
        memory.remember([day, next], for: question)
        #expect(memory.count == remembered)
        #expect((memory.chain(question, at: Self.end) != nil) == (remembered == 1))
        #expect(memory.chain(question, at: Self.end + 1) == nil)
    }

    @Test func chainsAreRememberedForHalfAnHour() {
        #expect(VerifiedChains.longestMemory == .seconds(1800))
        #expect(VerifiedChains.capacity == 128)
    }
}
