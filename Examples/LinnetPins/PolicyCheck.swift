import FoundationEssentials
import LinnetSecurity

/// What a policy makes of servers.
struct PolicyCheck {
    struct Verdict: Encodable {
        var host: String
        var isAccepted: Bool
        var isPinned: Bool
        /// The pattern of the rule that judged; nil for hosts without a rule.
        var rule: String?
        /// The refusal, or what would be one if it were enforced.
        var reports: [TrustReport]
    }

    let path: String
    let timeout: Duration
    let output: Output

    /// Whether all are accepted.
    func check(_ hosts: [Target.Host]) async throws -> Bool {
        let policy = try SecurityPolicy.file(path)
        var verdicts: [Verdict] = []
        for host in hosts {
            do {
                let trust = try await ServerChain.read(host, timeout: timeout)
                verdicts.append(await Self.verdict(host, trust, policy))
            } catch {
                try output.complain("\(error)")
            }
        }
        try output.write(verdicts, text: verdicts.map(Self.text).joined())
        return verdicts.count == hosts.count && verdicts.allSatisfy(\.isAccepted)
    }

    private static func verdict(
        _ host: Target.Host, _ trust: ServerTrust, _ policy: SecurityPolicy
    ) async -> Verdict {
        let pattern = policy.rule(for: trust.host)?.pattern
        var verdict = Verdict(
            host: host.description, isAccepted: false, isPinned: false, rule: pattern?.description, reports: [])
        switch await policy.evaluate(trust) {
        case .accepted(let verified):
            (verdict.isAccepted, verdict.isPinned) = (true, verified.isPinned)
            verdict.reports = verified.findings.map { TrustReport($0, trust, pattern: pattern, isEnforced: false) }
        case .refused(let refusal):
            verdict.reports = [TrustReport(refusal, trust, pattern: pattern, isEnforced: true)]
        }
        return verdict
    }

    private static func text(_ verdict: Verdict) -> String {
        let rule = verdict.rule.map { "by the rule \"\($0)\"" } ?? "as a host without a rule"
        let pinned = verdict.isPinned ? ", pinned" : ", not pinned"
        var lines = ["\(verdict.host): " + (verdict.isAccepted ? "accepted \(rule)\(pinned)" : "refused \(rule)")]
        for report in verdict.reports {
            lines.append((report.isEnforced ? "  " : "  would be refused: ") + "\(report.reason): \(report.message)")
        }
        return lines.map { Output.oneLine($0) + "\n" }.joined()
    }
}
