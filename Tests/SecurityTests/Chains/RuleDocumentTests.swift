import FoundationEssentials
import LinnetSecurity
import Testing

/// The page of rules matches the code.
@Suite("Rules in the documentation", .timeLimit(.minutes(1)))
struct RuleDocumentTests {
    private static func page(_ name: String) throws -> [String] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let page = tests.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Modules/Security/LinnetSecurity.docc/\(name).md")
        return String(decoding: try Data(contentsOf: page), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func everyRuleIsDocumented() throws {
        let written = try Self.page("RulesByProfile").filter { $0.hasPrefix("| ``ChainRule/") }
        #expect(written == ChainRule.allCases.map(Self.line))
    }

    /// One row for each rule that only the strict profile has, and its document's level and section.
    @Test func everyRuleOfTheStrictProfileIsArgued() throws {
        let own = ChainProfile.strict.rules.subtracting(ChainProfile.default.rules).map(\.description)
        let rows = try Self.page("StrictProfile").filter { $0.hasPrefix("| ``ChainRule/") }
        for rule in own {
            let argued = rows.filter { $0.hasPrefix("| ``ChainRule/\(rule)`` | BR MUST") && $0.contains(/\(\d+\.\d+/) }
            #expect(argued.count == 1, "\(rule)")
        }
        #expect(try Self.page("StrictProfile").contains { $0.contains("adds \(own.count) rules") })
    }

    private static func line(_ rule: ChainRule) -> String {
        let holds = [ChainProfile.default, .strict, .lenient].map { $0.rules.contains(rule) ? "yes" : "no" }
        return "| ``ChainRule/\(rule)`` | \(rule.requirement) | \(rule.citation) | "
            + holds.joined(separator: " | ") + " |"
    }
}
