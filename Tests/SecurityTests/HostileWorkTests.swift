import CommandSupport
import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// Chains made to cost work. Limits refuse them before the work is done; the asserted bound on time is far above the
/// measured ones, for loaded machines and sanitizers.
@Suite("Bounded work for hostile chains", .timeLimit(.minutes(5)))
struct HostileWorkTests {
    private let pki: TestPKI

    init() throws { pki = try TestPKI() }

    private func reason(
        _ chain: [Data], host: String = "localhost", profile: ChainProfile = .strict, _ what: String,
        anchors: TrustAnchors? = nil
    ) async throws -> TrustRefusal.Reason? {
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try anchors ?? pki.anchors, profile: profile)
        let trust = ServerTrust(host: host, port: 443, presentedChain: chain)
        let start = ContinuousClock.now
        let refusal = await evaluator.evaluate(trust).refusal
        let took = ContinuousClock.now - start
        print("\(what): \(refusal?.reason.description ?? "accepted") in \(took)")
        #expect(took < .seconds(5))
        #expect((refusal?.message.utf8.count ?? 0) < 4096)
        return refusal?.reason
    }

    @Test func aHundredCertificatesAreRefusedWithoutParsing() async throws {
        let chain = try pki.identity().chain.map(\.derBytes)
        let others = try (0..<98).map { _ in try pki.forge(.server()).der }
        #expect(try await reason(chain + others, "100 certificates") == .malformedCertificate)
        #expect(try await reason(chain + others.prefix(30), "32 certificates") == nil)
        #expect(try await reason(chain + Array(repeating: chain[1], count: 30), "30 times the same") == nil)
    }

    @Test func pathDepthIsLimited() async throws {
        for (depth, isAccepted) in [(11, true), (12, false), (31, false)] {
            var issuers: [ForgedCertificate] = []
            for level in 0..<depth { issuers.append(try pki.forge(.authority("Level \(level)"), by: issuers.last)) }
            let leaf = try pki.forge(.server(), by: issuers.last)
            let chain = [leaf.der] + issuers.reversed().map(\.der)
            // The first one is the anchor, since the root of the test PKI does not allow this depth.
            let anchors = try TrustAnchors.certificates([issuers[0].certificate])
            let reason = try await reason(chain, "\(depth) authorities", anchors: anchors)
            #expect(reason == (isAccepted ? nil : .chainInvalid))
        }
    }

    @Test func cyclesOfAuthoritiesAreRefused() async throws {
        let first = try pki.forge(.authority("One"))
        let second = try pki.forge(.authority("Two"), by: first)
        // The same name as the first, with another key, in a cycle.
        var chain = [try pki.forge(.server(), by: second).der, second.der]
        var last = second
        for turn in 0..<28 {
            last = try pki.forge(.authority(turn % 2 == 0 ? "One" : "Two"), by: last)
            chain.append(last.der)
        }
        #expect(try await reason(chain, "authorities in a ring") == .unknownAuthority)
    }

    @Test(
        arguments: [
            (1024, [1, 0, 1], "8192 bits"), (1025, [1, 0, 1], "8200 bits"), (2048, [1, 0, 1], "16384 bits"),
            (256, [UInt8](repeating: 0xFF, count: 32), "exponent of 256 bits"),
            (256, [UInt8](repeating: 0xFF, count: 33), "exponent of 264 bits"),
            (384, [UInt8](repeating: 0xFF, count: 383), "exponent of 3064 bits"),
        ] as [(Int, [UInt8], String)])
    func keySizesAreLimited(modulus: Int, exponent: [UInt8], what: String) async throws {
        let number = [0xC1] + [UInt8](repeating: 0, count: modulus - 2) + [1]
        let key = ASN1.sequence(ASN1.positive(number), ASN1.positive(exponent))
        let info = ASN1.sequence(
            ASN1.sequence(ASN1.object("1.2.840.113549.1.1.1"), ASN1.null), ASN1.bitString(key))
        let isWithin = modulus <= 1024 && exponent.count <= 32
        var authority = CertificateTemplate.authority()
        authority.publicKey = info
        let issuer = try pki.forge(authority, byRoot: true)
        let chain = [try pki.forge(.server(), by: issuer).der, issuer.der]
        for profile in [ChainProfile.strict, .lenient] {
            let reason = try await reason(chain, profile: profile, what)
            #expect(isWithin ? reason != nil && reason != .limitExceeded : reason == .limitExceeded)
        }
    }

    @Test func numberOfNamesIsLimited() async throws {
        for (count, expected) in [(4099, nil), (4100, .limitExceeded)] as [(Int, TrustRefusal.Reason?)] {
            let hosts = ["localhost"] + (1..<count).map { "h\($0).example" }
            let leaf = try pki.forge(.server(hosts: hosts))
            #expect(
                try await reason([leaf.der, pki.intermediate.derBytes], host: hosts[count - 1], "\(count) names")
                    == expected)
        }
    }

    @Test(arguments: [(1000, 90), (90, 1000), (4096, 1024), (10, 1025), (1, 1024)])
    func productOfConstraintsAndNamesIsLimited(names: Int, constraints: Int) async throws {
        var authority = CertificateTemplate.authority()
        let subtrees = (0..<constraints).map { ASN1.sequence(ASN1.host("x\($0).invalid")) }
        authority.set("2.5.29.30", critical: true, ASN1.sequence(ASN1.value(0xA1, subtrees.flatMap { $0 })))
        let issuer = try pki.forge(authority, byRoot: true)
        let hosts = ["localhost"] + (1..<max(names, 2)).map { "h\($0).example" }
        let chain = [try pki.forge(.server(hosts: hosts), by: issuer).der, issuer.der]
        let isWithin = constraints <= 1024 && names * constraints <= 99_000
        #expect(
            try await reason(chain, "\(names) names, \(constraints) constraints") == (isWithin ? nil : .limitExceeded))
    }

    @Test func attributesOfTheSubjectCountAsNames() async throws {
        var authority = CertificateTemplate.authority()
        let subtrees = (0..<1000).map { ASN1.sequence(ASN1.value(0x81, Array("x\($0).invalid".utf8))) }
        authority.set("2.5.29.30", critical: true, ASN1.sequence(ASN1.value(0xA1, subtrees.flatMap { $0 })))
        let issuer = try pki.forge(authority, byRoot: true)
        var leaf = CertificateTemplate.server()
        let mail = ASN1.object("1.2.840.113549.1.9.1")
        leaf.subject = ASN1.sequence(
            of: (0..<2000).map { ASN1.value(0x31, ASN1.sequence(mail, ASN1.value(0x16, Array("a\($0)@b.test".utf8)))) })
        let chain = [try pki.forge(leaf, by: issuer).der, issuer.der]
        #expect(try await reason(chain, "2000 addresses, 1000 constraints") == .limitExceeded)
    }

    @Test func deeplyNestedValuesAreReadInBoundedTime() async throws {
        for depth in [10, 1000, 30_000] {
            var nested = ASN1.null
            for _ in 0..<depth { nested = [0x30] + Self.length(nested.count) + nested }
            let other = ASN1.value(0xA0, ASN1.object("1.2.3") + ASN1.value(0xA0, nested))
            var leaf = CertificateTemplate.server()
            leaf.set("2.5.29.17", ASN1.sequence(ASN1.host("localhost"), other))
            leaf.set("1.2.3.4", nested)
            let chain = [try pki.forge(leaf).der, pki.intermediate.derBytes]
            _ = try await reason(chain, "\(depth) values one inside the other")
        }
    }

    /// A length in DER.
    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        let octets = [UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)].drop { $0 == 0 }
        return [0x80 | UInt8(octets.count)] + octets
    }

    @Test func numberOfExtensionsIsLimited() async throws {
        var leaf = CertificateTemplate.server()
        for number in 0..<200 { leaf.extensions.append(.init("1.3.6.1.4.1.99999.\(number)", ASN1.null)) }
        let chain = [try pki.forge(leaf).der, pki.intermediate.derBytes]
        #expect(try await reason(chain, "200 extensions") == .limitExceeded)
    }

    @Test func policyMappingsAreLimited() async throws {
        var issuers: [ForgedCertificate] = []
        for level in 0..<8 {
            var authority = CertificateTemplate.authority("Level \(level)")
            let policies = (0..<8).map { ASN1.sequence(ASN1.object("1.2.3.\($0)")) }
            authority.set("2.5.29.32", ASN1.sequence(of: policies))
            let pairs = (0..<8).flatMap { from in
                (0..<8).map { ASN1.sequence(ASN1.object("1.2.3.\(from)"), ASN1.object("1.2.3.\($0)")) }
            }
            authority.set("2.5.29.33", critical: true, ASN1.sequence(of: pairs))
            authority.set("2.5.29.36", critical: true, ASN1.sequence(ASN1.value(0x80, [0])))
            issuers.append(try pki.forge(authority, by: issuers.last, byRoot: true))
        }
        let chain = [try pki.forge(.server(), by: issuers.last).der] + issuers.reversed().map(\.der)
        #expect(try await reason(chain, "policies that are mapped") == .limitExceeded)
    }

    /// Lists with one element that is not DER, which OpenSSL reads.
    @Test func unreadableListsAreLimitedByTheirSize() async throws {
        let odd = ASN1.value(0xA2, ASN1.value(0x16, Array("odd.example".utf8)))
        var authority = CertificateTemplate.authority()
        let subtrees = (0..<3000).flatMap { ASN1.sequence(ASN1.host("x\($0).invalid")) } + ASN1.sequence(odd)
        authority.set("2.5.29.30", critical: true, ASN1.sequence(ASN1.value(0xA1, subtrees)))
        let constrained = try pki.forge(authority, byRoot: true)
        var mapping = CertificateTemplate.authority()
        let pair = ASN1.sequence(ASN1.object("1.2.3"), ASN1.object("1.2.4"))
        let long = [0x30, 0x81] + pair.dropFirst()
        mapping.set("2.5.29.33", critical: true, ASN1.sequence(of: Array(repeating: pair, count: 40) + [long]))
        let mapped = try pki.forge(mapping, byRoot: true)
        var leaf = CertificateTemplate.server()
        leaf.set("2.5.29.17", ASN1.sequence(of: (0..<5000).map { ASN1.host("h\($0).example") } + [odd]))
        let chains = [
            [try pki.forge(.server(), by: constrained).der, constrained.der],
            [try pki.forge(.server(), by: mapped).der, mapped.der],
            [try pki.forge(leaf).der, pki.intermediate.derBytes],
        ]
        for (index, chain) in chains.enumerated() {
            for profile in [ChainProfile.default, .lenient] {
                #expect(try await reason(chain, profile: profile, "an odd list, \(index)") == .limitExceeded)
            }
        }
    }

    @Test func requiredPoliciesHaveToBePresent() async throws {
        var authority = CertificateTemplate.authority()
        // OpenSSL 3.0 leaks the constraints of an authority that has no policies itself.
        authority.set("2.5.29.32", ASN1.sequence(ASN1.sequence(ASN1.object("1.2.3.4"))))
        authority.set("2.5.29.36", critical: true, ASN1.sequence(ASN1.value(0x80, [0])))
        let issuer = try pki.forge(authority, byRoot: true)
        let chain = [try pki.forge(.server(), by: issuer).der, issuer.der]
        #expect(try await reason(chain, "a policy demanded") == .chainInvalid)
        #expect(try await reason(chain, profile: .lenient, "a policy demanded, lenient") == nil)
    }

    // MARK: Bytes

    @Test func authorityWithAChangedByteIsRefused() async throws {
        let chain = try pki.identity().chain.map(\.derBytes)
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try pki.anchors)
        var generator = SplitMix(seed: RandomSeed.next())
        var accepted: [Int] = []
        for index in chain[1].indices {
            var changed = chain[1]
            changed[index] ^= UInt8.random(in: 1...255, using: &generator)
            let trust = ServerTrust(host: "localhost", port: 443, presentedChain: [chain[0], changed])
            if await evaluator.evaluate(trust).isAccepted { accepted.append(index) }
        }
        #expect(accepted == [])
    }

    @Test func readerAcceptsArbitraryBytesWithoutTrapping() throws {
        let certificate = try [UInt8](pki.identity().certificate.derBytes)
        for index in certificate.indices {
            for value in [0x00, 0x01, 0x30, 0x7F, 0x80, 0x81, 0x84, 0xFF] as [UInt8] {
                var changed = certificate
                changed[index] = value
                _ = try? CertificateFacts(der: changed)
                _ = try? CertificateFacts(der: Array(changed.prefix(index)))
                _ = try? CRLFacts(der: changed)
            }
        }
    }

    @Test func readerRefusesEncodingsOtherThanDER() throws {
        let certificate = try [UInt8](pki.identity().certificate.derBytes)
        #expect(try CertificateFacts(der: certificate).isStrictDER)
        // Indefinite length, a length written longer than need be, and one that overflows.
        for bytes in [
            [0x30, 0x80, 0, 0], [0x30, 0x81, 0x01, 0], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0x88],
        ] as [[UInt8]] {
            #expect(throws: DERError.self) { try DER(bytes: bytes).root(DER.Tag.sequence) }
        }
        for bytes in [
            [0x01, 0x01, 0x01], [0x02, 0x02, 0, 1], [0x02, 0], [0x05, 0x01, 0], [0x03, 0x02, 0x01, 0x01],
            [0x06, 0x01, 0x80], [0x24, 0],
        ] as [[UInt8]] {
            let der = DER(bytes: bytes)
            let element = try #require(try? der.root(bytes[0]))
            #expect(!der.isStrict(element), "\(bytes)")
        }
    }
}
