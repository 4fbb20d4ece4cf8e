import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Testing

/// Certificate policies (RFC 5280, 6.1) with any-policy as the initial set (6.1.1 (c)), where an authority constrains
/// them.
@Suite("Certificate policies", .timeLimit(.minutes(1)))
struct PolicyTests {
    /// A chain of certificates from the authority below the root to the server, and whether it is accepted.
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        let isAccepted: Bool
        let changes: [@Sendable (inout CertificateTemplate) -> Void]

        init(_ description: String, _ isAccepted: Bool, _ changes: (@Sendable (inout CertificateTemplate) -> Void)...) {
            (self.description, self.isAccepted, self.changes) = (description, isAccepted, changes)
        }
    }

    private typealias Change = @Sendable (inout CertificateTemplate) -> Void

    private static let anyPolicy = "2.5.29.32.0"

    private static func policies(_ identifiers: String...) -> Change {
        { $0.set("2.5.29.32", ASN1.sequence(of: identifiers.map { ASN1.sequence(ASN1.object($0)) })) }
    }

    /// Demands a policy after a number of certificates.
    private static func demand(_ skipped: UInt8) -> Change {
        { $0.set("2.5.29.36", critical: true, ASN1.sequence(ASN1.value(0x80, [skipped]))) }
    }

    private static func inhibitMapping(_ skipped: UInt8) -> Change {
        { $0.set("2.5.29.36", critical: true, ASN1.sequence(ASN1.value(0x80, [0]), ASN1.value(0x81, [skipped]))) }
    }

    private static func inhibitAny(_ skipped: UInt8) -> Change {
        { $0.set("2.5.29.54", critical: true, ASN1.integer(skipped)) }
    }

    private static func map(_ from: String, to: String) -> Change {
        { $0.set("2.5.29.33", critical: true, ASN1.sequence(ASN1.sequence(ASN1.object(from), ASN1.object(to)))) }
    }

    private static func all(_ changes: Change...) -> Change {
        { template in for change in changes { change(&template) } }
    }

    static let cases: [Case] = [
        Case("the policy that is demanded", true, all(policies("1.2.3"), demand(0)), policies("1.2.3")),
        Case("one of two policies", true, all(policies("1.2.3", "1.2.4"), demand(0)), policies("1.2.4")),
        Case("another policy", false, all(policies("1.2.3"), demand(0)), policies("1.2.4")),
        Case("no policy", false, all(policies("1.2.3"), demand(0)), { _ in }),
        Case("no policy, and none demanded yet", true, all(policies("1.2.3"), demand(2)), { _ in }),
        Case(
            "no policy of the server's, demanded from the second certificate on", false,
            all(policies("1.2.3"), demand(1)), policies("1.2.3"), { _ in }),
        Case("any policy above", true, all(policies(anyPolicy), demand(0)), policies("1.2.3")),
        Case("any policy below", true, all(policies("1.2.3"), demand(0)), policies(anyPolicy)),
        Case("any policy everywhere", true, all(policies(anyPolicy), demand(0)), policies(anyPolicy)),
        Case("through two authorities", true, all(policies("1.2.3"), demand(0)), policies("1.2.3"), policies("1.2.3")),
        Case(
            "lost at the second authority", false, all(policies("1.2.3"), demand(0)), policies("1.2.4"),
            policies("1.2.3")),
        Case(
            "demanded by the second authority", true, policies("1.2.3"), all(policies("1.2.3"), demand(0)),
            policies("1.2.3")),
        Case("mapped", true, all(policies("1.2.3"), demand(0), map("1.2.3", to: "1.2.9")), policies("1.2.9")),
        Case(
            "mapped, and the server has the one before", false,
            all(policies("1.2.3"), demand(0), map("1.2.3", to: "1.2.9")), policies("1.2.3")),
        Case(
            "mapped at the second authority", true, all(policies("1.2.3"), demand(0)),
            all(policies("1.2.3"), map("1.2.3", to: "1.2.9")), policies("1.2.9")),
        Case(
            "mapped at the second authority, which is inhibited", false, all(policies("1.2.3"), inhibitMapping(0)),
            all(policies("1.2.3"), map("1.2.3", to: "1.2.9")), policies("1.2.9")),
        Case(
            "any policy, which is inhibited", false, all(policies("1.2.3"), demand(0), inhibitAny(0)),
            policies(anyPolicy)),
        Case(
            "any policy, which is inhibited further below", true, all(policies("1.2.3"), demand(0), inhibitAny(1)),
            policies(anyPolicy), policies("1.2.3")),
        Case(
            "any policy of the server's, which is inhibited there", false,
            all(policies("1.2.3"), demand(0), inhibitAny(1)), policies("1.2.3"), policies(anyPolicy)),
        Case(
            "the policy, where any is inhibited", true, all(policies("1.2.3"), demand(0), inhibitAny(0)),
            policies("1.2.3")),
        Case(
            "any policy inhibited, and none demanded", true, all(policies("1.2.3"), inhibitAny(0)), policies(anyPolicy)),
    ]

    @Test(arguments: cases)
    func policiesAreProcessedWhereTheyAreConstrained(_ chain: Case) async throws {
        let pki = try TestPKI()
        let root = try TestPKI.forgeRoot(.authority("Root"))
        var issuers = [root]
        for (index, change) in chain.changes.dropLast().enumerated() {
            var authority = CertificateTemplate.authority("Authority \(index)")
            change(&authority)
            issuers.append(try pki.forge(authority, by: issuers.last))
        }
        var server = CertificateTemplate.server()
        chain.changes.last?(&server)
        let leaf = try pki.forge(server, by: issuers.last)
        let presented = [leaf.der] + issuers.dropFirst().reversed().map(\.der)
        let trust = ServerTrust(host: "localhost", port: 443, presentedChain: presented)
        let anchors = try TrustAnchors.certificates([root.certificate])
        for profile in [ChainProfile.default, .strict] {
            let refusal = await StandardTrustEvaluator.systemTrust(anchors: anchors, profile: profile).evaluate(trust)
                .refusal
            #expect(refusal?.reason == (chain.isAccepted ? nil : .chainInvalid), "\(refusal?.message ?? "accepted")")
        }
        // Without the rule about critical extensions, policies are not processed.
        let lenient = StandardTrustEvaluator.systemTrust(anchors: anchors, profile: .lenient)
        #expect(await lenient.evaluate(trust).isAccepted)
    }
}
