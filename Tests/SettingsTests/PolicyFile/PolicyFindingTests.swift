import CommandSupport
import FoundationEssentials
import LinnetSecurity
import LinnetSettings
import LinnetTesting
import Testing

@Suite("Findings in policy files", .timeLimit(.minutes(5)))
struct PolicyFindingTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let pin = "sha256/Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys="
    private static let other = "sha256/YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg="

    private func findings(_ rules: [SecurityPolicyDocument.Rule]) throws -> [SecurityPolicyFile.Finding] {
        try SecurityPolicyFile(SecurityPolicyDocument(rules: rules)).findings(at: Self.now)
    }

    private func found(_ rules: SecurityPolicyDocument.Rule...) throws -> [String] {
        try findings(rules).map { "\($0.kind) \($0.path)" }
    }

    @Test func flawlessPolicyHasNoFindings() throws {
        var expiring = SecurityPolicyDocument.Rule(hosts: ["**.example.com"], pins: [Self.pin, Self.other])
        (expiring.pinsExpire, expiring.afterExpiry) = (Self.now.addingTimeInterval(31 * 86_400), .refuse)
        let rules = [
            expiring, .init(hosts: ["a.example.com"], pins: [Self.pin], backupPins: [Self.other]),
            .init(hosts: ["10.0.0.0/8", "10.1.0.0/16", "@private", "**.local", "*.internal"]),
        ]
        #expect(try findings(rules).isEmpty)
    }

    @Test func singlePinIsReported() throws {
        #expect(try found(.init(hosts: ["a.example"], pins: [Self.pin])) == ["noBackupPin rules[0].pins"])
        #expect(
            try found(.init(hosts: ["a.example"], pins: [Self.pin], backupPins: [Self.pin]))
                == ["repeatedPin rules[0].backupPins[0]", "noBackupPin rules[0].pins"])
        #expect(try found(.init(hosts: ["a.example"])).isEmpty)
    }

    @Test(arguments: ["", "sha256/", "sha1/" + "A", "pin-sha256=\"x\"", "Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys="])
    func invalidPinsAreReported(_ text: String) throws {
        let rule = SecurityPolicyDocument.Rule(hosts: ["a.example"], pins: [Self.pin, Self.other, text])
        #expect(try found(rule) == ["malformedPin rules[0].pins[2]"])
        #expect(try findings([rule]).first?.severity == .error)
    }

    @Test(arguments: [
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    ])
    func impossiblePinsAreReported(_ text: String) throws {
        let rule = SecurityPolicyDocument.Rule(hosts: ["a.example"], pins: [Self.pin], backupPins: [text])
        #expect(try found(rule) == ["impossiblePin rules[0].backupPins[0]", "noBackupPin rules[0].pins"])
    }

    @Test(
        arguments: [(30.5, []), (30, ["expiryNear"]), (1, ["expiryNear"]), (0, ["expired"]), (-1, ["expired"])]
            as [(Double, [String])])
    func expiryIsReportedWithinTheNotice(days: Double, kinds: [String]) throws {
        var rule = SecurityPolicyDocument.Rule(hosts: ["a.example"], pins: [Self.pin, Self.other])
        (rule.pinsExpire, rule.afterExpiry) = (Self.now.addingTimeInterval(days * 86_400), .dropPins)
        let findings = try findings([rule])
        #expect(findings.map(\.kind.description) == kinds)
        for finding in findings { #expect(finding.severity == .warning && finding.path == "rules[0].pinsExpire") }
        let file = try SecurityPolicyFile(SecurityPolicyDocument(rules: [rule]))
        #expect(file.findings(at: Self.now, expiryNotice: 0).map(\.kind) == (days > 0 ? [] : [.expired]))
    }

    @Test func unreachableRulesAreReported() throws {
        #expect(
            try found(.init(hosts: ["a.example", "**.b.example"]), .init(hosts: ["**.B.example."]))
                == ["unreachableRule rules[1].hosts[0]"])
        #expect(try found(.init(hosts: ["a.example", "A.example"])) == ["unreachableRule rules[0].hosts[1]"])
        let halves = SecurityPolicyDocument.Rule(hosts: ["192.0.2.0/25", "192.0.2.128/26", "192.0.2.192/26"])
        #expect(try found(.init(hosts: ["192.0.2.0/24"]), halves) == ["unreachableRule rules[0].hosts[0]"])
        #expect(try found(.init(hosts: ["192.0.2.0/23"]), halves).isEmpty)
        #expect(
            try found(.init(hosts: ["192.0.2.0/31"]), .init(hosts: ["192.0.2.0", "192.0.2.1"]))
                == ["unreachableRule rules[0].hosts[0]"])
        #expect(try found(.init(hosts: ["::/0"]), .init(hosts: ["::/1", "::1"])).isEmpty)
    }

    @Test(arguments: ["**.com", "*.co.uk", "**.github.io", "*.DEV"])
    func wildcardsBelowPublicSuffixesAreReported(_ pattern: String) throws {
        #expect(try found(.init(hosts: [pattern])) == ["publicSuffixPattern rules[0].hosts[0]"])
    }

    @Test func allMistakesOfAFileAreReportedTogether() throws {
        var second = SecurityPolicyDocument.Rule(hosts: ["b..c", "a"], pins: ["x"])
        (second.trust, second.anchors) = (.anchors, ["/none.pem"])
        #expect(
            try found(.init(hosts: []), second) == [
                "contradictoryRule rules[0].hosts", "malformedPattern rules[1].hosts[0]",
                "unreadableAnchors rules[1].anchors[0]", "malformedPin rules[1].pins[0]",
            ])
    }

    @Test func findingsHaveADescriptionAndAreCodable() throws {
        let finding = try #require(try findings([.init(hosts: ["**.com"])]).first)
        #expect(finding.description.hasPrefix("rules[0].hosts[0]: warning: "))
        #expect(finding.description.hasSuffix("[publicSuffixPattern]"))
        #expect(
            try JSONDecoder().decode(SecurityPolicyFile.Finding.self, from: JSONEncoder().encode(finding)) == finding)
    }

    @Test func flawedAnchorsAreReported() async throws {
        var template = CertificateTemplate.authority("Root")
        template.serialNumber = [0x80, 1]
        let anchor = try TestPKI.forgeRoot(template)
        try await Scratch.with { scratch in
            _ = try scratch.write("root.der", anchor.der)
            _ = try scratch.write("own.der", try TestPKI.forgeRoot(.server()).der)
            let path = try scratch.write(
                "policy.json",
                #"{"version": 1, "rules": [{"hosts": ["a"], "trust": "anchors", "anchors": ["root.der", "own.der"]}]}"#)
            let findings = try SecurityPolicyFile(contentsOf: path).findings(at: Date())
            #expect(findings.map(\.kind) == [.flawedAnchor])
            #expect(findings.first?.path == "rules[0].anchors[0]")
            #expect(findings.first?.severity == .warning)
        }
    }
}
