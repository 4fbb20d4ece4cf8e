import LinnetTesting
import Testing

@testable import LinnetSecurity

@Suite("Policies", .timeLimit(.minutes(1)))
struct SecurityPolicyTests {
    /// Refuses with its name as the reason.
    private struct Named: TrustEvaluator {
        var name: String
        var isPinning = false

        func evaluate(_ trust: ServerTrust) async -> TrustDecision {
            .refused(TrustRefusal(TrustRefusal.Reason(name), name, trust: trust))
        }
    }

    private func policy(_ patterns: String...) throws -> SecurityPolicy {
        try SecurityPolicy(rules: patterns.map { try HostRule($0, Named(name: $0)) }, otherHosts: Named(name: "others"))
    }

    @Test(arguments: [
        ("www.example.com", "www.example.com"), ("WWW.Example.com.", "www.example.com"),
        ("b.example.com", "*.example.com"), ("a.example.com", "**.a.example.com"), ("example.com", "**.example.com"),
        ("a.b.example.com", "**.example.com"),
        ("x.a.example.com", "**.a.example.com"), ("a.example.org", "**.org"), ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1.", "192.0.2.1"), ("192.0.2.2", "others"), ("example.net", "others"), ("", "hostRefused"),
        ("xexample.com", "others"),
    ])
    func onlyTheMostSpecificRuleApplies(host: String, rule: String) async throws {
        let patterns = [
            "**.org", "**.example.com", "*.example.com", "www.example.com", "192.0.2.1", "**.a.example.com",
        ]
        for patterns in [patterns, patterns.reversed()] {
            let policy = try SecurityPolicy(
                rules: patterns.map { try HostRule($0, Named(name: $0)) }, otherHosts: Named(name: "others"))
            let decision = await policy.evaluate(ServerTrust([], host: host))
            #expect(decision.refusal?.reason.description == rule)
        }
    }

    @Test(arguments: [
        ["example.com", "EXAMPLE.com."], ["*.example.com", "a.example.com", "*.Example.com"],
        ["::1", "0:0:0:0:0:0:0:1"], ["192.0.2.1", "192.0.2.1."],
    ])
    func duplicateRulesAreAnError(patterns: [String]) throws {
        let rules = try patterns.map { try HostRule($0, Named(name: $0)) }
        let error = #expect(throws: SecurityError.self) { try SecurityPolicy(rules: rules) }
        #expect(error?.code == .duplicateRule)
    }

    @Test func wildcardsWithTheSameBaseAreDifferentRules() throws {
        #expect(
            try policy("example.com", "*.example.com", "**.example.com").rules.map(\.pattern.description)
                == ["example.com", "*.example.com", "**.example.com"])
    }

    @Test func ruleWithoutAPatternIsAnError() {
        let error = #expect(throws: SecurityError.self) { try HostRule("a..b", Named(name: "")) }
        #expect(error?.code == .invalidPattern)
    }

    @Test func otherHostsAreEvaluatedWithTheSystemStore() async throws {
        let policy = try SecurityPolicy(rules: [])
        let others = try #require(policy.otherHosts as? StandardTrustEvaluator)
        #expect(others.evaluator is AnchorEvaluator && others.allowsCleartext)
        #expect(await policy.evaluate(ServerTrust(try TestPKI().identity().chain)).refusal != nil)
    }

    // MARK: Identity

    @Test func copiesOfAPolicyShareItsIdentity() throws {
        let pin = try TestPKI.selfSigned().pin
        let policies = [
            SecurityPolicy.systemTrust, .insecureAcceptAnyCertificate, try .publicKeyPins([pin]),
            try .publicKeyPins([pin]), .everyHost(.refuse), try SecurityPolicy(rules: []),
        ]
        #expect(Set(policies.map(\.identity)).count == policies.count)
        let copy = policies[2]
        #expect(copy.identity == policies[2].identity)
        #expect(SecurityPolicy.systemTrust.identity == SecurityPolicy.systemTrust.identity)
    }

    // MARK: Pinning

    @Test func pinningIsReportedByHost() throws {
        let policy = try SecurityPolicy(
            rules: [
                HostRule("**.example.com", Named(name: "a", isPinning: true)),
                HostRule("open.example.com", Named(name: "b")),
            ], otherHosts: Named(name: "others"))
        #expect(policy.isPinning)
        #expect(policy.isPinning(host: "a.example.com"))
        #expect(!policy.isPinning(host: "open.example.com"))
        #expect(!policy.isPinning(host: "example.org"))
    }

    @Test func isPinningReflectsTheEvaluators() throws {
        let identity = try TestPKI.selfSigned()
        #expect(try SecurityPolicy.publicKeyPins([identity.pin]).isPinning)
        #expect(try SecurityPolicy.certificatePins([identity.certificate]).isPinning(host: "a"))
        #expect(!SecurityPolicy.systemTrust.isPinning)
        #expect(!SecurityPolicy.insecureAcceptAnyCertificate.isPinning)
        #expect(try !SecurityPolicy.systemTrust(anchors: .certificates(identity.chain)).isPinning(host: "a"))
        #expect(!SecurityPolicy.everyHost(.refuse).isPinning)
    }

    // MARK: Shorthands

    @Test func shorthandsApplyToEveryHost() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity { $0.hosts = ["a.example", "b.example"] }
        let anchors = try TrustAnchors.certificates([pki.root])
        let policies = [
            .systemTrust(anchors: anchors), try SecurityPolicy.publicKeyPins([identity.pin], anchors: anchors),
            try .certificatePins([identity.certificate]), try .certificatePins([pki.root], anchors: anchors),
            .insecureAcceptAnyCertificate,
        ]
        for policy in policies {
            for host in ["a.example", "b.example"] {
                #expect(await policy.evaluate(ServerTrust(identity.chain, host: host)).isAccepted)
            }
        }
        for policy in policies.dropLast() {
            #expect(await policy.evaluate(ServerTrust(identity.chain, host: "c.example")).refusal != nil)
        }
    }

    @Test func insecurePolicyAcceptsAnyCertificate() async throws {
        let policy = SecurityPolicy.insecureAcceptAnyCertificate
        let chain = try TestPKI.selfSigned { $0.validity = .expired }.chain
        let decision = await policy.evaluate(ServerTrust(chain, host: "other.example"))
        guard case .accepted(let trust) = decision else { return #expect(Bool(false), "\(decision)") }
        #expect(!trust.isPinned)
        #expect(trust.chain == chain.map(\.derBytes))
        #expect(trust.pins == chain.map(\.publicKeyPin))
    }
}
