import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// The verdict on a chain from lists and a stapled response.
@Suite("Revocation checks", .timeLimit(.minutes(1)))
struct RevocationCheckTests {
    private static let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
    private static let hour = 3600

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

    /// The input of a check.
    private struct Question {
        var chain: [ForgedCertificate]
        var presented: [ForgedCertificate] = []
        var options = RevocationOptions()
        var staple: Data?
        var awaits = false
    }

    private enum Outcome: Equatable {
        /// The seconds from now at which the answers expire.
        case accepted(until: Int? = nil, awaits: Bool = false)
        case refused(TrustRefusal.Reason)
    }

    private func outcome(_ question: Question) throws -> Outcome {
        let presented = try question.presented.map { try $0.certificate.handle }
        var trust = ServerTrust(host: "localhost", port: 443, presentedChain: [], time: Self.now)
        trust.stapledOCSPResponse = question.staple
        trust.awaitsStaple = question.awaits
        let chain = try question.chain.map { try $0.certificate.handle }
        do throws(TrustRefusal) {
            let verdict = try RevocationCheck(question.options, trust, presented: presented, allowsSHA1: false).run(
                chain)
            return .accepted(
                until: verdict.holdsUntil.map { Int($0.timeIntervalSince(Self.now)) }, awaits: verdict.awaitsStaple)
        } catch {
            return .refused(error.reason)
        }
    }

    private func outcome(_ chain: [ForgedCertificate], _ change: (inout Question) throws -> Void) throws -> Outcome {
        var question = Question(chain: chain)
        try change(&question)
        return try outcome(question)
    }

    private var chain: [ForgedCertificate] { [leaf, authority, root] }

    /// A list that is valid for a period in seconds from now.
    private func list(
        _ issuer: ForgedCertificate, revoking serial: [UInt8]? = nil, from this: Int = 0, to next: Int = hour,
        point: [UInt8]? = nil
    ) throws -> RevocationList {
        func time(_ offset: Int) -> [UInt8] {
            let text = Self.now.addingTimeInterval(TimeInterval(offset)).formatted(.iso8601).filter(\.isNumber)
            return ASN1.generalizedTime(text + "Z")
        }
        let entries = serial.map { [ASN1.sequence(ASN1.integer($0), time(0))] } ?? []
        let extensions = point.map { [CertificateTemplate.Extension("2.5.29.28", critical: true, ASN1.sequence($0))] }
        return try RevocationList(
            der: TestPKI.forgeList(
                entries, extensions: extensions ?? [], validity: (time(this), time(next)), by: issuer))
    }

    // MARK: Lists

    @Test(
        arguments: [
            (-7200, -300, .accepted(until: 0)), (-7200, -301, .refused(.revocationListOutdated)),
            (300, 7200, .accepted(until: 7500)), (301, 7200, .refused(.revocationListOutdated)),
        ] as [(Int, Int, Outcome)])
    private func listIsValidForAPeriod(this: Int, next: Int, wanted: Outcome) throws {
        let found = try outcome(chain) {
            ($0.options.lists, $0.options.failure) = ([try list(authority, from: this, to: next)], .hardForLeaf)
        }
        #expect(found == wanted)
        // An entry counts at any time.
        let revoked = try outcome(chain) {
            $0.options.lists = [try list(authority, revoking: [0x01, 0x23, 0x45], from: this, to: next)]
        }
        #expect(revoked == .refused(.revoked))
    }

    @Test func answersHoldUntilTheFirstEnds() throws {
        let (short, long) = (try list(authority, to: 100), try list(authority, to: 200))
        let roots = try list(root, to: 50)
        for lists in [[short, long], [long, short]] {
            #expect(try outcome(chain) { $0.options.lists = lists } == .accepted(until: 400))
            #expect(try outcome(chain) { $0.options.lists = lists + [roots] } == .accepted(until: 350))
        }
        #expect(try outcome(chain) { _ in } == .accepted())
        let ended = try list(authority, from: -1000, to: -500)
        #expect(try outcome(chain) { $0.options.lists = [ended] } == .accepted())
    }

    @Test func failureAppliesToTheLeafOrToEveryCertificateBelowTheAnchor() throws {
        let (own, roots) = (try list(authority), try list(root))
        for (lists, soft, leaf, hard) in [
            ([], nil, .revocationUnknown, .revocationUnknown), ([own], nil, nil, .revocationUnknown),
            ([roots], nil, .revocationUnknown, .revocationUnknown), ([own, roots], nil, nil, nil),
        ] as [([RevocationList], TrustRefusal.Reason?, TrustRefusal.Reason?, TrustRefusal.Reason?)] {
            for (failure, reason) in [
                (RevocationOptions.Failure.soft, soft), (.hardForLeaf, leaf), (.hard, hard),
            ] {
                let found = try outcome(chain) { ($0.options.lists, $0.options.failure) = (lists, failure) }
                let until = lists.isEmpty ? nil : Self.hour + 300
                #expect(found == reason.map { .refused($0) } ?? .accepted(until: until), "\(failure)")
            }
        }
    }

