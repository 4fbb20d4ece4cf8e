import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// Each kind of rule against each kind of server; the table of decisions is printed.
@Suite("Decisions by rule and server", .timeLimit(.minutes(5)))
struct TrustMatrixTests {
    /// The presented chain of a server, and the pins and facts about it.
    struct Situation {
        var name: String
        var presented: [X509Certificate]
        var pinned: X509Certificate
        var host = "localhost"
        var staple: Data?
        var lists: [RevocationList] = []
        /// The expected decision of each row, in the order of ``TrustMatrixTests/rows``.
        var expected: [String]
    }

    struct Row: Sendable {
        var name: String
        var evaluator: @Sendable (Situation, TrustAnchors, ChainProfile) throws -> any TrustEvaluator
    }

    static let rows: [Row] = [
        Row(name: "no rule") { _, anchors, profile in
            StandardTrustEvaluator.systemTrust(anchors: anchors, profile: profile)
        },
        Row(name: "none") { _, anchors, profile in
            StandardTrustEvaluator.allOf(.systemTrust(anchors: anchors, profile: profile))
        },
        Row(name: "certificate") { situation, _, profile in
            try StandardTrustEvaluator.certificatePins([situation.pinned], profile: profile)
        },
        Row(name: "publicKey") { situation, anchors, profile in
            try StandardTrustEvaluator.pins([situation.pinned.publicKeyPin], anchors: anchors, profile: profile)
        },
        Row(name: "report-only") { situation, anchors, profile in
            StandardTrustEvaluator.reportOnly(
                try StandardTrustEvaluator.pins([situation.pinned.publicKeyPin], anchors: anchors, profile: profile),
                enforcing: .systemTrust(anchors: anchors, profile: profile))
        },
        Row(name: "expired pins") { situation, anchors, profile in
            let set = PinSet([situation.pinned.publicKeyPin], expiry: PinSet.Expiry(.days(-1), then: .dropPins))
            return try StandardTrustEvaluator.pins(set, anchors: anchors, profile: profile)
        },
        Row(name: "expired pins, refusing") { situation, anchors, profile in
            let set = PinSet([situation.pinned.publicKeyPin], expiry: PinSet.Expiry(.days(-1), then: .refuse))
            return try StandardTrustEvaluator.pins(set, anchors: anchors, profile: profile)
        },
    ]

    private static func situations(_ pki: TestPKI) throws -> [Situation] {
        let (good, other) = (try pki.identity(), try TestPKI())
        let leaf = good.certificate
        let expired = try pki.identity { $0.validity = .expired }
        let early = try pki.identity { $0.validity = .notYetValid }
        let own = try TestPKI.selfSigned()
        let promising = try pki.identity { $0.promisesStaple = true }
        let stranger = try other.identity()
        let list = try RevocationList(der: pki.revocationList(revoking: [leaf]))
        let revoked = try pki.ocspResponse(about: good, .revoked)
        func all(_ reason: String) -> [String] { rows(reason, reason, reason, reason) }
        // A report-only rule, or a rule with expired pins, decides like no rule, and adds findings.
        func rows(
            _ plain: String, _ certificate: String, _ publicKey: String, _ reported: String
        ) -> [String] {
            [plain, plain, certificate, publicKey, reported, plain, "pinsExpired"]
        }
        return [
            Situation(
                name: "good", presented: good.chain, pinned: leaf,
                expected: rows("accepted", "pinned", "pinned", "accepted")),
            Situation(
                name: "wrong pin", presented: good.chain, pinned: other.root,
                expected: rows("accepted", "unknownAuthority", "pinMismatch", "accepted, pinMismatch reported")),
            Situation(
                name: "unknown CA", presented: stranger.chain, pinned: leaf, expected: all("unknownAuthority")),
            Situation(name: "expired", presented: expired.chain, pinned: expired.certificate, expected: all("expired")),
            Situation(
                name: "not yet valid", presented: early.chain, pinned: early.certificate,
                expected: all("notYetValid")),
            Situation(
                name: "wrong name", presented: good.chain, pinned: leaf, host: "example.com",
                expected: all("hostnameMismatch")),
            Situation(
                name: "self-signed pinned", presented: own.chain, pinned: own.certificate,
                expected: rows("selfSigned", "pinned", "selfSigned", "selfSigned")),
            Situation(
                name: "self-signed unpinned", presented: own.chain, pinned: leaf, expected: all("selfSigned")),
            Situation(
                name: "revoked by CRL", presented: good.chain, pinned: leaf, lists: [list], expected: all("revoked")),
            Situation(
                name: "revoked by OCSP", presented: good.chain, pinned: leaf, staple: revoked,
                expected: all("revoked")),
            Situation(
                name: "missing staple", presented: promising.chain, pinned: promising.certificate,
                expected: all("stapleMissing")),
            Situation(
                name: "intermediate pinned", presented: good.chain, pinned: pki.intermediate,
                expected: rows("accepted", "pinned", "pinned", "accepted")),
            Situation(
                name: "root pinned", presented: good.chain, pinned: pki.root,
                expected: rows("accepted", "pinned", "pinned", "accepted")),
            Situation(
                name: "pin sent, not verified", presented: good.chain + [stranger.certificate],
                pinned: stranger.certificate,
                expected: rows("accepted", "unknownAuthority", "pinMismatch", "accepted, pinMismatch reported")),
        ]
    }

    @Test func everyRuleGivesTheExpectedDecisionForEveryServer() async throws {
        let pki = try TestPKI()
        let situations = try Self.situations(pki)
        var table = [[""] + Self.rows.map(\.name)]
        for situation in situations {
            var profile = ChainProfile.strict
            profile.revocation.lists = situation.lists
            var line = [situation.name]
            for (row, expected) in zip(Self.rows, situation.expected) {
                let evaluator = try row.evaluator(situation, pki.anchors, profile)
                var trust = ServerTrust(situation.presented, host: situation.host)
                trust.stapledOCSPResponse = situation.staple
                let verdict =
                    switch await evaluator.evaluate(trust) {
                    case .accepted(let verified):
                        ([verified.isPinned ? "pinned" : "accepted"]
                            + verified.findings.map { "\($0.reason) reported" }).joined(separator: ", ")
                    case .refused(let refusal): refusal.reason.description
                    }
                #expect(verdict == expected, "\(situation.name), \(row.name)")
                line.append(verdict)
            }
            table.append(line)
        }
        print(Self.text(table))
    }

    private static func text(_ table: [[String]]) -> String {
        let widths = table[0].indices.map { column in table.map { $0[column].count }.max() ?? 0 }
        return table.map { line in
            zip(line, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ")
        }.joined(separator: "\n")
    }
}
