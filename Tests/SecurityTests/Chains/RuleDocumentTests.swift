import FoundationEssentials
import LinnetSecurity
import Testing

/// The page of rules matches the code.
@Suite("Rules in the documentation", .timeLimit(.minutes(1)))
struct RuleDocumentTests {
    @Test func everyRuleIsDocumented() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let page = tests.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Modules/Security/LinnetSecurity.docc/RulesByProfile.md")
        let lines = String(decoding: try Data(contentsOf: page), as: UTF8.self).split(separator: "\n").map(String.init)
        let written = lines.filter { $0.hasPrefix("| ``ChainRule/") }
        #expect(written == ChainRule.allCases.map(Self.line))
    }

    private static func line(_ rule: ChainRule) -> String {
        let holds = [ChainProfile.default, .strict, .lenient].map { $0.rules.contains(rule) ? "yes" : "no" }
        return "| ``ChainRule/\(rule)`` | \(rule.requirement) | \(rule.citation) | "
            + holds.joined(separator: " | ") + " |"
    }
}
