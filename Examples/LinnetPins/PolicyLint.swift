import ExampleSupport
import FoundationEssentials
import LinnetSecurity

/// What is wrong with a policy.
struct PolicyLint {
    let path: String
    /// In days.
    let notice: Double
    let output: Output

    /// Whether there is nothing.
    func lint() throws -> Bool {
        let findings = try SecurityPolicyFile(contentsOf: path).findings(at: Date(), expiryNotice: notice)
        let lines = findings.isEmpty ? ["\(path): nothing found"] : findings.map(\.description)
        try output.write(findings, text: lines.map { OneLine.text($0) + "\n" }.joined())
        return findings.isEmpty
    }
}
