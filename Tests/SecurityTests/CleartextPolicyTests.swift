import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Testing

/// Each rule decides whether clear text may be sent to a host.
@Suite("Clear text by policy", .timeLimit(.minutes(1)))
struct CleartextPolicyTests {
    private let pki: TestPKI
    private let pin: StandardTrustEvaluator

    init() throws {
        pki = try TestPKI()
        pin = try StandardTrustEvaluator.pins([pki.root.publicKeyPin])
    }

    /// A custom evaluator that decides as the system does and does not mention clear text.
    private struct Own: TrustEvaluator {
        func evaluate(_ trust: ServerTrust) async -> TrustDecision {
            await StandardTrustEvaluator.systemTrust.evaluate(trust)
        }
    }

    private var hardFailure: StandardTrustEvaluator {
        var profile = ChainProfile.strict
        profile.revocation.failure = .hardForLeaf
        return StandardTrustEvaluator.systemTrust(profile: profile)
    }

    @Test func evaluatorsThatTrustAsMuchAsTheSystemAllowCleartext() throws {
        let evaluators: [any TrustEvaluator] = [
            .systemTrust, try .additionalAnchors([pki.root]), StandardTrustEvaluator.systemTrust(validatesHost: false),
            StandardTrustEvaluator.insecureAcceptAnyCertificate, .allOf(.hostname, .systemTrust),
            .anyOf(pin, .systemTrust),
            StandardTrustEvaluator.reportOnly(pin), pin.insecureAllowingCleartext(), Own().insecureAllowingCleartext(),
        ]
        for evaluator in evaluators {
            #expect(evaluator.allowsCleartext, "\(evaluator)")
            #expect(SecurityPolicy.everyHost(evaluator).allowsCleartext(to: "example.com"))
        }
    }

    @Test func stricterEvaluatorsRefuseCleartext() throws {
        let evaluators: [any TrustEvaluator] = [
            .refuse, pin, try StandardTrustEvaluator.certificatePins([pki.root]), try .onlyAnchors([pki.root]),
            hardFailure, Own(),
            try .pins(PinSet([pki.root.publicKeyPin], expiry: PinSet.Expiry(.distantPast, then: .dropPins))),
            .allOf(.systemTrust, pin), .allOf(pin, .systemTrust), .anyOf(pin, .refuse), .allOf(.systemTrust, Own()),
            StandardTrustEvaluator.reportOnly(.systemTrust, enforcing: pin),
            StandardTrustEvaluator.accepting(.systemTrust) { _, _ in nil },
        ]
        for evaluator in evaluators {
            #expect(!evaluator.allowsCleartext, "\(evaluator)")
            #expect(!SecurityPolicy.everyHost(evaluator).allowsCleartext(to: "example.com"))
        }
    }

    /// It replaces the system's anchors for all hosts alike.
    @Test func policyWithOtherAnchorsAllowsCleartext() throws {
        let policy = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
        #expect(policy.allowsCleartext(to: "example.com") && !policy.isPinning)
    }

    @Test func ruleForTheHostDecides() throws {
        let policy = try SecurityPolicy(
            rules: [
                HostRule("pinned.example", pin), HostRule("**.open.example", .systemTrust),
                HostRule("10.0.0.0/8", .refuse),
                HostRule("@private", .insecureAcceptAnyCertificate),
            ], otherHosts: .refuse)
        for (host, isAllowed) in [
            ("pinned.example", false), ("PINNED.example.", false), ("open.example", true), ("a.open.example.", true),
            ("10.1.2.3", false), ("::ffff:10.1.2.3", false), ("127.0.0.1", true), ("::ffff:127.0.0.1", true),
            ("example.com", false), ("127.1", false), ("0x0a000001", false), ("", false), ("[::1]", false),
            ("a b", false),
        ] { #expect(policy.allowsCleartext(to: host) == isAllowed, "\(host)") }
    }

    @Test func invalidHostDoesNotBypassARule() throws {
        let policy = try SecurityPolicy(rules: [HostRule("10.0.0.0/8", .refuse)])
        for host in ["0x0a000001", "10.1", "012.0.0.1", "", "10.0.0.1\0"] {
            #expect(!policy.allowsCleartext(to: host), "\(host)")
        }
        #expect(policy.allowsCleartext(to: "example.com") && !policy.allowsCleartext(to: "10.0.0.1."))
    }

    @Test func exceptionDoesNotChangeDecisions() async throws {
        let chain = try pki.identity().trust("localhost")
        let refused = SecurityPolicy.everyHost(StandardTrustEvaluator.refuse.insecureAllowingCleartext())
        #expect(await refused.evaluate(chain).refusal?.reason == .hostRefused)
        let pinned = pin.insecureAllowingCleartext()
        #expect(pinned.isPinning)
    }

    @Test func pinningModesFollowTheSameRule() throws {
        #expect(try SecurityPolicy.pinning(mode: .none).allowsCleartext(to: "a.example"))
        for mode in [PinningMode.publicKey, .certificate] {
            for invalid in [false, true] {
                let policy = try SecurityPolicy.pinning(
                    mode: mode, certificates: [pki.root], allowInvalidCertificates: invalid)
                #expect(!policy.allowsCleartext(to: "a.example"))
            }
        }
    }
}
