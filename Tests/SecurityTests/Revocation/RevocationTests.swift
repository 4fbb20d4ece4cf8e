import CommandSupport
import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// Lists and stapled responses.
@Suite("Revocation", .timeLimit(.minutes(5)))
struct RevocationTests {
    private let pki: TestPKI

    init() throws { pki = try TestPKI() }

    private func refusal(
        _ identity: TestPKI.Identity, staple: Data? = nil, awaits: Bool = false, profile: ChainProfile = .strict,
        _ configure: (inout RevocationOptions) throws -> Void = { _ in }
    ) async throws -> TrustRefusal? {
        var profile = profile
        try configure(&profile.revocation)
        var trust = ServerTrust(identity.chain)
        trust.stapledOCSPResponse = staple
        trust.awaitsStaple = awaits
        return await StandardTrustEvaluator.systemTrust(anchors: try pki.anchors, profile: profile).evaluate(trust)
            .refusal
    }

    // MARK: Lists

    @Test func listedCertificatesAreRevoked() async throws {
        let (bad, good) = (try pki.identity(), try pki.identity())
        let list = try RevocationList(der: pki.revocationList(revoking: [bad.certificate]))
        #expect(list.issuer == pki.intermediate.subject)
        #expect(list.nextUpdate > Date() && list.thisUpdate < Date())
        for failure in [RevocationOptions.Failure.soft, .hardForLeaf] {
            #expect(try await refusal(bad) { ($0.lists, $0.failure) = ([list], failure) }?.reason == .revoked)
            #expect(try await refusal(good) { ($0.lists, $0.failure) = ([list], failure) } == nil)
        }
    }

    @Test func hardFailureChecksEveryCertificateBelowTheAnchor() async throws {
        let identity = try pki.identity()
        let list = try RevocationList(der: pki.revocationList(revoking: []))
        let roots = try RevocationList(der: pki.revocationList(revoking: [], by: .root))
        let worse = try RevocationList(der: pki.revocationList(revoking: [pki.intermediate], by: .root))
        let hard = RevocationOptions.Failure.hard
        #expect(try await refusal(identity) { ($0.lists, $0.failure) = ([list], hard) }?.reason == .revocationUnknown)
        #expect(try await refusal(identity) { ($0.lists, $0.failure) = ([roots, list], hard) } == nil)
        #expect(try await refusal(identity) { $0.lists = [worse] }?.reason == .revoked)
    }

