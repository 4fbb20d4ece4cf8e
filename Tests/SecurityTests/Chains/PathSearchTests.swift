import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// The paths that a search enumerates (RFC 4158), in their order.
@Suite("Paths to an anchor", .timeLimit(.minutes(1)))
struct PathSearchTests {
    private let pki: TestPKI
    private let root: ForgedCertificate
    private let authority: ForgedCertificate
    private let leaf: ForgedCertificate

    init() throws {
        pki = try TestPKI()
        root = try TestPKI.forgeRoot(.authority("Root"))
        authority = try pki.forge(.authority("Authority"), by: root)
        leaf = try pki.forge(.server(), by: authority)
    }

    private typealias Admits = (X509Handle, ChainLink.Position) -> Bool

    private func search(
        _ presented: [ForgedCertificate], anchors: [ForgedCertificate], partial: Bool = true, depth: Int = 10,
        admits: @escaping Admits = { _, _ in true }
    ) throws -> PathSearch {
        PathSearch(
            presented: try presented.map { try $0.certificate.handle },
            store: try TrustAnchors.certificates(anchors.map { try $0.certificate }).store(),
            allowsPartialChains: partial, maximumDepth: depth, admits: admits)
    }

    /// All paths, each as the DER of its certificates.
    private func paths(
        _ presented: [ForgedCertificate], anchors: [ForgedCertificate], partial: Bool = true, depth: Int = 10,
        admits: @escaping Admits = { _, _ in true }
    ) throws -> [[Data]] {
        var found: [[Data]] = []
        var search = try search(presented, anchors: anchors, partial: partial, depth: depth, admits: admits)
        let none: Int? = search.first { path in
            found.append(path.map(\.der))
            return nil
        }
        #expect(none == nil)
        return found
    }

    private func ders(_ paths: [[ForgedCertificate]]) -> [[Data]] { paths.map { $0.map(\.der) } }

    // MARK: Ends

    @Test func pathEndsAtAnAnchor() throws {
        #expect(try paths([leaf, authority], anchors: [root]) == ders([[leaf, authority, root]]))
        #expect(try paths([leaf, authority, root], anchors: [root]) == ders([[leaf, authority, root]]))
        #expect(try paths([leaf], anchors: [root]) == [])
        #expect(try paths([leaf, root], anchors: [authority]) == ders([[leaf, authority]]))
        let stranger = try TestPKI.forgeRoot(.authority("Root"))
        #expect(try paths([leaf, authority], anchors: [stranger]) == [])
    }

    /// Without partial chains, a path ends at a root only (OpenSSL's `X509_V_FLAG_PARTIAL_CHAIN`).
    @Test func anchorThatIsNoRootEndsAPartialChain() throws {
        let (short, long) = ([leaf, authority], [leaf, authority, root])
        #expect(try paths([leaf], anchors: [authority, root]) == ders([short, long]))
        #expect(try paths([leaf], anchors: [authority, root], partial: false) == ders([long]))
        #expect(try paths([leaf], anchors: [authority], partial: false) == [])
        #expect(try paths([leaf], anchors: [authority]) == ders([short]))
    }

