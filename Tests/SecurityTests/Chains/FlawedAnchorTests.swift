import FoundationEssentials
import LinnetTesting
import Synchronization
import Testing

@testable import LinnetSecurity

/// Flaws of an anchor are always reported, and refused if the profile has the rule.
@Suite("Flawed anchors", .timeLimit(.minutes(1)))
struct FlawedAnchorTests {
    private final class Collector: Sendable {
        private let all = Mutex<[TrustReport]>([])

        var reports: [TrustReport] { all.withLock { $0 } }
        func add(_ report: TrustReport) { all.withLock { $0.append(report) } }
    }

    private let pki: TestPKI

    init() throws { pki = try TestPKI() }

    private func chain(
        _ change: (inout CertificateTemplate) -> Void
    ) throws -> (anchor: ForgedCertificate, trust: ServerTrust) {
        var template = CertificateTemplate.authority("Root")
        change(&template)
        let root = try TestPKI.forgeRoot(template)
        let leaf = try pki.forge(.server(), by: root)
        return (root, ServerTrust(host: "localhost", port: 443, presentedChain: [leaf.der]))
    }

    private static let flaws: [@Sendable (inout CertificateTemplate) -> Void] = [
        { $0.set("2.5.29.19", []) }, { $0.purposes("1.3.6.1.5.5.7.3.1") }, { $0.serialNumber = [0x80, 1] },
        { $0.set("2.5.29.35", ASN1.sequence(ASN1.value(0x80, [1, 2, 3]))) },
        { $0.set("2.5.29.35", ASN1.sequence()) },
    ]

    @Test(arguments: flaws.indices)
    func flawsOfAnchorsAreReported(_ index: Int) async throws {
        let (anchor, trust) = try chain(Self.flaws[index])
        let anchors = try TrustAnchors.certificates([anchor.certificate])
        let collector = Collector()
        let reporter = TrustReporter { collector.add($0) }
        for profile in [ChainProfile.default, .lenient] {
            let policy = SecurityPolicy.everyHost(.systemTrust(anchors: anchors, profile: profile))
                .reporting(to: reporter)
            // Also for a cached chain.
            for _ in 0..<2 {
                guard case .accepted(let verified) = await policy.evaluate(trust) else {
                    Issue.record("refused")
                    return
                }
                #expect(verified.findings.map(\.reason) == [.flawedAnchor])
                #expect(verified.findings.first?.certificate?.subject == "CN=Root")
            }
        }
        #expect(collector.reports.map(\.reason) == Array(repeating: "flawedAnchor", count: 4))
        #expect(collector.reports.allSatisfy { !$0.isEnforced })
    }

    @Test(arguments: flaws.indices)
    func flawsOfAnchorsAreRefusedByAProfileWithTheRule(_ index: Int) async throws {
        let (anchor, trust) = try chain(Self.flaws[index])
        let anchors = try TrustAnchors.certificates([anchor.certificate])
        for profile in [ChainProfile.strict, .default.enforcing(.flawedAnchor)] {
            let refusal = await StandardTrustEvaluator.systemTrust(anchors: anchors, profile: profile).evaluate(trust)
                .refusal
            #expect(refusal?.reason == .flawedAnchor)
        }
        let allowed = StandardTrustEvaluator.systemTrust(anchors: anchors, profile: .strict.allowing(.flawedAnchor))
        #expect(await allowed.evaluate(trust).isAccepted)
    }

    @Test func flawlessAnchorsAndServerCertificatesAreNotReported() async throws {
        let (anchor, trust) = try chain { _ in }
        let good = StandardTrustEvaluator.systemTrust(anchors: try .certificates([anchor.certificate]))
        let own = try TestPKI.forgeRoot(.server())
        let alone = try StandardTrustEvaluator.certificatePins([own.certificate])
        let server = ServerTrust(host: "localhost", port: 443, presentedChain: [own.der])
        for decision in [await good.evaluate(trust), await alone.evaluate(server)] {
            guard case .accepted(let verified) = decision else {
                Issue.record("refused")
                continue
            }
            #expect(verified.findings.isEmpty)
        }
    }
}
