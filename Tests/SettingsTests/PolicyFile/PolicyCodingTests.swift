import FoundationEssentials
import LinnetSecurity
import LinnetSettings
import LinnetTesting
import Testing

/// Policies made in code, written as documents and made again.
@Suite("Coding policies", .timeLimit(.minutes(5)))
struct PolicyCodingTests {
    private static let materials = Result { try CodedPolicy.Materials() }
    private static let hosts = [
        "localhost", "other.example", "a.b.example", "127.0.0.1", "2001:db8::1", "nas", "x.local",
    ]

    private func made(_ document: SecurityPolicyDocument) throws -> SecurityPolicy {
        let read = try SecurityPolicyDocument(json: document.json())
        #expect(read == document)
        return try SecurityPolicyFile(read).makePolicy()
    }

    /// The observable parts of a decision.
    private func outcome(_ policy: SecurityPolicy, _ trust: ServerTrust) async -> [String] {
        switch await policy.evaluate(trust) {
        case .accepted(let verified):
            [
                "accepted", "\(verified.chain.map { $0.base64EncodedString() })", "\(verified.pins)",
                "\(verified.isPinned)",
                "\(String(describing: verified.validUntil))", "\(verified.awaitsStaple)",
                "\(verified.findings.map(\.message))",
            ]
        case .refused(let refusal):
            [
                refusal.reason.description, refusal.message, "\(refusal.wantedPins)",
                "\(String(describing: refusal.certificate))",
            ]
        }
    }

    @Test(arguments: CodedPolicy.all)
    func documentsMakePoliciesThatDecideTheSame(_ coded: CodedPolicy) async throws {
        let materials = try Self.materials.get()
        let policy = try coded.make(materials)
        let document = try SecurityPolicyDocument(policy)
        let same = try made(document)
        #expect(try SecurityPolicyDocument(same) == document)
        #expect(same.isPinning == policy.isPinning)
        #expect(same.allowsSessionResumption == policy.allowsSessionResumption)
        #expect(same.rules.map(\.pattern) == policy.rules.map(\.pattern))
        let time = Date()
        for host in Self.hosts {
            #expect(same.allowsCleartext(to: host) == policy.allowsCleartext(to: host), "\(host)")
            #expect(same.isPinning(host: host) == policy.isPinning(host: host), "\(host)")
            for chain in materials.chains {
                let trust = ServerTrust(chain, host: host, time: time)
                #expect(await outcome(same, trust) == outcome(policy, trust), "\(host)")
            }
        }
        // The check of a file finds no error in the written document.
        let findings = try SecurityPolicyFile(document).findings(at: time)
        #expect(!findings.contains { $0.severity == .error }, "\(findings)")
    }

    /// Without this, the table above could compare refusals alone.
    @Test func tableHasAcceptingAndRefusingPolicies() async throws {
        let materials = try Self.materials.get()
        let trust = ServerTrust(materials.server.chain)
        var accepting: [String] = []
        for coded in CodedPolicy.all where await (try coded.make(materials)).evaluate(trust).isAccepted {
            accepting.append(coded.name)
        }
        #expect(accepting.count > CodedPolicy.all.count / 3, "\(accepting)")
        #expect(accepting.count < CodedPolicy.all.count * 4 / 5, "\(accepting)")
    }