    @Test func serversCertificateIsItsOwnAnchor() throws {
        #expect(try paths([leaf, authority], anchors: [leaf, root]) == ders([[leaf], [leaf, authority, root]]))
        #expect(
            try paths([leaf, authority], anchors: [leaf, root], partial: false) == ders([[leaf, authority, root]]))
        let own = try TestPKI.forgeRoot(.server())
        #expect(try paths([own], anchors: [own]).first == [own.der])
        #expect(try paths([own], anchors: [own], partial: false).first == [own.der])
        // Another certificate of that name is not the same anchor.
        let other = try TestPKI.forgeRoot(.server())
        #expect(try !paths([own], anchors: [other]).contains([own.der]))
        #expect(try !paths([own], anchors: [other]).contains([other.der]))
    }

    @Test func firstResultEndsTheSearch() throws {
        var attempts = 0
        var search = try search([leaf, authority], anchors: [leaf, authority, root])
        let found: Int? = search.first { path in
            attempts += 1
            return path.count == 2 ? path.count : nil
        }
        #expect(found == 2 && attempts == 2)
        var own = try self.search([leaf, authority], anchors: [leaf, authority, root])
        #expect(own.first { $0.count } == 1)
        var long = try self.search([leaf, authority], anchors: [leaf, authority, root])
        #expect(long.first { $0.count == 3 ? 3 : nil } == 3)
    }

    // MARK: Positions

    @Test func certificateIsAdmittedForItsPosition() throws {
        let all = ders([[leaf], [leaf, authority], [leaf, authority, root]])
        let certificates = [leaf, authority, root]
        func paths(_ refused: ForgedCertificate, at position: ChainLink.Position) throws -> [[Data]] {
            try self.paths([leaf, authority], anchors: certificates) { $0.der != refused.der || $1 != position }
        }
        #expect(try self.paths([leaf, authority], anchors: certificates) == all)
        #expect(try paths(leaf, at: .ownAnchor) == Array(all[1...]))
        #expect(try paths(leaf, at: .leaf) == [all[0]])
        #expect(try paths(authority, at: .issuingAnchor) == [all[0], all[2]])
        #expect(try paths(authority, at: .intermediate) == [all[0], all[1]])
        #expect(try paths(root, at: .issuingAnchor) == [all[0], all[1]])
        // A root issues, and is not issued.
        #expect(try paths(root, at: .intermediate) == all)
    }

    @Test func issuerIsAnAuthority() throws {
        var template = CertificateTemplate.authority("Authority")
        template.set("2.5.29.19", ASN1.sequence())
        let marked = try TestPKI.forge(template, withKeyOf: authority, by: root)
        #expect(try paths([leaf, marked], anchors: [root]) == [])
        template.set("2.5.29.19", [])
        let unmarked = try TestPKI.forge(template, withKeyOf: authority, by: root)
        #expect(try paths([leaf, unmarked], anchors: [root]) == [])
        #expect(try paths([leaf, unmarked, authority], anchors: [root]) == ders([[leaf, authority, root]]))
        // An anchor is trusted without it.
        #expect(try paths([leaf], anchors: [unmarked]) == ders([[leaf, unmarked]]))
    }

    // MARK: Depth and length

    /// An authority below each of the ones before it.
    private func authorities(_ count: Int) throws -> [ForgedCertificate] {
        var all = [root]
        for number in 0..<count { all.append(try pki.forge(.authority("Level \(number)"), by: all.last)) }
        return all.reversed()
    }

    @Test func depthIsLimited() throws {
        let authorities = try authorities(3)
        let leaf = try pki.forge(.server(), by: authorities[0])
        let path = [leaf] + authorities
        #expect(try paths([leaf] + authorities, anchors: [root], depth: 3) == ders([path]))
        #expect(try paths([leaf] + authorities, anchors: [root], depth: 4) == ders([path]))
        #expect(try paths([leaf] + authorities, anchors: [root], depth: 2) == [])
        let direct = try pki.forge(.server(), by: root)
        #expect(try paths([direct], anchors: [root], depth: 0) == ders([[direct, root]]))
    }

    /// RFC 5280, 4.2.1.9: authorities below that are not self-issued.
    @Test(arguments: [(0, false), (1, false), (2, true), (3, true)] as [(UInt8, Bool)])
    func pathLengthConstraintIsKept(length: UInt8, isKept: Bool) throws {
        var template = CertificateTemplate.authority("Root")
        template.pathLength(length)
        let short = try TestPKI.forgeRoot(template)
        let one = try pki.forge(.authority("One"), by: short)
        let again = try pki.forge(.authority("One"), by: one)
        let two = try pki.forge(.authority("Two"), by: again)
        let leaf = try pki.forge(.server(), by: two)
        let path = ders([[leaf, two, again, one, short]])
        #expect(try paths([leaf, two, again, one], anchors: [short]) == (isKept ? path : []))
    }

    // MARK: Issuers

    @Test func issuersAreTriedInTheirOrder() throws {
        let other = try TestPKI.forgeRoot(.authority("Other Root"))
        let cross = try TestPKI.forge(.authority("Authority"), withKeyOf: authority, by: other)
        let (one, two) = ([leaf, authority, root], [leaf, cross, other])
        #expect(try paths([leaf, authority, cross], anchors: [root, other]) == ders([one, two]))
        #expect(try paths([leaf, cross, authority], anchors: [root, other]) == ders([two, one]))
        // Anchors come first.
        let anchored = try paths([leaf, authority], anchors: [cross, root, other])
        #expect(anchored == ders([[leaf, cross], two, one]))
    }

    @Test func issuerHasTheKeyThatIsNamed() throws {
        let stranger = try pki.forge(.authority("Authority"), by: root)
        #expect(try paths([leaf, stranger], anchors: [root]) == [])
        #expect(try paths([leaf, stranger, authority], anchors: [root]) == ders([[leaf, authority, root]]))
        #expect(try paths([leaf], anchors: [stranger]) == [])
    }

    /// The same name and key are not on a path twice (RFC 4158, 2.4.1).
    @Test func ringOfAuthoritiesIsLeft() throws {
        let one = try pki.forge(.authority("One"), by: root)
        let two = try pki.forge(.authority("Two"), by: one)
        let back = try TestPKI.forge(.authority("One"), withKeyOf: one, by: two)
        let leaf = try pki.forge(.server(), by: two)
        #expect(try paths([leaf, two, back, one], anchors: [root]) == ders([[leaf, two, one, root]]))
        #expect(try paths([leaf, two, back], anchors: [root]) == [])
        // Another key of the same name is another authority.
        let renewed = try pki.forge(.authority("One"), by: one)
        let three = try pki.forge(.authority("Three"), by: renewed)
        let last = try pki.forge(.server(), by: three)
        #expect(
            try paths([last, three, renewed, one], anchors: [root]) == ders([[last, three, renewed, one, root]]))
        // And so is another name of the same key.
        let renamed = try TestPKI.forge(.authority("Four"), withKeyOf: one, by: one)
        let end = try pki.forge(.server(), by: renamed)
        #expect(try paths([end, renamed, one], anchors: [root]) == ders([[end, renamed, one, root]]))
    }

    /// 256 issuers are examined, each for one authority of its own.
    @Test func stepsAreLimited() throws {
        let others = try (0..<300).map { number in
            var template = CertificateTemplate.authority("Authority")
            template.serialNumber = [1, UInt8(number / 128), UInt8(number % 128)]
            return try TestPKI.forge(template, withKeyOf: authority, by: root)
        }
        var asked = 0
        let none = try paths([leaf] + others, anchors: [root]) { _, position in
            asked += position == .intermediate ? 1 : 0
            return position == .leaf
        }
        #expect(none == [])
        #expect(asked == 256)
        // A path at the limit is found, and none behind it. The first anchor takes a step of its own.
        for (count, isFound) in [(254, true), (255, false)] {
            let found = try paths([leaf] + others.prefix(count) + [authority], anchors: [root]) {
                certificate, position in
                position != .intermediate || certificate.der == authority.der
            }
            #expect(found == (isFound ? ders([[leaf, authority, root]]) : []))
        }
    }
}

