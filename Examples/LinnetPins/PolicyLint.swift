import ExampleSupport
import FoundationEssentials
import LinnetSettings

/// Reports the problems of a policy.
struct PolicyLint {
    let path: String
    /// The time before the expiry of a pin at which it is reported, in days.
    let notice: Double
    let output: Output

    /// Prints the problems, and returns whether there are none.
    func lint() throws -> Bool {
        let findings = try SecurityPolicyFile(contentsOf: path).findings(at: Date(), expiryNotice: notice)
        let lines = findings.isEmpty ? ["\(path): nothing found"] : findings.map(\.description)
        try output.write(findings, text: lines.map { OneLine.text($0) + "\n" }.joined())
        return findings.isEmpty
    }
}
