import CommandSupport
import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Testing

/// `openssl verify` and the evaluator give the same verdict on the same chains.
@Suite("Agreement with openssl verify", .timeLimit(.minutes(1)))
struct OpenSSLVerifyAgreementTests {
    private struct Question {
        var name: String
        var chain: [X509Certificate]
        var anchors: [X509Certificate]
        var host = "localhost"
        var time = Date()
        var isAccepted = true
    }

    private func pem(_ certificates: [X509Certificate]) -> String {
        certificates.map {
            "-----BEGIN CERTIFICATE-----\n"
                + $0.derBytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
                + "\n-----END CERTIFICATE-----\n"
        }.joined()
    }

    private func toolAccepts(_ question: Question, _ scratch: Scratch) throws -> Bool {
        let anchors = try scratch.write("anchors.pem", pem(question.anchors))
        let untrusted = try scratch.write("untrusted.pem", pem(Array(question.chain.dropFirst())))
        let leaf = try scratch.write("leaf.pem", pem([question.chain[0]]))
        let isAddress = question.host.contains(":") || question.host.allSatisfy { $0.isNumber || $0 == "." }
        let more = question.chain.count > 1 ? ["-untrusted", untrusted] : []
        let command =
            ["openssl", "verify", "-CAfile", anchors, "-no-CApath", "-no-CAstore", "-partial_chain", "-purpose"]
            + ["sslserver", "-auth_level", "2", "-attime", String(Int(question.time.timeIntervalSince1970))] + more
            + [isAddress ? "-verify_ip" : "-verify_hostname", question.host, leaf]
        return try Command.run(command).status == 0
    }

    private func questions() throws -> [Question] {
        let (pki, other) = (try TestPKI(), try TestPKI())
        let identity = try pki.identity()
        let chain = identity.chain
        let wildcard = try pki.identity { ($0.hosts, $0.addresses) = (["*.example.com"], []) }.chain
        let own = try TestPKI.selfSigned()
        let rsa = try pki.identity { $0.key = .rsa2048 }.chain
        let roots = [pki.root]
        return [
            Question(name: "good", chain: chain, anchors: roots),
            Question(name: "RSA", chain: rsa, anchors: roots),
            Question(name: "Ed25519", chain: try pki.identity { $0.key = .ed25519 }.chain, anchors: roots),
            Question(name: "root sent", chain: chain + roots, anchors: roots),
            Question(name: "two anchors", chain: chain, anchors: [other.root, pki.root]),
            Question(name: "partial", chain: chain, anchors: [pki.intermediate]),
            Question(name: "leaf as anchor", chain: chain, anchors: [chain[0]]),
            Question(name: "own, anchored", chain: own.chain, anchors: own.chain),
            Question(name: "address", chain: chain, anchors: roots, host: "127.0.0.1"),
            Question(name: "address, v6", chain: chain, anchors: roots, host: "::1"),
            Question(name: "wildcard", chain: wildcard, anchors: roots, host: "a.example.com"),
            Question(name: "later", chain: chain, anchors: roots, time: .days(20)),
            Question(name: "too late", chain: chain, anchors: roots, time: .days(31), isAccepted: false),
            Question(name: "too early", chain: chain, anchors: roots, time: .days(-2), isAccepted: false),
            Question(
                name: "expired", chain: try pki.identity { $0.validity = .expired }.chain, anchors: roots,
                isAccepted: false),
            Question(
                name: "not yet", chain: try pki.identity { $0.validity = .notYetValid }.chain, anchors: roots,
                isAccepted: false),
            Question(name: "unknown", chain: chain, anchors: [other.root], isAccepted: false),
            Question(name: "own", chain: own.chain, anchors: roots, isAccepted: false),
            Question(name: "no intermediate", chain: [chain[0]], anchors: roots, isAccepted: false),
            Question(name: "wrong host", chain: chain, anchors: roots, host: "example.org", isAccepted: false),
            Question(name: "wrong address", chain: chain, anchors: roots, host: "192.0.2.1", isAccepted: false),
            Question(name: "two labels", chain: wildcard, anchors: roots, host: "a.b.example.com", isAccepted: false),
            Question(
                name: "for clients", chain: try pki.identity { $0.isForClients = true }.chain, anchors: roots,
                isAccepted: false),
            Question(name: "upside down", chain: chain.reversed(), anchors: roots, isAccepted: false),
        ]
    }

    @Test func everyDecisionEqualsOpenSSLs() async throws {
        for question in try questions() {
            try await Scratch.with { scratch in
                let evaluator = StandardTrustEvaluator.systemTrust(anchors: try .certificates(question.anchors))
                let refusal = await evaluator.refusal(of: question.chain, host: question.host, time: question.time)
                #expect((refusal == nil) == question.isAccepted, "\(question.name): \(refusal?.message ?? "accepted")")
                #expect(try toolAccepts(question, scratch) == question.isAccepted, "\(question.name)")
            }
        }
    }
}