    /// An outdated list of the leaf's issuer says why there is no answer.
    @Test func firstReasonWithoutAnAnswerIsReported() throws {
        let (old, foreign) = (try list(authority, from: -1000, to: -500), try list(root))
        for lists in [[old, foreign], [foreign, old]] {
            let found = try outcome(chain) { ($0.options.lists, $0.options.failure) = (lists, .hardForLeaf) }
            #expect(found == .refused(.revocationListOutdated))
        }
    }

    // MARK: Promises (RFC 7633)

    private func promising(_ features: UInt8...) throws -> ForgedCertificate {
        var template = CertificateTemplate.server()
        template.set("1.3.6.1.5.5.7.1.24", ASN1.sequence(of: features.map { ASN1.integer($0) }))
        return try pki.forge(template, by: authority)
    }

    /// status_request and status_request_v2.
    @Test(
        arguments: [([5], true), ([17], true), ([4, 5], true), ([4], false), ([6, 16, 18], false)] as [([UInt8], Bool)])
    func promiseIsAFeatureOfTLS(features: [UInt8], isPromise: Bool) throws {
        var template = CertificateTemplate.server()
        template.set("1.3.6.1.5.5.7.1.24", ASN1.sequence(of: features.map { ASN1.integer($0) }))
        let leaf = try pki.forge(template, by: authority)
        #expect(try leaf.certificate.handle.promisesStaple == isPromise)
        let found = try outcome([leaf, authority, root]) { _ in }
        #expect(found == (isPromise ? .refused(.stapleMissing) : .accepted()))
    }

    @Test func promiseIsKept() throws {
        let chain = [try promising(5), authority, root]
        #expect(try outcome(chain) { $0.staple = Data() } == .refused(.stapleMissing))
        #expect(try outcome(chain) { $0.awaits = true } == .accepted(awaits: true))
        #expect(try outcome(chain) { $0.options.honorsMustStaple = false } == .accepted())
        // A promise is checked even if staples are not.
        #expect(try outcome(chain) { $0.options.checksStaple = false } == .refused(.stapleMissing))
        let useless = try outcome(chain) { ($0.staple, $0.options.checksStaple) = (Data([1]), false) }
        #expect(useless == .refused(.stapleInvalid))
        let ignored = try outcome(chain) {
            ($0.staple, $0.options.checksStaple, $0.options.honorsMustStaple) = (Data([1]), false, false)
        }
        #expect(ignored == .accepted())
        #expect(try outcome(self.chain) { $0.staple = Data([1]) } == .accepted())
    }

    /// An authority's promise is one for the certificates below it (RFC 7633, 4.2.2), an anchor's is not.
    @Test func promiseOfAnAuthorityIsForItsCertificates() throws {
        var template = CertificateTemplate.authority("Authority")
        template.set("1.3.6.1.5.5.7.1.24", ASN1.sequence(ASN1.integer(5)))
        let promising = try TestPKI.forge(template, withKeyOf: authority, by: root)
        #expect(try outcome([leaf, promising, root]) { _ in } == .refused(.stapleMissing))
        #expect(try outcome([leaf, promising]) { _ in } == .accepted())
    }

    @Test func decisionWaitsForTheLeafsStapleOnly() throws {
        for (failure, lists, wanted) in [
            (.soft, [], .accepted()), (.hardForLeaf, [], .accepted(awaits: true)),
            (.hard, [], .refused(.revocationUnknown)),
            (.hard, [try list(root)], .accepted(until: Self.hour + 300, awaits: true)),
        ] as [(RevocationOptions.Failure, [RevocationList], Outcome)] {
            let found = try outcome(chain) {
                ($0.options.failure, $0.options.lists, $0.awaits) = (failure, lists, true)
            }
            #expect(found == wanted, "\(failure)")
        }
        // It has arrived, and is useless.
        let late = try outcome(chain) { ($0.options.failure, $0.awaits, $0.staple) = (.hardForLeaf, true, Data([1])) }
        #expect(late == .refused(.stapleInvalid))
    }

    // MARK: A server's certificate that is an anchor

