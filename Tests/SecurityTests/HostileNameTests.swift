import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Testing

/// Ambiguous names, and times at the limits of validity.
@Suite("Hostile names and times", .timeLimit(.minutes(1)))
struct HostileNameTests {
    private let pki: TestPKI

    init() throws { pki = try TestPKI() }

    private func refusal(
        _ hosts: [String], host: String = "localhost", _ profile: ChainProfile = .strict
    ) async throws -> TrustRefusal? {
        let leaf = try pki.forge(.server(hosts: hosts))
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try pki.anchors, profile: profile)
        return await evaluator.evaluate(
            ServerTrust(host: host, port: 443, presentedChain: [leaf.der, pki.intermediate.derBytes])
        ).refusal
    }

    /// C strings end at the NUL.
    @Test(arguments: [
        ["localhost\0.evil.example"], ["evil.example", "localhost\0"], ["\0localhost"], ["local\0host"],
        ["localhost\0.evil.example", "localhost\0"],
    ])
    func nameWithANULDoesNotMatch(names: [String]) async throws {
        for profile in [ChainProfile.strict, .lenient] {
            let refusal = try #require(try await refusal(names, profile))
            #expect(!refusal.message.contains("\0"))
        }
    }

    @Test func repeatedNameIsOneName() async throws {
        let names = Array(repeating: "localhost", count: 50)
        #expect(try await refusal(names) == nil)
        #expect(try await refusal(names, host: "other.example")?.reason == .hostnameMismatch)
    }

    /// The first and the last second belong to the validity (RFC 5280, 4.1.2.5); OpenSSL excludes the last.
    @Test func firstAndLastSecondAreValid() async throws {
        let identity = try pki.identity { $0.hasIntermediate = false }
        let evaluator = try StandardTrustEvaluator.systemTrust(anchors: .certificates([identity.certificate]))
        let (first, last) = (identity.certificate.notBefore, identity.certificate.notAfter)
        for (time, reason) in [
            (first.addingTimeInterval(-1), TrustRefusal.Reason?.some(.notYetValid)), (first, nil),
            (last.addingTimeInterval(-1), nil), (last, nil), (last.addingTimeInterval(1), .expired),
        ] {
            #expect(await evaluator.evaluate(identity.trust(time: time)).refusal?.reason == reason, "\(time)")
        }
    }
}
