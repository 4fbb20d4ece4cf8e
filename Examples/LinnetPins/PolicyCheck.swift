import ExampleSupport
import FoundationEssentials
import LinnetSecurity
import LinnetSettings

/// Evaluates a policy for servers and for chains in files.
struct PolicyCheck {
    struct Verdict: Encodable {
        var host: String
        /// The file with the chain; nil for a server.
        var file: String?
        var isAccepted: Bool
        var isPinned: Bool
        /// Whether the policy allows requests in clear text (`http`) to the host.
        var allowsCleartext: Bool
        /// The pattern of the rule that decided; nil for a host without a rule.
        var rule: String?
        /// The refusal, and report-only findings that are not enforced.
        var reports: [TrustReport]
    }

    let path: String
    /// The host for which files are evaluated.
    let host: HostAndPort?
    let timeout: Duration
    let output: Output

    /// Prints the decisions, and returns whether all targets are accepted.
    func check(_ targets: [Target]) async throws -> Bool {
        let policy = try SecurityPolicy.file(path)
        var verdicts: [Verdict] = []
        for target in targets {
            do {
                verdicts.append(try await verdict(target, policy))
            } catch {
                try output.complain("\(error)")
            }
        }
        try output.write(verdicts, text: verdicts.map(Self.text).joined())
        return verdicts.count == targets.count && verdicts.allSatisfy(\.isAccepted)
    }

    private func verdict(_ target: Target, _ policy: SecurityPolicy) async throws -> Verdict {
        switch target {
        case .host(let host):
            return await Self.verdict(host, try await ServerChain.read(host, timeout: timeout), policy)
        case .file(let file):
            guard let host else {
                throw UsageError("\"\(file)\" is a file: specify with --as the host for which it is evaluated.")
            }
            let chain = try X509Certificate.all(contentsOfFile: file).map(\.derBytes)
            let trust = ServerTrust(host: host.name, port: host.port, presentedChain: chain)
            var verdict = await Self.verdict(host, trust, policy)
            verdict.file = file
            return verdict
        }
    }

    private static func verdict(
        _ host: HostAndPort, _ trust: ServerTrust, _ policy: SecurityPolicy
    ) async -> Verdict {
        let pattern = policy.rule(for: trust.host)?.pattern
        var verdict = Verdict(
            host: host.description, isAccepted: false, isPinned: false,
            allowsCleartext: policy.allowsCleartext(to: trust.host), rule: pattern?.description, reports: [])
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
        let name = verdict.file.map { "\($0) as \(verdict.host)" } ?? verdict.host
        var lines = ["\(name): " + (verdict.isAccepted ? "accepted \(rule)\(pinned)" : "refused \(rule)")]
        lines[0] += verdict.allowsCleartext ? ", clear text allowed" : ", clear text refused"
        for report in verdict.reports {
            lines.append((report.isEnforced ? "  " : "  would be refused: ") + "\(report.reason): \(report.message)")
        }
        return lines.map { OneLine.text($0) + "\n" }.joined()
    }
}
