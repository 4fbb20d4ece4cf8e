import FoundationEssentials
import LinnetSecurity
import Testing

@testable import LinnetTransport

@Suite("The chain that a server presents", .timeLimit(.minutes(1)))
struct PresentedChainEncodingTests {
    private func encode(_ certificate: UInt8) -> Data? {
        certificate == 0 ? nil : Data([certificate])
    }

    /// A certificate without an encoding is 0, a missing one nil.
    @Test(
        arguments: [
            (1, [1, 2, 3], [1, 2, 3]),
            (1, [2, 3], [1, 2, 3]),
            (1, [1, 1], [1, 1]),
            (1, [], [1]),
            (0, [0, 2, 3], []),
            (0, [2, 3], []),
            (1, [0, 2, 3], []),
            (1, [1, 0, 3], []),
            (1, [1, 2, 0], []),
            (1, [1, nil, 3], []),
            (nil, [1, 2], []),
        ] as [(UInt8?, [UInt8?], [UInt8])])
    func noCertificateIsLeftOut(leaf: UInt8?, others: [UInt8?], expected: [UInt8]) {
        let chain = TLSPresentedChain.encoding(leaf: leaf, others, encode)
        #expect(chain == expected.map { Data([$0]) })
    }

    @Test func aChainThatCannotBeEncodedIsRefused() async {
        let presented = TLSPresentedChain(
            certificates: TLSPresentedChain.encoding(leaf: 1, [1, 0], encode), staple: nil, awaitsStaple: false)
        let policies: [SecurityPolicy] = [.systemTrust, .everyHost(StandardTrustEvaluator.hostname)]
        for policy in policies {
            guard case .refused(let refusal) = await policy.evaluate(presented.trust(host: "a.test", port: 443)) else {
                Issue.record("The chain was accepted.")
                continue
            }
            #expect(refusal.reason == .noCertificate)
        }
    }
}