    @Test func expiredListOnlyProvesRevocation() async throws {
        let (bad, good) = (try pki.identity(), try pki.identity())
        let list = try RevocationList(der: pki.revocationList(revoking: [bad.certificate], validity: .expired))
        #expect(try await refusal(bad) { $0.lists = [list] }?.reason == .revoked)
        #expect(try await refusal(good) { $0.lists = [list] } == nil)
        let refused = try await refusal(good) { ($0.lists, $0.failure) = ([list], .hard) }
        #expect(refused?.reason == .revocationListOutdated)
        let early = try RevocationList(der: pki.revocationList(revoking: [], validity: .notYetValid))
        #expect(
            try await refusal(good) { ($0.lists, $0.failure) = ([early], .hardForLeaf) }?.reason
                == .revocationListOutdated)
    }

    @Test func listOfAnotherAuthorityWithTheSameNameHasNoEffect() async throws {
        let identity = try pki.identity()
        let other = try TestPKI()
        let list = try RevocationList(der: other.revocationList(revoking: [identity.certificate]))
        #expect(list.issuer == pki.intermediate.subject)
        #expect(try await refusal(identity) { $0.lists = [list] } == nil)
        #expect(
            try await refusal(identity) { ($0.lists, $0.failure) = ([list], .hardForLeaf) }?.reason
                == .revocationUnknown)
    }

    /// A list of another distribution point, and a list of authorities' certificates.
    @Test(arguments: [
        ASN1.sequence(ASN1.value(0xA0, ASN1.value(0xA0, Part.uri("http://crl.example/other.crl")))),
        ASN1.sequence(ASN1.value(0x82, [0xFF])),
    ])
    func listedCertificatesAreRevokedOutsideTheScopeOfTheList(point: [UInt8]) async throws {
        let (bad, good) = (try pki.identity(), try pki.identity())
        let list = try RevocationList(der: pki.revocationList(revoking: [bad.certificate], distributionPoint: point))
        for failure in [RevocationOptions.Failure.soft, .hardForLeaf] {
            #expect(try await refusal(bad) { ($0.lists, $0.failure) = ([list], failure) }?.reason == .revoked)
        }
        #expect(try await refusal(good) { $0.lists = [list] } == nil)
        let refused = try await refusal(good) { ($0.lists, $0.failure) = ([list], .hardForLeaf) }
        #expect(refused?.reason == .revocationUnknown)
    }

    @Test func listsAreReadFromFiles() async throws {
        try await Scratch.with { scratch in
            let der = try pki.revocationList(revoking: [])
            let pem = try Command.run(["openssl", "crl", "-inform", "DER", "-in", scratch.write("a.crl", der)]).text
            let path = try scratch.write("two.pem", pem + pem)
            #expect(try RevocationList.all(contentsOfFile: path).map(\.derBytes) == [der, der])
            #expect(try RevocationList.all(contentsOfFile: scratch.file("a.crl")).map(\.derBytes) == [der])
            let missing = #expect(throws: SecurityError.self) {
                try RevocationList.all(contentsOfFile: scratch.file("none"))
            }
            #expect(missing?.code == .cannotReadFile)
        }
    }

    @Test func invalidListsAreRefused() throws {
        let der = try pki.revocationList(revoking: [])
        for bytes in [Data(), Data("list".utf8), der.dropLast(), der + [0], pki.root.derBytes] {
            let error = #expect(throws: SecurityError.self) { try RevocationList(der: bytes) }
            #expect(error?.code == .invalidRevocationList)
        }
        let error = #expect(throws: SecurityError.self) { try RevocationList.all(pem: Data(pki.rootPEM.utf8)) }
        #expect(error?.code == .invalidRevocationList)
    }

    /// DER does not encode FALSE, the default.
    @Test(arguments: [[0x00], [0x01], [], [0xFF, 0xFF]] as [[UInt8]], [0x81, 0x82] as [UInt8])
    func listsWithMalformedScopesAreRefused(boolean: [UInt8], tag: UInt8) throws {
        let point = ASN1.sequence(ASN1.value(tag, boolean))
        let der = try pki.revocationList(revoking: [], distributionPoint: point)
        let error = #expect(throws: SecurityError.self) { try RevocationList(der: der) }
        #expect(error?.code == .invalidRevocationList)
        #expect(error?.message.contains("BOOLEAN") == true)
    }

    @Test func listOfServersCertificatesIsForServers() async throws {
        let point = ASN1.sequence(ASN1.value(0x81, [0xFF]))
        let list = try RevocationList(der: pki.revocationList(revoking: [], distributionPoint: point))
        let identity = try pki.identity()
        #expect(try await refusal(identity) { ($0.lists, $0.failure) = ([list], .hardForLeaf) } == nil)
    }

    /// A list for servers' certificates only says nothing about authorities' certificates (RFC 5280, 6.3.3 (b)).
    @Test(arguments: [(0x81, .revocationUnknown), (0x82, nil)] as [(UInt8, TrustRefusal.Reason?)])
    func scopesOfListsApplyToIntermediates(tag: UInt8, reason: TrustRefusal.Reason?) async throws {
        let point = ASN1.sequence(ASN1.value(tag, [0xFF]))
        let list = try RevocationList(der: pki.revocationList(revoking: [], by: .root, distributionPoint: point))
        let leaves = try RevocationList(der: pki.revocationList(revoking: []))
        let refused = try await refusal(try pki.identity()) { ($0.lists, $0.failure) = ([leaves, list], .hard) }
        #expect(refused?.reason == reason, "\(refused?.message ?? "accepted")")
    }

    @Test func changedListDoesNotClearARevokedCertificate() async throws {
        let identity = try pki.identity()
        let der = try pki.revocationList(revoking: [identity.certificate])
        for index in der.indices {
            var changed = der
            changed[index] ^= 0x01
            guard let list = try? RevocationList(der: changed) else { continue }
            let refused = try await refusal(identity) { ($0.lists, $0.failure) = ([list], .hardForLeaf) }
            #expect(refused != nil, "byte \(index)")
        }
    }

    // MARK: Staples

    @Test(arguments: [false, true])
    func validStapleIsAccepted(sha256: Bool) async throws {
        let identity = try pki.identity()
        let good = try pki.ocspResponse(about: identity, usesSHA256: sha256)
        let revoked = try pki.ocspResponse(about: identity, .revoked, usesSHA256: sha256)
        #expect(try await refusal(identity, staple: good) { $0.failure = .hardForLeaf } == nil)
        #expect(try await refusal(identity, staple: revoked)?.reason == .revoked)
        #expect(try await refusal(identity, staple: revoked, profile: .lenient)?.reason == .revoked)
        #expect(try await refusal(identity, staple: revoked) { $0.checksStaple = false } == nil)
    }

    @Test func uselessStapleIsTreatedByTheFailureMode() async throws {
        let identity = try pki.identity()
        let other = try TestPKI()
        let staples: [(Data, TrustRefusal.Reason)] = [
            (Data("staple".utf8), .stapleInvalid),
            (Data(count: 100_000), .stapleInvalid),
            (try pki.ocspResponse(about: identity, .unknown), .revocationUnknown),
            (try pki.ocspResponse(about: identity, validity: .expired), .stapleOutdated),
            (try pki.ocspResponse(about: identity, validity: .notYetValid), .stapleOutdated),
            (try pki.ocspResponse(about: pki.identity()), .stapleInvalid),
            (try other.ocspResponse(about: other.identity(), .revoked), .stapleInvalid),
            // Signed by a responder without authorization, and by another authority's responder.
            (try pki.ocspResponse(about: identity, .revoked, signedBy: pki.identity()), .stapleInvalid),
            (try pki.ocspResponse(about: identity, .revoked, signedBy: other.responder()), .stapleInvalid),
            (
                try pki.ocspResponse(about: identity, signedBy: pki.responder { $0.validity = .expired }),
                .stapleInvalid
            ),
            (try pki.ocspResponse(about: identity, signedBy: pki.responder { $0.key = .rsa1024 }), .stapleInvalid),
        ]
        for (index, (staple, reason)) in staples.enumerated() {
            #expect(try await refusal(identity, staple: staple) == nil, "\(index)")
            let hard = try await refusal(identity, staple: staple) { $0.failure = .hardForLeaf }
            #expect(hard?.reason == reason, "\(index): \(hard?.message ?? "accepted")")
        }
    }

    @Test func authorizedResponderIsAccepted() async throws {
        let identity = try pki.identity()
        let responder = try pki.responder()
        let good = try pki.ocspResponse(about: identity, signedBy: responder)
        #expect(try await refusal(identity, staple: good) { $0.failure = .hardForLeaf } == nil)
        let revoked = try pki.ocspResponse(about: identity, .revoked, signedBy: responder)
        #expect(try await refusal(identity, staple: revoked)?.reason == .revoked)
    }

    @Test func changedStapleIsNotAccepted() async throws {
        let identity = try pki.identity()
        let staple = try pki.ocspResponse(about: identity)
        for index in staple.indices {
            var changed = staple
            changed[index] ^= 0x01
            let refused = try await refusal(identity, staple: changed) { $0.failure = .hardForLeaf }
            #expect(refused != nil, "byte \(index)")
        }
    }

    /// RFC 6960, 4.4: a response with a critical extension that is not understood is not accepted.
    @Test(arguments: [TestPKI.ResponsePart.response, .singleResponse])
    func criticalExtensionOfAStapleIsUnderstoodOrTheStapleIsUseless(part: TestPKI.ResponsePart) async throws {
        let identity = try pki.identity()
        let critical = try pki.ocspResponse(about: identity, unknownExtensionIn: part, isCritical: true)
        let refused = try await refusal(identity, staple: critical) { $0.failure = .hardForLeaf }
        #expect(refused?.reason == .stapleInvalid)
        #expect(refused?.message.contains("RFC 6960, 4.4") == true)
        #expect(try await refusal(identity, staple: critical) == nil)
        let other = try pki.ocspResponse(about: identity, unknownExtensionIn: part, isCritical: false)
        #expect(try await refusal(identity, staple: other) { $0.failure = .hardForLeaf } == nil)
        let revoked = try pki.ocspResponse(about: identity, .revoked, unknownExtensionIn: part, isCritical: true)
        #expect(try await refusal(identity, staple: revoked)?.reason == .revoked)
        let promising = try pki.identity { $0.promisesStaple = true }
        let promised = try pki.ocspResponse(about: promising, unknownExtensionIn: part, isCritical: true)
        #expect(try await refusal(promising, staple: promised)?.reason == .stapleInvalid)
    }

    // MARK: Must-staple

    @Test func promisedStapleIsRequired() async throws {
        let identity = try pki.identity { $0.promisesStaple = true }
        #expect(try await refusal(identity)?.reason == .stapleMissing)
        #expect(try await refusal(identity, staple: Data())?.reason == .stapleMissing)
        #expect(try await refusal(identity) { $0.honorsMustStaple = false } == nil)
        #expect(try await refusal(identity, staple: pki.ocspResponse(about: identity)) == nil)
        let outdated = try pki.ocspResponse(about: identity, validity: .expired)
        #expect(try await refusal(identity, staple: outdated)?.reason == .stapleOutdated)
        #expect(try await refusal(identity, staple: Data("staple".utf8))?.reason == .stapleInvalid)
    }

    @Test func decisionWaitsForAStapleThatMayArrive() async throws {
        let promising = try pki.identity { $0.promisesStaple = true }
        #expect(try await refusal(promising, awaits: true) == nil)
        let plain = try pki.identity()
        #expect(try await refusal(plain, awaits: true) { $0.failure = .hardForLeaf } == nil)
        #expect(try await refusal(plain, awaits: true) { $0.failure = .hard }?.reason == .revocationUnknown)
        var trust = ServerTrust(promising.chain)
        trust.awaitsStaple = true
        let system = StandardTrustEvaluator.systemTrust(anchors: try pki.anchors)
        for evaluator in [system, StandardTrustEvaluator.allOf(.hostname, system, .hostname)]
            as [any TrustEvaluator]
        {
            guard case .accepted(let verified) = await evaluator.evaluate(trust) else {
                Issue.record("refused")
                continue
            }
            #expect(verified.awaitsStaple)
        }
    }

    /// A custom evaluator that creates its own result does not lose the second evaluation.
    @Test func customResultIsEvaluatedAgain() async throws {
        struct Rewriting: TrustEvaluator {
            let evaluator: any TrustEvaluator

            func evaluate(_ trust: ServerTrust) async -> TrustDecision {
                guard case .accepted(let inner) = await evaluator.evaluate(trust) else {
                    return .refused(.init(.hostRefused, "", trust: trust))
                }
                return .accepted(VerifiedTrust(chain: inner.chain, pins: inner.pins, isPinned: true))
            }
        }
        var profile = ChainProfile.strict
        profile.revocation.failure = .hardForLeaf
        let own = Rewriting(evaluator: StandardTrustEvaluator.systemTrust(anchors: try pki.anchors, profile: profile))
        let reports = EventRecorder<TrustReport>()
        var trust = ServerTrust(try pki.identity().chain)
        trust.awaitsStaple = true
        let wrong = try StandardTrustEvaluator.pins([TestPKI.selfSigned().pin], anchors: pki.anchors)
        for evaluator in [
            own, StandardTrustEvaluator.accepting(own) { _, _ in nil }, StandardTrustEvaluator.anyOf(own),
            StandardTrustEvaluator.allOf(.hostname, own), StandardTrustEvaluator.reportOnly(wrong, enforcing: own),
        ] as [any TrustEvaluator] {
            let policy = SecurityPolicy.everyHost(evaluator).reporting(to: TrustReporter { reports.record($0) })
            guard case .accepted(let verified) = await policy.evaluate(trust) else {
                Issue.record("refused")
                continue
            }
            #expect(verified.awaitsStaple)
        }
        // Findings are reported once.
        #expect(reports.events.isEmpty)
    }

    @Test func listAndStapleAreBothChecked() async throws {
        let identity = try pki.identity()
        let list = try RevocationList(der: pki.revocationList(revoking: [identity.certificate]))
        let good = try pki.ocspResponse(about: identity)
        #expect(try await refusal(identity, staple: good) { $0.lists = [list] }?.reason == .revoked)
        let clear = try RevocationList(der: pki.revocationList(revoking: []))
        let unknown = try pki.ocspResponse(about: identity, .unknown)
        #expect(
            try await refusal(identity, staple: unknown) { ($0.lists, $0.failure) = ([clear], .hardForLeaf) } == nil)
    }
}
