import CommandSupport
import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Testing

@testable import LinnetSettings

@Suite("Policy files", .timeLimit(.minutes(5)))
struct PolicyFileTests {
    private static let pin = "sha256/Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys="
    private static let other = "sha256/YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg="

    private func document(_ text: String) throws -> SecurityPolicyDocument {
        try SecurityPolicyDocument(json: Data(text.utf8))
    }

    // MARK: Reading

    @Test func everyKeyIsRead() throws {
        let document = try document(
            """
            {"version": 1, "comment": "c", "otherHosts": "refuse", "includes": ["more.json"], "rules": [
              {"comment": "d", "hosts": ["a", "**.b.example"], "trust": "systemAndAnchors", "anchors": ["x.pem"],
               "profile": "lenient", "allowedRules": ["rsaKeySize"], "pins": ["\(Self.pin)"], "backupPins": ["\(Self.other)"], "pinPosition": "leaf",
               "pinsExpire": "2030-06-30T12:00:00Z", "afterExpiry": "refuse", "reportOnly": true}]}
            """)
        var rule = SecurityPolicyDocument.Rule(
            hosts: ["a", "**.b.example"], pins: [Self.pin], backupPins: [Self.other])
        (rule.comment, rule.trust, rule.anchors) = ("d", .systemAndAnchors, ["x.pem"])
        (rule.profile, rule.allowedRules) = (.lenient, ["rsaKeySize"])
        (rule.pinPosition, rule.afterExpiry, rule.reportOnly) = (.leaf, .refuse, true)
        rule.pinsExpire = Date(timeIntervalSince1970: 1_909_051_200)
        #expect(
            document
                == SecurityPolicyDocument(rules: [rule], otherHosts: .refuse, includes: ["more.json"], comment: "c"))
        #expect(try SecurityPolicyDocument(json: document.json()) == document)
    }

    @Test func missingKeysHaveTheirDefaults() throws {
        let document = try document(#"{"version": 1, "rules": [{"hosts": ["a"]}]}"#)
        #expect(document == SecurityPolicyDocument(rules: [.init(hosts: ["a"])]))
        #expect(try SecurityPolicyDocument(json: document.json()) == document)
        #expect(try self.document(#"{"version": 1}"#) == SecurityPolicyDocument())
    }

    @Test(arguments: [
        ("", SecurityError.Code.invalidPolicyFile, ""), ("nonsense", .invalidPolicyFile, ""),
        ("[]", .invalidPolicyFile, ""),
        (#"{"version": 1"#, .invalidPolicyFile, ""), ("{}", .missingPolicyKey, ""),
        (#"{"version": 2, "new": 1}"#, .unknownPolicyVersion, "version"),
        (#"{"version": 0}"#, .unknownPolicyVersion, "version"),
        (#"{"version": "1"}"#, .invalidPolicyFile, "version"), (#"{"version": null}"#, .invalidPolicyFile, "version"),
        (#"{"version": 1, "Rules": []}"#, .unknownPolicyKey, ""),
        (#"{"version": 1, "rules": {}}"#, .invalidPolicyFile, "rules"),
        (#"{"version": 1, "rules": null}"#, .invalidPolicyFile, "rules"),
        (#"{"version": 1, "rules": [1]}"#, .invalidPolicyFile, "rules[0]"),
        (#"{"version": 1, "rules": [{}]}"#, .missingPolicyKey, "rules[0]"),
        (#"{"version": 1, "rules": [{"hosts": "a"}]}"#, .invalidPolicyFile, "rules[0].hosts"),
        (#"{"version": 1, "rules": [{"hosts": [1]}]}"#, .invalidPolicyFile, "rules[0].hosts[0]"),
        (#"{"version": 1, "rules": [{"hosts": ["a"]}, {"hosts": ["b"], "pin": []}]}"#, .unknownPolicyKey, "rules[1]"),
        (#"{"version": 1, "rules": [{"hosts": ["a"], "trust": "all"}]}"#, .invalidPolicyFile, "rules[0].trust"),
        (#"{"version": 1, "rules": [{"hosts": ["a"], "reportOnly": 1}]}"#, .invalidPolicyFile, "rules[0].reportOnly"),
        (
            #"{"version": 1, "rules": [{"hosts": ["a"], "pinsExpire": "soon"}]}"#, .invalidPolicyFile,
            "rules[0].pinsExpire"
        ),
        (#"{"version": 1, "rules": [{"hosts": ["a"], "profile": "lax"}]}"#, .invalidPolicyFile, "rules[0].profile"),
        (
            #"{"version": 1, "rules": [{"hosts": ["a"], "allowedRules": "x"}]}"#, .invalidPolicyFile,
            "rules[0].allowedRules"
        ),
        (#"{"version": 1, "otherHosts": "accept"}"#, .invalidPolicyFile, "otherHosts"),
        // Mistakes that Foundation's decoder overlooks.
        (#"{"version": 1, "rules": [],}"#, .invalidPolicyFile, ""),
        (#"{"version": 1, "rules": [ , ]}"#, .invalidPolicyFile, ""),
        (#"{"version": 1, "rules": [{"hosts": ["a", ]}]}"#, .invalidPolicyFile, ""),
        (#"{"version": 1, "rules": [], "rules": []}"#, .unknownPolicyKey, ""),
        (#"{"version": 1, "rules": [{"hosts": ["a"], "pins": [], "pins": []}]}"#, .unknownPolicyKey, ""),
        (#"{"version": 1, "comm\u0065nt": "a", "comment": "b"}"#, .unknownPolicyKey, ""),
    ])
    func mistakesAreReportedWithTheirLocation(text: String, code: SecurityError.Code, path: String) {
        let error = #expect(throws: SecurityError.self) { try document(text) }
        #expect(error?.code == code, "\(error as Any)")
        #expect(error?.path == path, "\(error as Any)")
        #expect(error?.message.contains("\n") == false)
    }

    @Test(arguments: [
        "2027-02-30T00:00:00Z", "2027-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2027-06-31T00:00:00Z",
        "2027-00-01T00:00:00Z",
        "2027-06-30T24:00:00Z", "2027-06-30T00:60:00Z", "2027-06-30T00:00:60Z", "2027-6-3T0:0:0Z",
        "02027-06-30T00:00:00Z",
        "2027-06-30T00:00:00Zulu", "2027-06-30T00:00:00", "2027-06-30", "2027-06-30T00:00:00+0200",
        "٢027-06-30T00:00:00Z",
    ])
    func aDayThatDoesNotExistIsNoExpiry(text: String) {
        let error = #expect(throws: SecurityError.self) {
            try document(#"{"version": 1, "rules": [{"hosts": ["a"], "pinsExpire": "\#(text)"}]}"#)
        }
        #expect(error?.code == .invalidPolicyFile)
        #expect(error?.path == "rules[0].pinsExpire")
    }

    @Test(arguments: [
        "2028-02-29T00:00:00Z", "2000-02-29T23:59:59Z", "2027-06-30T00:00:00.25Z", "2027-12-31T00:00:00+02:00",
    ])
    func aDayThatExistsIsAnExpiry(text: String) throws {
        let document = try document(#"{"version": 1, "rules": [{"hosts": ["a"], "pinsExpire": "\#(text)"}]}"#)
        #expect(document.rules.first?.pinsExpire != nil)
    }

    @Test func keysInStringsAndOtherObjectsAreNotRepetitions() throws {
        let text = #"{"version": 1, "comment": "\"rules\": {\\", "rules": [{"hosts": ["a"]}, {"hosts": ["rules"]}]}"#
        #expect(try document(text).rules.count == 2)
    }

    @Test func otherEncodingsAndLargeFilesAreRefused() {
        let text = #"{"version": 1}"#
        for data in [
            Data(text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }), Data([0xFF]) + Data(text.utf8),
            Data(text.utf8) + Data(repeating: 0x20, count: 1 << 20),
            Data(repeating: UInt8(ascii: "["), count: 100_000),
        ] {
            let error = #expect(throws: SecurityError.self) { try SecurityPolicyDocument(json: data) }
            #expect(error?.code == .invalidPolicyFile)
        }
    }

    // MARK: Making a policy

    @Test func policyDecidesAsItsFileStates() async throws {
        let pki = try TestPKI()
        let hosts = ["pinned.example", "a.trial.example", "trusted.example", "refused.example", "other.example"]
        let identity = try pki.identity { $0.hosts = hosts }
        try await Scratch.with { scratch in
            _ = try scratch.write("root.pem", pki.rootPEM)
            _ = try scratch.write(
                "more.json",
                #"{"version": 1, "rules": [{"hosts": ["trusted.example"], "trust": "systemAndAnchors", "anchors": ["root.pem"]}]}"#
            )
            let path = try scratch.write(
                "policy.json",
                """
                {"version": 1, "otherHosts": "refuse", "includes": ["more.json"], "rules": [
                  {"hosts": ["pinned.example"], "trust": "anchors", "anchors": ["root.pem"],
                   "pins": ["\(Self.pin)"], "backupPins": ["\(identity.pin)"]},
                  {"hosts": ["**.trial.example"], "trust": "anchors", "anchors": ["root.pem"], "pins": ["\(Self.pin)"],
                   "reportOnly": true},
                  {"hosts": ["refused.example"], "trust": "refuse"}]}
                """)
            let policy = try SecurityPolicy.file(path)
            for (host, reason) in zip(hosts, [nil, nil, nil, TrustRefusal.Reason.hostRefused, .hostRefused]) {
                #expect(await policy.evaluate(identity.trust(host)).refusal?.reason == reason, "\(host)")
            }
            guard case .accepted(let trial) = await policy.evaluate(identity.trust("a.trial.example")) else { return }
            #expect(trial.findings.map(\.reason) == [.pinMismatch])
            #expect(policy.isPinning(host: "pinned.example") && !policy.isPinning(host: "a.trial.example"))
        }
    }

    @Test(arguments: [
        (#"{"hosts": []}"#, SecurityError.Code.missingPolicyKey, "rules[0].hosts"),
        (#"{"hosts": ["a", "b..c"]}"#, .invalidPattern, "rules[0].hosts[1]"),
        (#"{"hosts": ["a"], "pins": []}"#, .noPins, "rules[0].pins"),
        (#"{"hosts": ["a"], "reportOnly": true}"#, .unenforceablePolicy, "rules[0].reportOnly"),
        (#"{"hosts": ["a"], "trust": "hostname", "reportOnly": true}"#, .unenforceablePolicy, "rules[0].reportOnly"),
        (#"{"hosts": ["a"], "profile": "lenient", "reportOnly": true}"#, .unenforceablePolicy, "rules[0].reportOnly"),
        (#"{"hosts": ["a"], "pins": ["sha1/AAAA"]}"#, .invalidPin, "rules[0].pins[0]"),
        (#"{"hosts": ["a"], "pins": ["PIN"], "backupPins": ["x"]}"#, .invalidPin, "rules[0].backupPins[0]"),
        (#"{"hosts": ["a"], "backupPins": ["PIN"]}"#, .noPins, "rules[0].backupPins"),
        (#"{"hosts": ["a"], "pinPosition": "leaf"}"#, .noPins, "rules[0].pinPosition"),
        (#"{"hosts": ["a"], "pinsExpire": "2030-01-01T00:00:00Z"}"#, .noPins, "rules[0].pinsExpire"),
        (
            #"{"hosts": ["a"], "pins": ["PIN"], "pinsExpire": "2030-01-01T00:00:00Z"}"#, .missingPolicyKey,
            "rules[0].afterExpiry"
        ),
        (#"{"hosts": ["a"], "pins": ["PIN"], "afterExpiry": "refuse"}"#, .missingPolicyKey, "rules[0].pinsExpire"),
        (#"{"hosts": ["a"], "trust": "refuse", "pins": ["PIN"]}"#, .unenforceablePolicy, "rules[0].pins"),
        (#"{"hosts": ["a"], "anchors": ["x.pem"]}"#, .unenforceablePolicy, "rules[0].anchors"),
        (#"{"hosts": ["a"], "trust": "anchors"}"#, .missingPolicyKey, "rules[0].anchors"),
        (#"{"hosts": ["a"], "trust": "anchors", "anchors": ["/none.pem"]}"#, .cannotReadFile, "rules[0].anchors[0]"),
        (#"{"hosts": ["a"]}, {"hosts": ["A."]}"#, .duplicateRule, "rules[1].hosts[0]"),
    ])
    func unenforceableRulesAreErrors(rule: String, code: SecurityError.Code, path: String) throws {
        let text = #"{"version": 1, "rules": ["# + rule.replacing("PIN", with: Self.pin) + "]}"
        let file = try SecurityPolicyFile(document(text))
        let error = #expect(throws: SecurityError.self) { try file.makePolicy() }
        #expect(error?.code == code, "\(error as Any)")
        #expect(error?.path == path, "\(error as Any)")
        // An error that prevents a policy is also a finding of the check.
        #expect(file.findings(at: Date()).contains { $0.severity == .error && $0.path == path })
    }

    // MARK: Includes

    @Test func includeLoopsAreErrors() async throws {
        try await Scratch.with { scratch in
            let one = try scratch.write("one.json", #"{"version": 1, "includes": ["two.json"]}"#)
            _ = try scratch.write("two.json", #"{"version": 1, "includes": ["./one.json"]}"#)
            let error = #expect(throws: SecurityError.self) { try SecurityPolicyFile(contentsOf: one) }
            #expect(error?.code == .includeLoop)
            #expect(error?.path == "includes[0]")
        }
    }

    @Test func tooManyIncludesAreErrors() async throws {
        try await Scratch.with { scratch in
            _ = try scratch.write("leaf.json", #"{"version": 1}"#)
            for level in 0..<7 {
                let next = level == 0 ? "leaf.json" : "level\(level - 1).json"
                _ = try scratch.write("level\(level).json", #"{"version": 1, "includes": ["\#(next)", "\#(next)"]}"#)
            }
            let error = #expect(throws: SecurityError.self) {
                try SecurityPolicyFile(contentsOf: scratch.file("level6.json"))
            }
            #expect(error?.code == .includeLoop)
            #expect(try SecurityPolicyFile(contentsOf: scratch.file("level2.json")).parts.count == 15)
        }
    }

    @Test func includedFileMustNotHaveOtherHosts() async throws {
        try await Scratch.with { scratch in
            _ = try scratch.write("more.json", #"{"version": 1, "otherHosts": "refuse"}"#)
            let path = try scratch.write("policy.json", #"{"version": 1, "includes": ["more.json"]}"#)
            let error = #expect(throws: SecurityError.self) { try SecurityPolicyFile(contentsOf: path) }
            #expect(error?.code == .unenforceablePolicy)
        }
    }

    @Test func errorsNameTheirFile() async throws {
        try await Scratch.with { scratch in
            _ = try scratch.write("more.json", #"{"version": 9}"#)
            let path = try scratch.write("policy.json", #"{"version": 1, "includes": ["more.json"]}"#)
            let error = #expect(throws: SecurityError.self) { try SecurityPolicy.file(path) }
            #expect(error?.code == .unknownPolicyVersion && error?.path == "version")
            #expect(error?.file?.hasSuffix("more.json") == true && error?.line == 1)
            #expect(error?.description.hasSuffix("more.json:1: version: \(error?.message ?? "")") == true)
            for wrong in [scratch.file("none.json"), scratch.path, try scratch.write("empty.json", "")] {
                let error = #expect(throws: SecurityError.self) { try SecurityPolicy.file(wrong) }
                #expect(error?.code == .cannotReadFile)
            }
        }
    }

    /// A policy that includes another one, each on several lines.
    private static let lines = """
        {
          "version": 1,
          "includes": ["more.json"],
          "rules": [
            { "hosts": ["first.example"] },
            {
              "hosts": [
                "second.example",
                "a..b"
              ]
            }
          ]
        }
        """

    @Test(arguments: [
        (#"{"version": 1}"#, "policy.json", 9, "rules[1].hosts[1]"),
        ("{\n\"version\":\n2}", "more.json", 2, "version"),
        (
            "{\n\"version\": 1,\n\"rules\": [\n{\"hosts\": [\"c\"], \"pins\":\n[\n\"x\"]}]}", "more.json", 6,
            "rules[0].pins[0]"
        ),
        ("{\n\"version\": 1,\n\"rules\": [\n{\n}]}", "more.json", 4, "rules[0]"),
        (
            "{\n\"version\": 1,\n\"rules\": [\n{\"hosts\": [\"c\"],\n\"trust\": \"all\"}]}", "more.json", 5,
            "rules[0].trust"
        ),
        ("{\n\"version\": 1,\n\"comment\": \"{[,:\",\n\"otherHosts\": \"refuse\"}", "more.json", 4, "otherHosts"),
        ("{\n\"version\": 1,\n\"includes\": [\"a.json\",\n\"none.json\"]}", "more.json", 4, "includes[1]"),
        ("{\n\"version\": 1,\n\"rules\": [],\n\"rules\": []}", "more.json", 4, ""),
        (
            "{\n\"version\": 1,\n\"rules\": [\n{\"hosts\": [\"c\", \"first.example\"]}]}", "more.json", 4,
            "rules[0].hosts[1]"
        ),
    ])
    func errorsHaveTheLineOfTheMistake(more: String, file: String, line: Int, path: String) async throws {
        try await Scratch.with { scratch in
            _ = try scratch.write("a.json", #"{"version": 1}"#)
            _ = try scratch.write("more.json", more)
            let main = file == "policy.json" ? Self.lines : Self.lines.replacing("a..b", with: "b.example")
            let policy = try scratch.write("policy.json", main)
            let error = #expect(throws: SecurityError.self) { try SecurityPolicy.file(policy) }
            #expect(error?.file?.hasSuffix("/" + file) == true, "\(error as Any)")
            #expect(error?.line == line && error?.path == path, "\(error as Any)")
            let place = path.isEmpty ? "" : path + ": "
            #expect(error?.errorDescription?.contains("\(file):\(line): \(place)") == true)
            #expect(error?.description.hasSuffix(".") == true)
        }
    }

    @Test func findingsHaveTheLineOfTheMistake() async throws {
        try await Scratch.with { scratch in
            _ = try scratch.write("more.json", #"{"version": 1}"#)
            let file = try SecurityPolicyFile(contentsOf: scratch.write("policy.json", Self.lines))
            let finding = try #require(file.findings(at: Date()).first)
            #expect(finding.kind == .malformedPattern && finding.line == 9)
            #expect(finding.description.contains("policy.json:9: rules[1].hosts[1]: error: "))
            let document = try SecurityPolicyDocument(json: Data(Self.lines.utf8))
            #expect(document.includes == ["more.json"])
        }
    }

    @Test func syntaxErrorsNameTheFile() async throws {
        try await Scratch.with { scratch in
            let path = try scratch.write("policy.json", "{\n\"version\": 1,\n\"rules\": [\n")
            let error = #expect(throws: SecurityError.self) { try SecurityPolicy.file(path) }
            #expect(error?.code == .invalidPolicyFile && error?.file == path)
            #expect(error?.description.hasPrefix("\(path): The policy is not JSON") == true)
        }
    }

    @Test func deeplyNestedTextIsReadInLinearTime() {
        let text = String(repeating: #"{"a":["#, count: 50_000)
        let error = #expect(throws: SecurityError.self) { try SecurityPolicyDocument(json: Data(text.utf8)) }
        #expect(error?.code == .invalidPolicyFile)
        #expect(PolicyText(Data(text.utf8)).line(of: "a[0]") == 1)
    }

    @Test func errorsNameTheAnchorFile() async throws {
        try await Scratch.with { scratch in
            let anchors = try scratch.write(
                "root.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
            let path = try scratch.write(
                "policy.json",
                #"{"version": 1, "rules": [{"hosts": ["a"], "trust": "anchors", "anchors": ["root.pem"]}]}"#)
            let error = #expect(throws: SecurityError.self) { try SecurityPolicy.file(path) }
            #expect(error?.code == .invalidCertificate && error?.path == "rules[0].anchors[0]")
            #expect(error?.file == path && error?.message.contains("root.pem\": ") == true)
            let alone = #expect(throws: SecurityError.self) { try X509Certificate.all(contentsOfFile: anchors) }
            #expect(alone?.message.hasPrefix("\"\(anchors)\": ") == true)
            let list = #expect(throws: SecurityError.self) { try RevocationList.all(contentsOfFile: anchors) }
            #expect(list?.message.hasPrefix("\"\(anchors)\": ") == true)
        }
    }

    // MARK: Profiles

    @Test func rulesCanNameAProfileAndExceptions() async throws {
        let pki = try TestPKI()
        // The common name is not an alternative name, which the strict profile refuses.
        let identity = try pki.identity { $0.commonName = "not a name" }
        try await Scratch.with { scratch in
            _ = try scratch.write("root.pem", pki.rootPEM)
            for (keys, refused) in [
                ("", nil), (#", "profile": "default""#, nil), (#", "profile": "strict""#, "commonNameNotInNames"),
                (#", "profile": "lenient""#, nil),
                (#", "profile": "strict", "allowedRules": ["commonNameNotInNames"]"#, nil),
                (#", "profile": "strict", "allowedRules": ["missingKeyUsage"]"#, "commonNameNotInNames"),
            ] {
                for pins in ["", #", "pins": ["\#(identity.pin)"]"#] {
                    let file = try scratch.write(
                        "policy.json",
                        #"{"version": 1, "rules": [{"hosts": ["localhost"], "trust": "anchors", "anchors": ["root.pem"]"#
                            + keys + pins + "}]}")
                    let refusal = await (try SecurityPolicy.file(file)).evaluate(identity.trust()).refusal
                    #expect(refusal?.reason.description == refused, "\(keys)")
                }
            }
        }
    }

    @Test(arguments: [
        (#""allowedRules": ["noSuchRule"]"#, SecurityError.Code.unknownChainRule, "rules[0].allowedRules[0]"),
        (#""allowedRules": ["missingKeyUsage", "missingKeyUsage"]"#, .unenforceablePolicy, "rules[0].allowedRules[1]"),
        (
            #""profile": "lenient", "allowedRules": ["missingKeyUsage"]"#, .unenforceablePolicy,
            "rules[0].allowedRules[0]"
        ),
        (#""trust": "refuse", "profile": "lenient""#, .unenforceablePolicy, "rules[0].profile"),
        (#""trust": "refuse", "allowedRules": ["missingKeyUsage"]"#, .unenforceablePolicy, "rules[0].allowedRules"),
    ])
    func exceptionsWithoutEffectAreErrors(keys: String, code: SecurityError.Code, path: String) throws {
        let file = try SecurityPolicyFile(document(#"{"version": 1, "rules": [{"hosts": ["a"], \#(keys)}]}"#))
        let error = #expect(throws: SecurityError.self) { try file.makePolicy() }
        #expect(error?.code == code)
        #expect(error?.path == path)
        #expect(file.findings(at: Date()).contains { $0.severity == .error && $0.path == path })
    }

    @Test func lenientProfileIsReported() throws {
        let file = try SecurityPolicyFile(
            document(#"{"version": 1, "rules": [{"hosts": ["a"], "profile": "lenient"}]}"#))
        #expect(file.findings(at: Date()).map(\.kind) == [.lenientProfile])
    }

    @Test func rulesDecideOnCleartext() throws {
        let pki = try TestPKI()
        let document = try SecurityPolicyDocument(
            json: .init(
                """
                {"version": 1, "otherHosts": "refuse", "rules": [
                  {"hosts": ["pinned.example"], "pins": ["\(pki.root.publicKeyPin)"]},
                  {"hosts": ["trial.example"], "pins": ["\(pki.root.publicKeyPin)"], "reportOnly": true},
                  {"hosts": ["old.example"], "trust": "refuse"}, {"hosts": ["open.example"]}]}
                """.utf8))
        let policy = try SecurityPolicyFile(document).makePolicy()
        for (host, isAllowed) in [
            ("pinned.example", false), ("trial.example", true), ("old.example", false), ("open.example", true),
            ("example.com", false),
        ] { #expect(policy.allowsCleartext(to: host) == isAllowed, "\(host)") }
    }
}
