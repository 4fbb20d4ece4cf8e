import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

@Suite("Messages of refusals", .timeLimit(.minutes(1)))
struct RefusalMessageTests {
    @Test func everyMessageIsOneLineWithTheHost() async throws {
        let pki = try TestPKI()
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try pki.anchors)
        let hostile = try pki.identity { ($0.hosts, $0.addresses) = (["other\u{202E}.test"], []) }
        for trust in [
            try pki.identity { $0.validity = .expired }.trust(),
            try pki.identity { $0.validity = .notYetValid }.trust(),
            hostile.trust(), try TestPKI().identity().trust(), try TestPKI.selfSigned().trust(),
            ServerTrust(host: "localhost", port: 1, presentedChain: []),
        ] {
            let refusal = try #require(await evaluator.evaluate(trust).refusal)
            #expect(refusal.message.hasPrefix("localhost: "))
            #expect(!refusal.message.unicodeScalars.contains { $0.properties.generalCategory == .control })
            #expect(!refusal.message.contains("\u{202E}"))
            #expect(refusal.description == refusal.message && refusal.errorDescription == refusal.message)
            #expect(refusal.message.hasSuffix("."))
        }
    }

    /// The properties have all pins, and the message the first eight.
    @Test(arguments: [(1, nil), (8, nil), (9, " and 1 more"), (20, " and 12 more")] as [(Int, String?)])
    func messageShowsEightPins(count: Int, rest: String?) async throws {
        let pki = try TestPKI()
        let pins = (0..<count).map { PublicKeyPin(subjectPublicKeyInfo: Data([UInt8($0)])) }
        let evaluator = try StandardTrustEvaluator.pins(pins, anchors: pki.anchors)
        let refusal = try #require(await evaluator.evaluate(pki.identity().trust()).refusal)
        #expect(Set(refusal.wantedPins) == Set(pins))
        let wanted = try #require(refusal.message.split(separator: "wanted: ").last)
        #expect(wanted.split(separator: "sha256/").count == min(count, 8))
        #expect(wanted.contains(" more") == (rest != nil) && wanted.contains(rest ?? "sha256/"))
    }

    @Test func hostsOfTheCertificateAreListed() async throws {
        let pki = try TestPKI()
        let trust = try pki.identity { $0.hosts = ["a.example", "b.example"] }.trust("c.example")
        for evaluator in [
            StandardTrustEvaluator.systemTrust(anchors: try pki.anchors), StandardTrustEvaluator.hostname,
        ] as [any TrustEvaluator] {
            let refusal = try #require(await evaluator.evaluate(trust).refusal)
            #expect(refusal.message.contains("a.example") && refusal.message.contains("b.example"))
        }
    }

    @Test func messageSuggestsAMissingIntermediate() async throws {
        let pki = try TestPKI()
        let leaf = try pki.identity().certificate
        let refusal = await StandardTrustEvaluator.systemTrust(anchors: try pki.anchors).refusal(of: [leaf])
        #expect(refusal?.message.contains("omitted an intermediate") == true)
        #expect(refusal?.message.contains(pki.intermediate.subject) == true)
    }

    @Test func longListsOfPinsAreShortened() async throws {
        let pki = try TestPKI()
        let wanted = try (0..<100).map { index in
            try PublicKeyPin("sha256/" + Data(repeating: UInt8(index), count: 32).base64EncodedString())
        }
        let evaluator = try StandardTrustEvaluator.pins(wanted, anchors: pki.anchors)
        let refusal = await evaluator.refusal(of: try pki.identity().chain)
        #expect(refusal?.wantedPins == wanted)
        #expect(refusal?.message.contains("and 92 more") == true)
        #expect((refusal?.message.count ?? .max) < 1000)
    }

    @Test func verifyCodeIsOpenSSLs() async throws {
        let pki = try TestPKI()
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try pki.anchors)
        for (validity, code) in [(TestPKI.Validity.expired, Int32(10)), (.notYetValid, 9)] {
            let identity = try pki.identity { $0.validity = validity }
            let refusal = await evaluator.refusal(of: identity.chain)
            #expect(refusal?.verifyCode == code)
            #expect(refusal?.certificate == identity.certificate.summary)
        }
    }
}
