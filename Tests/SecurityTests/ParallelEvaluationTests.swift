import LinnetSecurity
import LinnetTesting
import Testing

@Suite("Parallel evaluations", .timeLimit(.minutes(1)))
struct ParallelEvaluationTests {
    @Test func aThousandParallelEvaluationsAreIndependent() async throws {
        let pki = try TestPKI()
        let good = try pki.identity()
        let expired = try pki.identity { $0.validity = .expired }
        let stranger = try TestPKI.selfSigned()
        let anchors = try TrustAnchors.certificates([pki.root])
        let policy = try SecurityPolicy(
            rules: [HostRule("localhost", .pins([good.pin, expired.pin], anchors: anchors))],
            otherHosts: .systemTrust(anchors: anchors))
        let questions: [(ServerTrust, TrustRefusal.Reason?)] = [
            (ServerTrust(good.chain), nil), (ServerTrust(expired.chain), .expired),
            (ServerTrust(stranger.chain), .selfSigned), (ServerTrust(good.chain, host: "127.0.0.1"), nil),
            (ServerTrust(try pki.identity().chain), .pinMismatch),
            (ServerTrust(good.chain, host: "other.example"), .hostnameMismatch),
        ]
        let wrong = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<1000 {
                let (trust, reason) = questions[index % questions.count]
                group.addTask { await policy.evaluate(trust).refusal?.reason != reason }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(wrong == 0)
    }

    @Test func certificatesAreSharedBetweenThreads() async throws {
        let identity = try TestPKI().identity()
        let pins = await withTaskGroup(of: PublicKeyPin.self) { group in
            for _ in 0..<200 { group.addTask { identity.certificate.summary.publicKeyPin } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(pins == [identity.pin])
    }
}