/// The limits of the work for other paths.
@Suite("Attempts at other paths", .timeLimit(.minutes(1)))
struct PathAttemptTests {
    private let pki: TestPKI
    private let root: ForgedCertificate
    private let authority: ForgedCertificate
    private let leaf: ForgedCertificate

    /// All authorities name the same key, so that OpenSSL finds out which one issued the leaf.
    init() throws {
        pki = try TestPKI()
        root = try TestPKI.forgeRoot(.authority("Root"))
        authority = try pki.forge(Self.template(), by: root)
        var server = CertificateTemplate.server()
        server.set("2.5.29.35", ASN1.sequence(ASN1.value(0x80, [1, 2, 3])))
        leaf = try pki.forge(server, by: authority)
    }

    private static func template(endsIn days: Double = 20) -> CertificateTemplate {
        var template = CertificateTemplate.authority("Authority")
        template.set("2.5.29.14", ASN1.octetString([1, 2, 3]))
        template.notAfter = CertificateTemplate.time(daysFromNow: days)
        return template
    }

    private func refusal(
        _ presented: [ForgedCertificate], _ profile: ChainProfile = .default
    ) async throws -> TrustRefusal? {
        let evaluator = StandardTrustEvaluator.systemTrust(
            anchors: try .certificates([root.certificate]), profile: profile)
        let trust = ServerTrust(host: "localhost", port: 443, presentedChain: presented.map(\.der))
        return await evaluator.evaluate(trust).refusal
    }

    /// An authority with the leaf's issuer's key that OpenSSL accepts and the strict profile refuses.
    private func refused() throws -> ForgedCertificate {
        var template = Self.template()
        template.set("2.5.29.15", critical: false)
        return try TestPKI.forge(template, withKeyOf: authority, by: root)
    }

    /// Eight paths are verified beside OpenSSL's own.
    @Test(arguments: [(7, true), (8, false), (9, false)])
    func pathsAreLimited(others: Int, isAccepted: Bool) async throws {
        let others = try (0..<others).map { _ in try pki.forge(Self.template(endsIn: 25), by: root) }
        let refusal = try await refusal([leaf] + others + [authority])
        #expect((refusal == nil) == isAccepted, "\(refusal?.message ?? "accepted")")
    }

    /// Two paths out of time are verified for the sake of the message.
    @Test(arguments: [(1, true), (2, false)])
    func pathsOutOfTimeAreLimited(others: Int, isReported: Bool) async throws {
        let others = try (0..<others).map { _ in try pki.forge(Self.template(endsIn: -0.25), by: root) }
        let late = try TestPKI.forge(Self.template(endsIn: -0.5), withKeyOf: authority, by: root)
        let refusal = try #require(try await refusal([leaf, refused()] + others + [late], .strict))
        #expect(refusal.reason == (isReported ? .expired : .keyUsageNotCritical), "\(refusal.message)")
        guard isReported else { return }
        #expect(refusal.certificate?.subject == "CN=Authority")
        #expect(refusal.seenPins == [leaf, authority, root].map { try? $0.certificate.publicKeyPin })
    }

    @Test func certificateThatIsEarlyIsTheReason() async throws {
        var template = Self.template()
        template.notBefore = CertificateTemplate.time(daysFromNow: 0.5)
        let early = try TestPKI.forge(template, withKeyOf: authority, by: root)
        let refusal = try #require(try await refusal([leaf, refused(), early], .strict))
        #expect(refusal.reason == .notYetValid)
        #expect(refusal.message.contains("is not valid before"))
    }
}