    @Test func documentsAreShortWherePoliciesAreSimple() throws {
        let pin = try Self.materials.get().server.pin
        #expect(try SecurityPolicyDocument(.systemTrust) == SecurityPolicyDocument())
        let rules = try SecurityPolicy(
            rules: [HostRule("a.example", .pins([pin])), HostRule("b.example", .pins([pin]))], otherHosts: .refuse)
        #expect(
            try SecurityPolicyDocument(rules)
                == SecurityPolicyDocument(
                    rules: [.init(hosts: ["a.example", "b.example"], pins: [pin.description])], otherHosts: .refuse))
    }

    // MARK: Policies that cannot be written

    private struct Custom: TrustEvaluator {
        func evaluate(_ trust: ServerTrust) async -> TrustDecision {
            await StandardTrustEvaluator.refuse.evaluate(trust)
        }
    }

    @Test(arguments: [
        (StandardTrustEvaluator.allOf(Custom()), "Custom"),
        (.accepting(.systemTrust) { _, _ in nil }, "accepting"),
        (.anyOf(.refuse, .allOf(.accepting(.refuse) { _, _ in nil })), "accepting"),
        (.reportOnly(Custom()), "Custom"), (.reportOnly(.refuse, enforcing: Custom()), "Custom"),
        ((0..<9).reduce(.refuse) { inner, _ in .allOf(inner) }, "nested"),
    ])
    func closuresAndCustomEvaluatorsAreErrors(evaluator: StandardTrustEvaluator, word: String) throws {
        let others = #expect(throws: SecurityError.self) { try SecurityPolicyDocument(.everyHost(evaluator)) }
        #expect(others?.code == .unencodablePolicy && others?.path == "otherHosts")
        #expect(others?.message.contains(word) == true, "\(others as Any)")
        let policy = try SecurityPolicy(rules: [HostRule("b", .refuse), HostRule("**.a", evaluator)])
        let rule = #expect(throws: SecurityError.self) { try SecurityPolicyDocument(policy) }
        #expect(rule?.path == "rules[1]")
    }

    @Test func reportersAreOmitted() throws {
        let policy = SecurityPolicy.systemTrust.reporting(to: TrustReporter { _ in })
        #expect(try SecurityPolicyDocument(policy) == SecurityPolicyDocument())
    }

    // MARK: Reading settings

    @Test(arguments: AFNetworkingFlags.all)
    func flagsOfAFNetworkingCanBeRead(_ flags: AFNetworkingFlags) throws {
        let materials = try Self.materials.get()
        let certificates = [materials.pki.root, materials.selfSigned.certificate]
        let policy = try flags.policy.make(materials)
        for policy in [policy, try made(SecurityPolicyDocument(policy))] {
            #expect(policy.pinningMode == flags.mode)
            #expect(policy.pinnedCertificates == certificates)
            #expect(policy.allowInvalidCertificates == flags.allowsInvalid)
            #expect(policy.validatesDomainName == flags.validatesHost)
            let settings = try #require(policy.otherHosts.settings)
            #expect(settings.pins == (flags.mode == .publicKey ? certificates.map(\.publicKeyPin) : []))
            #expect(settings.anchors?.certificates == [materials.pki.root])
        }
    }

    @Test func settingsOfRulesCanBeRead() throws {
        let materials = try Self.materials.get()
        let expiry = PinSet.Expiry(Date(timeIntervalSince1970: 2_000_000_000), then: .refuse)
        let set = PinSet([materials.stranger], backupPins: [materials.server.pin], position: .leaf, expiry: expiry)
        let anchors = try TrustAnchors.system.adding([materials.pki.root])
        let profile = ChainProfile.strict.allowing(.missingKeyUsage)
        let policy = try SecurityPolicy(rules: [
            HostRule("a.example", .pins(set, anchors: anchors, validatesHost: false, profile: profile)),
            HostRule(
                "b.example",
                .reportOnly(.refuse, enforcing: .certificatePins([materials.pki.root], position: .leaf))),
            HostRule("c.example", StandardTrustEvaluator.hostname.insecureAllowingCleartext()),
            HostRule("d.example", .insecureAcceptAnyCertificate),
        ])
        for policy in [policy, try made(SecurityPolicyDocument(policy))] {
            let keys = try #require(policy.evaluator(for: "a.example").settings)
            #expect(keys.pinningMode == .publicKey && keys.pins == set.all)
            #expect(keys.pinPosition == .leaf && keys.pinExpiry == expiry)
            #expect(keys.anchors?.certificates == [materials.pki.root] && keys.anchors?.includesSystem == true)
            #expect(keys.profile == profile && !keys.validatesDomainName)
            let certificates = try #require(policy.evaluator(for: "b.example").settings)
            #expect(certificates.pinningMode == .certificate && certificates.pinPosition == .leaf)
            #expect(certificates.pinnedCertificates == [materials.pki.root] && certificates.pins.isEmpty)
            #expect(certificates.anchors?.includesSystem == false)
            let name = try #require(policy.evaluator(for: "c.example").settings)
            #expect(name.validatesDomainName && name.allowInvalidCertificates && name.anchors == nil)
            let insecure = try #require(policy.evaluator(for: "d.example").settings)
            #expect(!insecure.validatesDomainName && insecure.allowInvalidCertificates)
            #expect(policy.pinningMode == PinningMode.none && policy.validatesDomainName)
        }
    }

    @Test(arguments: [StandardTrustEvaluator.refuse, .allOf(.systemTrust), .anyOf(.systemTrust)])
    func combinationsHaveNoSettings(_ evaluator: StandardTrustEvaluator) {
        let policy = SecurityPolicy.everyHost(evaluator)
        #expect(policy.otherHosts.settings == nil && Custom().settings == nil)
        #expect(policy.pinningMode == nil && policy.pinnedCertificates.isEmpty)
        #expect(!policy.allowInvalidCertificates && !policy.validatesDomainName)
    }
}
