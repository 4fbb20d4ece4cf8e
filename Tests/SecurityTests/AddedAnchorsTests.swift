import CommandSupport
import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

@Suite("Added anchors", .timeLimit(.minutes(1)))
struct AddedAnchorsTests {
    @Test func addedAnchorsAreTrustedBesideTheFirst() async throws {
        let (own, more, third) = try (TestPKI(), TestPKI(), TestPKI())
        let both = StandardTrustEvaluator.systemTrust(anchors: try own.anchors.adding([more.root]))
        #expect(await both.refusal(of: try own.identity().chain) == nil)
        #expect(await both.refusal(of: try more.identity().chain) == nil)
        #expect(await both.refusal(of: try third.identity().chain)?.reason == .unknownAuthority)
    }

    @Test func addedAnchorsAreTrustedBesideTheSystem() async throws {
        let (own, more, third) = try (TestPKI(), TestPKI(), TestPKI())
        try await Scratch.with { scratch in
            let location = SystemTrustLocation(file: try scratch.write("root.pem", own.rootPEM))
            let system = TrustAnchors(source: .system(location))
            let anchors = try system.adding([more.root]).adding([third.intermediate])
            let extended = StandardTrustEvaluator.systemTrust(anchors: anchors)
            for pki in [own, more, third] {
                #expect(await extended.refusal(of: try pki.identity().chain) == nil)
            }
            #expect(try anchors.store() === anchors.store())
            #expect(
                await StandardTrustEvaluator.systemTrust(anchors: system).refusal(of: try more.identity().chain) != nil)
        }
    }

    @Test func addingNothingIsAnError() {
        let error = #expect(throws: SecurityError.self) { try TrustAnchors.system.adding([]) }
        #expect(error?.code == .noAnchors)
    }

    @Test func addedAnchorsDoNotReplaceAnUnreadableSystemStore() async throws {
        let pki = try TestPKI()
        let anchors = try TrustAnchors(source: .system(.init(file: "/nowhere/roots.pem"))).adding([pki.root])
        let refusal = await StandardTrustEvaluator.systemTrust(anchors: anchors).refusal(of: try pki.identity().chain)
        #expect(refusal?.reason == .anchorsUnavailable)
    }
}
