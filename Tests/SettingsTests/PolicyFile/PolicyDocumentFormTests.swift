import CommandSupport
import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Testing

@testable import LinnetSettings

/// The keys of a policy file beyond anchors and keys.
@Suite("The form of policy documents", .timeLimit(.minutes(5)))
struct PolicyDocumentFormTests {
    private static let pin = "sha256/Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys="

    private func document(_ text: String) throws -> SecurityPolicyDocument {
        try SecurityPolicyDocument(json: Data(text.replacing("PIN", with: Self.pin).utf8))
    }

    /// Each contradiction is an error, which the check of the file also finds.
    @Test(arguments: [
        (
            #""trust": "hostname", "validatesDomainName": false"#, SecurityError.Code.unenforceablePolicy,
            "validatesDomainName"
        ),
        (#""trust": "hostname", "pins": ["PIN"]"#, .unenforceablePolicy, "pins"),
        (#""trust": "insecureAcceptAnyCertificate", "chainProfile": {}"#, .unenforceablePolicy, "chainProfile"),
        (#""trust": "refuse", "pinningMode": "none""#, .unenforceablePolicy, "pinningMode"),
        (#""trust": "pinnedCertificates""#, .noPins, "pinnedCertificates"),
        (#""trust": "pinnedCertificates", "pinnedCertificates": []"#, .noPins, "pinnedCertificates"),
        (#""pins": ["PIN"], "pinnedCertificates": ["a.pem"]"#, .unenforceablePolicy, "pinnedCertificates"),
        (#""pinnedCertificates": ["/none.pem"]"#, .cannotReadFile, "pinnedCertificates[0]"),
        (#""pinnedCertificates": ["-----BEGIN CERTIFICATE-----"]"#, .invalidCertificate, "pinnedCertificates[0]"),
        (
            #""pinnedCertificates": ["a.pem"], "pinPosition": "leaf", "pinsExpire": "2030-01-01T00:00:00Z""#, .noPins,
            "pinsExpire"
        ),
        (#""allowInvalidCertificates": true"#, .missingPolicyKey, "pinningMode"),
        (#""pinningMode": "publicKey""#, .noPins, "pinnedCertificates"),
        (#""pinningMode": "none", "allowInvalidCertificates": true"#, .unenforceablePolicy, "allowInvalidCertificates"),
        (#""pinningMode": "none", "profile": "strict""#, .unenforceablePolicy, "profile"),
        (#""pinningMode": "none", "pins": ["PIN"]"#, .unenforceablePolicy, "pins"),
        (#""chainProfile": {}, "profile": "strict""#, .unenforceablePolicy, "profile"),
        (#""chainProfile": {}, "allowedRules": ["missingKeyUsage"]"#, .unenforceablePolicy, "allowedRules"),
        (#""allOf": [{}], "anyOf": [{}]"#, .unenforceablePolicy, "anyOf"),
        (#""allOf": [{}], "pins": ["PIN"]"#, .unenforceablePolicy, "pins"),
        (#""anyOf": [{}], "trust": "refuse""#, .unenforceablePolicy, "trust"),
        (#""allOf": [{"pins": []}]"#, .noPins, "allOf[0].pins"),
        (#""observed": [{"anyOf": [{}, {"trust": "anchors"}]}]"#, .missingPolicyKey, "observed[0].anyOf[1].anchors"),
    ])
    func contradictionsAreErrors(keys: String, code: SecurityError.Code, key: String) throws {
        for (text, path) in [
            (#"{"version": 1, "rules": [{"hosts": ["a"], \#(keys)}]}"#, "rules[0]." + key),
            (#"{"version": 1, "otherHosts": {\#(keys)}}"#, "otherHosts." + key),
        ] {
            let file = try SecurityPolicyFile(document(text))
            let error = #expect(throws: SecurityError.self) { try file.makePolicy() }
            #expect(error?.code == code && error?.path == path, "\(error as Any)")
            #expect(file.findings(at: Date()).contains { $0.severity == .error && $0.path == path })
        }
    }

    @Test(arguments: [
        (#""otherHosts": {"hosts": ["a"]}"#, SecurityError.Code.unknownPolicyKey, "otherHosts"),
        (#""otherHosts": 1"#, .invalidPolicyFile, "otherHosts"),
        (#""rules": [{"hosts": ["a"], "allOf": [{"hosts": ["a"]}]}]"#, .unknownPolicyKey, "rules[0].allOf[0]"),
        (#""rules": [{"hosts": ["a"], "allOf": {}}]"#, .invalidPolicyFile, "rules[0].allOf"),
        (#""rules": [{"hosts": ["a"], "pinningMode": "key"}]"#, .invalidPolicyFile, "rules[0].pinningMode"),
        (#""rules": [{"hosts": ["a"], "chainProfile": {"x": 1}}]"#, .unknownPolicyKey, "rules[0].chainProfile"),
        (
            #""rules": [{"hosts": ["a"], "chainProfile": {"allowedRules": ["x"]}}]"#, .unknownChainRule,
            "rules[0].chainProfile.allowedRules[0]"
        ),
        (
            #""rules": [{"hosts": ["a"], "chainProfile": {"keys": {"kinds": ["P-256", "DSA"]}}}]"#, .invalidPolicyFile,
            "rules[0].chainProfile.keys.kinds[1]"
        ),
        (
            #""rules": [{"hosts": ["a"], "chainProfile": {"maximumLeafLifetime": 1e300}}]"#, .invalidPolicyFile,
            "rules[0].chainProfile.maximumLeafLifetime"
        ),
        (
            #""rules": [{"hosts": ["a"], "chainProfile": {"revocation": {"failure": "none"}}}]"#, .invalidPolicyFile,
            "rules[0].chainProfile.revocation.failure"
        ),
        (
            #""rules": [{"hosts": ["a"], "chainProfile": {"revocation": {"lists": ["x"]}}}]"#, .invalidRevocationList,
            "rules[0].chainProfile.revocation.lists[0]"
        ),
    ])
    func mistakesAreReportedWithTheirLocation(key: String, code: SecurityError.Code, path: String) throws {
        let error = #expect(throws: SecurityError.self) { try document("{\"version\": 1,\n\(key)}") }
        #expect(error?.code == code && error?.path == path && error?.line == 2, "\(error as Any)")
    }

    @Test func includedFilesCannotDisableResumption() async throws {
        try await Scratch.with { scratch in
            _ = try scratch.write("more.json", #"{"version": 1, "allowsSessionResumption": false}"#)
            let path = try scratch.write("policy.json", #"{"version": 1, "includes": ["more.json"]}"#)
            let error = #expect(throws: SecurityError.self) { try SecurityPolicyFile(contentsOf: path) }
            #expect(error?.code == .unenforceablePolicy && error?.path == "allowsSessionResumption")
            let policy = try SecurityPolicy.file(scratch.file("more.json"))
            #expect(!policy.allowsSessionResumption)
        }
    }

    @Test(arguments: [
        (#""trust": "insecureAcceptAnyCertificate""#, "trust"), (#""trust": "hostname""#, "trust"),
        (#""pinningMode": "none", "allowInvalidCertificates": true, "validatesDomainName": false"#, "pinningMode"),
        (#""validatesDomainName": false"#, "validatesDomainName"),
        (#""insecureAllowsCleartext": true"#, "insecureAllowsCleartext"),
        (#""anyOf": [{"trust": "hostname"}]"#, "anyOf[0].trust"),
    ])
    func insecureRulesAreFound(keys: String, key: String) throws {
        let file = try SecurityPolicyFile(document(#"{"version": 1, "otherHosts": {\#(keys)}}"#))
        let found = file.findings(at: Date()).filter { $0.kind == .insecureRule }
        #expect(found.contains { $0.severity == .warning && $0.path == "otherHosts." + key })
        _ = try file.makePolicy()
    }

    @Test func nameCheckBesideOthersIsNotInsecure() throws {
        let file = try SecurityPolicyFile(
            document(#"{"version": 1, "otherHosts": {"allOf": [{"trust": "hostname"}, {}]}}"#))
        #expect(file.findings(at: Date()).isEmpty)
    }

    @Test(arguments: [20, 120])
    func deeplyNestedRulesAreAnError(levels: Int) {
        let open = String(repeating: #"{"allOf": ["#, count: levels)
        let close = String(repeating: "]}", count: levels)
        let error = #expect(throws: SecurityError.self) {
            try document(#"{"version": 1, "otherHosts": \#(open)\#(close)}"#)
        }
        #expect(error?.code == .invalidPolicyFile && error?.message.contains("nested too deeply") == true)
    }

    /// 200,000 values below a key of 500,000 bytes: a location for each would take 100 GB.
    @Test func longLocationsAreNotKept() {
        let key = String(repeating: "k", count: 500_000)
        let text = #"{"\#(key)": [\#(String(repeating: "0,", count: 200_000))0]}"#
        let error = #expect(throws: SecurityError.self) { try document(text) }
        #expect(error?.code == .missingPolicyKey && error?.line == 1)
    }

    @Test func datesKeepTheirMilliseconds() throws {
        var rule = SecurityPolicyDocument.Rule(hosts: ["a"], pins: [Self.pin])
        rule.afterExpiry = .refuse
        for milliseconds in [0.0, 1, 250, 333, 499, 500, 999] {
            rule.pinsExpire = Date(timeIntervalSince1970: (1_900_000_000_000 + milliseconds) / 1000)
            let document = SecurityPolicyDocument(rules: [rule])
            #expect(try SecurityPolicyDocument(json: document.json()) == document, "\(milliseconds)")
        }
    }

    @Test func documentsThatCannotBeReadAgainAreNotWritten() {
        let document = SecurityPolicyDocument(comment: String(repeating: "x", count: 1 << 20))
        let error = #expect(throws: SecurityError.self) { try document.json() }
        #expect(error?.code == .unencodablePolicy)
    }
}