    @Test func anchorOfAServerIsCheckedIfItsIssuerIsKnown() throws {
        let list = try list(authority)
        for (failure, unknown) in [
            (.soft, .accepted()), (.hardForLeaf, .refused(.revocationUnknown)), (.hard, .refused(.revocationUnknown)),
        ] as [(RevocationOptions.Failure, Outcome)] {
            #expect(try outcome([leaf]) { $0.options.failure = failure } == unknown)
            let issuer = try outcome([leaf]) { ($0.options.failure, $0.presented) = (failure, [leaf, authority]) }
            #expect(issuer == unknown)
            let withList = try outcome([leaf]) {
                ($0.options.failure, $0.options.lists, $0.presented) = (failure, [list], [leaf, authority])
            }
            #expect(withList == (failure == .soft ? .accepted() : .accepted(until: Self.hour + 300)))
            // Nothing says that the list is of the certificate's issuer.
            let alone = try outcome([leaf]) { ($0.options.failure, $0.options.lists) = (failure, [list]) }
            #expect(alone == unknown)
            let waits = try outcome([leaf]) { ($0.options.failure, $0.awaits) = (failure, true) }
            #expect(waits == .accepted(awaits: failure != .soft))
        }
    }

    @Test func entryInAListOfTheNameRevokesAnAnchorOfAServer() throws {
        let (listed, other) = (try list(authority, revoking: [0x01, 0x23, 0x45]), try list(authority, revoking: [1]))
        #expect(try outcome([leaf]) { $0.options.lists = [other, listed] } == .refused(.revoked))
        #expect(try outcome([leaf]) { $0.options.lists = [other] } == .accepted())
    }

    @Test func certificateThatIssuedItselfHasNoOtherIssuer() throws {
        let own = try TestPKI.forgeRoot(.server())
        for failure in [RevocationOptions.Failure.soft, .hardForLeaf, .hard] {
            #expect(try outcome([own]) { $0.options.failure = failure } == .accepted())
        }
        #expect(try outcome([own]) { $0.staple = Data([1]) } == .accepted())
    }

    @Test func promiseOfAnAnchorOfAServerIsKept() throws {
        let promising = try promising(5)
        let presented = [promising, authority]
        #expect(try outcome([promising]) { _ in } == .refused(.stapleInvalid))
        #expect(try outcome([promising]) { $0.options.honorsMustStaple = false } == .accepted())
        #expect(try outcome([promising]) { $0.presented = presented } == .refused(.stapleMissing))
        #expect(
            try outcome([promising]) { ($0.presented, $0.awaits) = (presented, true) } == .accepted(awaits: true))
        #expect(
            try outcome([promising]) { ($0.presented, $0.staple) = (presented, Data([1])) } == .refused(.stapleInvalid))
        let ignored = try outcome([promising]) {
            ($0.presented, $0.options.honorsMustStaple) = (presented, false)
        }
        #expect(ignored == .accepted())
    }

    @Test(arguments: [TestPKI.Status.good, .revoked, .unknown])
    func stapleIsForAnAnchorOfAServerToo(status: TestPKI.Status) async throws {
        let identity = try pki.identity()
        let staple = try pki.ocspResponse(about: identity, status)
        let handles = identity.chain.map(\.handle)
        for (checks, failure) in [(true, RevocationOptions.Failure.soft), (true, .hard), (false, .soft)] {
            var options = RevocationOptions()
            (options.checksStaple, options.failure) = (checks, failure)
            var trust = ServerTrust(identity.chain)
            trust.stapledOCSPResponse = staple
            let check = RevocationCheck(options, trust, presented: handles, allowsSHA1: false)
            let wanted: TrustRefusal.Reason? =
                switch status {
                case .good: nil
                case .revoked: checks ? .revoked : nil
                case .unknown: failure == .hard ? .revocationUnknown : nil
                }
            do throws(TrustRefusal) {
                let verdict = try check.run([handles[0]])
                #expect(wanted == nil)
                #expect((verdict.holdsUntil != nil) == (checks && status == .good))
            } catch {
                #expect(error.reason == wanted)
            }
        }
    }

    // MARK: Issuers

    @Test func issuerIsFoundByNameAndSignature() throws {
        let (own, leaf) = (try authority.certificate.handle, try leaf.certificate.handle)
        #expect(own.issued(leaf))
        #expect(!leaf.issued(own))
        #expect(try !root.certificate.handle.issued(leaf))
        #expect(try root.certificate.handle.issued(own))
        var template = CertificateTemplate.server()
        template.set("2.5.29.35", [])
        let unmarked = try pki.forge(template, by: authority).certificate.handle
        let stranger = try TestPKI.forgeRoot(.authority("Authority")).certificate.handle
        #expect(own.issued(unmarked) && !stranger.issued(unmarked))
    }

    @Test func defaultsAreSoftWithStaplesAndFiveMinutes() {
        let options = RevocationOptions()
        #expect(options.checksStaple && options.honorsMustStaple && options.lists.isEmpty)
        #expect(options.failure == .soft && options.clockSkew == .seconds(300))
    }
}
