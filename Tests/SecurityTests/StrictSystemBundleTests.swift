import FoundationEssentials
import Testing

@testable import LinnetSecurity

/// The roots of the system's bundle, if there is one, as anchors under the strict profile.
@Suite("The system's roots", .timeLimit(.minutes(2)))
struct StrictSystemBundleTests {
    private static let bundle = SystemTrustLocation.bundles.first {
        FileManager.default.isReadableFile(atPath: $0)
    }

    @Test(.enabled(if: bundle != nil, "there is no bundle"))
    func rootsAreAcceptedUnderTheStrictProfile() throws {
        let roots = try X509Certificate.all(contentsOfFile: try #require(Self.bundle))
        #expect(!roots.isEmpty)
        var refused: [String] = []
        var wouldBe: [String: Int] = [:]
        for root in roots {
            let facts = try #require(root.handle.facts, "\(root.subject)")
            let link = ChainLink(facts: facts, position: .issuingAnchor, profile: .strict)
            if let broken = ChainProfile.strict.violation(link) { refused.append("\(root.subject): \(broken.finding)") }
            #expect(ChainLimits.excess(facts) == nil, "\(root.subject)")
            // The roots that require the weaker rules for anchors.
            for rule in ChainProfile.strict.rules where rule.applies(to: .intermediate) {
                let below = ChainLink(facts: facts, position: .intermediate, profile: .strict)
                if rule.check(below) != nil { wouldBe[rule.description, default: 0] += 1 }
            }
        }
        print("\(roots.count) roots; refused as anchors: \(refused.isEmpty ? "none" : refused.joined(separator: "; "))")
        print("would be refused as intermediate authorities:")
        for (rule, count) in wouldBe.sorted(by: { $0.value > $1.value }) { print("  \(rule): \(count)") }
        #expect(refused.isEmpty)
    }
}
