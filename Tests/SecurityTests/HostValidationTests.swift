import LinnetSecurity
import LinnetTesting
import Testing

/// A certificate has to match the host (RFC 9525); both evaluators that check this agree.
@Suite("Host validation", .timeLimit(.minutes(1)))
struct HostValidationTests {
    private let pki: TestPKI
    private let evaluators: [any TrustEvaluator]

    init() throws {
        pki = try TestPKI()
        evaluators = [
            StandardTrustEvaluator.systemTrust(anchors: try .certificates([pki.root])), StandardTrustEvaluator.hostname,
        ]
    }

    private func identity(_ hosts: [String], _ addresses: [String] = []) throws -> TestPKI.Identity {
        try pki.identity { ($0.hosts, $0.addresses) = (hosts, addresses) }
    }

    @Test(arguments: [
        (["example.com"], "example.com"), (["example.com"], "EXAMPLE.com"), (["example.com"], "example.com."),
        (["Example.Com"], "example.com"), (["a.example", "b.example"], "b.example"),
        (["*.example.com"], "a.example.com"), (["*.example.com"], "A.example.com."),
    ])
    func matchingNamesAreAccepted(names: [String], host: String) async throws {
        let chain = try identity(names).chain
        for evaluator in evaluators { #expect(await evaluator.refusal(of: chain, host: host) == nil) }
    }

    @Test(arguments: [
        (["example.com"], "example.org"), (["example.com"], "a.example.com"), (["example.com"], "com"),
        (["*.example.com"], "example.com"), (["*.example.com"], "a.b.example.com"), (["*.example.com"], "aexample.com"),
        (["a*.example.com"], "ab.example.com"), (["*.com"], "example.com"), (["a.*.com"], "a.b.com"),
        (["*"], "localhost"), (["example.com"], "example.com.."), (["example.com"], " example.com"),
        // Invalid hosts.
        (["example.com"], ""), (["example.com"], "."), (["example.com"], ".."), (["example.com"], "*"),
        (["a.example.com"], ".example.com"), (["a.example.com"], "*.example.com"),
        (["example.com"], "example.com\0"), (["example.com"], "example.com\0.evil.org"), (["example.com"], "\0"),
        (["*.example.com"], "a\0.example.com"),
        // Names that look like addresses.
        (["127.0.0.1"], "127.0.0.1"), (["127.0.0.1"], "127.0.0.1."), (["::1"], "::1"),
    ])
    func otherHostsAreRefused(names: [String], host: String) async throws {
        let chain = try identity(names.filter { !$0.contains(":") }).chain
        for evaluator in evaluators {
            #expect(await evaluator.refusal(of: chain, host: host)?.reason == .hostnameMismatch, "\(evaluator)")
        }
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8::1"), ("2001:db8::1", "2001:DB8:0:0::1"), ("::1", "::1"),
        ("192.0.2.1", "192.0.2.1."), ("192.0.2.1", "::ffff:192.0.2.1"), ("192.0.2.1", "::FFFF:c000:201"),
    ])
    func matchingAddressesAreAccepted(address: String, host: String) async throws {
        let chain = try identity([], [address]).chain
        for evaluator in evaluators { #expect(await evaluator.refusal(of: chain, host: host) == nil) }
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.2"), ("192.0.2.1", "::192.0.2.1"), ("192.0.2.1", "192.0.2.1 "),
        ("192.0.2.1", "192.0.2.1 x"), ("192.0.2.1", "192.0.2.1\0"), ("2001:db8::1", "2001:db8::2"),
        ("2001:db8::1", "[2001:db8::1]"), ("fe80::1", "fe80::1%lo"), ("127.0.0.1", "localhost"),
        ("192.0.2.1", "::ffff:192.0.2.2"), ("127.0.0.1", "127.1"), ("127.0.0.1", "0x7f000001"),
        ("127.0.0.1", "2130706433"),
    ])
    func otherAddressesAreRefused(address: String, host: String) async throws {
        let chain = try identity([], [address]).chain
        for evaluator in evaluators {
            #expect(await evaluator.refusal(of: chain, host: host)?.reason == .hostnameMismatch, "\(evaluator)")
        }
    }

    @Test func commonNameIsNotMatchedAgainstTheHost() async throws {
        // The common name of an identity is its first host or address; here it is not an alternative name.
        let chain = try identity([], ["192.0.2.1"]).chain
        #expect(chain[0].subject == "CN=192.0.2.1")
        let leaf = try identity([]).chain
        #expect(leaf[0].subject == "CN=unnamed")
        for evaluator in evaluators {
            #expect(await evaluator.refusal(of: leaf, host: "unnamed")?.reason == .hostnameMismatch)
        }
    }

    @Test func withoutHostValidationTheChainIsStillVerified() async throws {
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try .certificates([pki.root]), validatesHost: false)
        #expect(await evaluator.refusal(of: try identity(["a.example"]).chain, host: "b.example") == nil)
        #expect(await evaluator.refusal(of: try TestPKI().identity().chain)?.reason == .unknownAuthority)
    }

    @Test func hostnameEvaluatorChecksOnlyTheHost() async throws {
        #expect(
            await StandardTrustEvaluator.hostname.refusal(of: try TestPKI.selfSigned { $0.validity = .expired }.chain)
                == nil)
        #expect(await StandardTrustEvaluator.hostname.refusal(of: [])?.reason == .noCertificate)
        #expect(!StandardTrustEvaluator.hostname.isPinning)
    }

    @Test func namesLongerThanACommonNameCanBeMade() async throws {
        let host = String(repeating: "a", count: 63) + ".example.com"
        let chain = try identity([host]).chain
        for evaluator in evaluators { #expect(await evaluator.refusal(of: chain, host: host) == nil) }
    }
}
