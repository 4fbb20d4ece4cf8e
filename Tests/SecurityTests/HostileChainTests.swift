import FoundationEssentials
import LinnetMessages
import LinnetTesting
import Testing

@testable import LinnetSecurity

@Suite(.timeLimit(.minutes(1))) struct HostileChainTests {
    @Test func emptyChainIsRefused() async throws {
        for evaluator in try Self.evaluators(TestPKI()) {
            let trust = ServerTrust(host: "localhost", port: 443, presentedChain: [])
            #expect(await reason(evaluator, trust) == .noCertificate)
        }
    }

    @Test func unreadableCertificateIsRefusedAtEveryPosition() async throws {
        let pki = try TestPKI()
        let chain = try pki.identity().chain.map(\.derBytes)
        for bytes in [Data(), Data([0x30]), Data("text".utf8), chain[0].dropLast(), chain[0] + [0]] {
            for presented in [[bytes], [bytes] + chain, chain + [bytes], [chain[0], bytes, chain[1]]] {
                let trust = ServerTrust(host: "localhost", port: 443, presentedChain: presented)
                for evaluator in try Self.evaluators(pki) {
                    #expect(await reason(evaluator, trust) == .malformedCertificate)
                }
            }
        }
    }

    @Test func certificateWithAChangedByteIsRefused() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity()
        let evaluator = try StandardTrustEvaluator.pins([pki.root.publicKeyPin], anchors: pki.anchors)
        var trust = identity.trust()
        let leaf = trust.presentedChain[0]
        var accepted: [Int] = []
        for index in leaf.indices {
            for mask in [UInt8(1), 0x20, 0x80] {
                var changed = leaf
                changed[index] ^= mask
                trust.presentedChain[0] = changed
                if await evaluator.evaluate(trust).isAccepted { accepted.append(index) }
            }
        }
        #expect(accepted.isEmpty)
    }

    @Test func prefixOfACertificateIsRefused() async throws {
        let pki = try TestPKI()
        var trust = try pki.identity().trust()
        let leaf = trust.presentedChain[0]
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try pki.anchors)
        for count in 0..<leaf.count {
            trust.presentedChain[0] = Data(leaf.prefix(count))
            #expect(await reason(evaluator, trust) == .malformedCertificate)
        }
    }

    @Test func chainSizeIsLimited() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity()
        var trust = identity.trust()
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try pki.anchors)
        let maximum = ChainLimits.certificates
        trust.presentedChain += Array(repeating: pki.root.derBytes, count: maximum - trust.presentedChain.count)
        #expect(await reason(evaluator, trust) == nil)
        trust.presentedChain.append(pki.root.derBytes)
        #expect(await reason(evaluator, trust) == .malformedCertificate)
        trust.presentedChain =
            identity.chain.map(\.derBytes) + [Data(repeating: 0x30, count: ChainLimits.bytes)]
        #expect(await reason(evaluator, trust) == .malformedCertificate)
    }

    @Test func messageForAThousandNamesIsOneLine() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity { $0.hosts = (0..<1000).map { "host-\($0).example" } }
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try pki.anchors)
        #expect(await reason(evaluator, identity.trust("host-999.example")) == nil)
        let refusal = await evaluator.evaluate(identity.trust("other.example")).refusal
        #expect(refusal?.reason == .hostnameMismatch)
        #expect((refusal?.message.count ?? .max) < 600)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300])
    func timesOutOfRangeAreRefused(_ seconds: Double) async throws {
        let pki = try TestPKI()
        let trust = try pki.identity().trust(time: Date(timeIntervalSince1970: seconds))
        #expect(await reason(StandardTrustEvaluator.systemTrust(anchors: try pki.anchors), trust) == .internalFailure)
    }

    @Test(arguments: [Date.distantPast, .distantFuture, Date(timeIntervalSince1970: 0.5)])
    func extremeTimesDoNotTrap(_ time: Date) async throws {
        let pki = try TestPKI()
        let expected: TrustRefusal.Reason = time > Date() ? .expired : .notYetValid
        #expect(
            await reason(
                StandardTrustEvaluator.systemTrust(anchors: try pki.anchors), try pki.identity().trust(time: time))
                == expected)
    }

    @Test func errorQueueOfOpenSSLIsEmptyAfterwards() async throws {
        let pki = try TestPKI()
        var trust = try pki.identity().trust("example.com")
        for evaluator in try Self.evaluators(pki) { _ = await evaluator.evaluate(trust) }
        trust.presentedChain[0] = Data("text".utf8)
        for evaluator in try Self.evaluators(pki) {
            _ = await evaluator.evaluate(trust)
            _ = try? PublicKeyPin(key: Data("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n".utf8))
            _ = try? X509Certificate(der: Data([0x30, 0x80]))
            #expect(OpenSSLErrorQueue.drain().isEmpty)
        }
    }

    @Test func hostileTextIsEscapedInMessages() {
        let text = "a\nb\u{7}\u{202E}c\u{2028}d\u{E000}é"
        #expect(text.oneLine == "a\\u{a}b\\u{7}\\u{202e}c\\u{2028}d\\u{e000}é")
        #expect(String(repeating: "x", count: 100_000).oneLine.count == 257)
    }

    private static func evaluators(_ pki: TestPKI) throws -> [any TrustEvaluator] {
        [
            StandardTrustEvaluator.systemTrust(anchors: try pki.anchors), StandardTrustEvaluator.hostname,
            try StandardTrustEvaluator.pins([pki.root.publicKeyPin], anchors: pki.anchors),
            try StandardTrustEvaluator.certificatePins([pki.root]),
            StandardTrustEvaluator.allOf(.hostname, .systemTrust(anchors: try pki.anchors)),
        ]
    }
}
