import LinnetSecurity
import LinnetTesting
import Testing

/// Patterns for groups of hosts: address prefixes, single-label names, private use.
@Suite("Host patterns for groups", .timeLimit(.minutes(5)))
struct HostPatternGroupTests {
    @Test(arguments: [
        ("192.0.2.0/24", "192.0.2.0", true), ("192.0.2.0/24", "192.0.2.255", true),
        ("192.0.2.0/24", "192.0.3.0", false),
        ("192.0.2.0/23", "192.0.3.9", true), ("192.0.2.128/25", "192.0.2.127", false),
        ("0.0.0.0/0", "203.0.113.1", true),
        ("0.0.0.0/0", "::1", false), ("0.0.0.0/0", "example.com", false), ("::/0", "192.0.2.1", false),
        ("192.0.2.1/32", "192.0.2.1", true), ("192.0.2.1/32", "192.0.2.2", false),
        ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
        ("2001:db8::/33", "2001:db8:8000::", false), ("10.0.0.0/8", "::ffff:10.0.0.1", true),
        ("10.0.0.0/8", "::ffff:11.0.0.1", false), ("::ffff:0:0/96", "10.0.0.1", true),
        ("::/0", "::ffff:10.0.0.1", false),
        ("::ffff:10.0.0.0/104", "10.9.9.9", true), ("::ffff:10.0.0.0/104", "11.0.0.1", false),
        ("@single-label", "localhost", true), ("@single-label", "NAS.", true), ("@single-label", "a.b", false),
        ("@single-label", "10.0.0.1", false), ("@single-label", "::1", false),
        ("@private", "localhost", true), ("@private", "a.b.localhost", true), ("@private", "printer.local", true),
        ("@private", "db.internal", true), ("@private", "nas.home.arpa", true), ("@private", "home.arpa", true),
        ("@private", "arpa", false), ("@private", "notlocal", false), ("@private", "local.example.com", false),
        ("@private", "10.1.2.3", true), ("@private", "172.31.255.255", true), ("@private", "172.32.0.0", false),
        ("@private", "192.168.0.1", true), ("@private", "127.9.9.9", true), ("@private", "169.254.1.1", true),
        ("@private", "100.64.0.1", true), ("@private", "100.128.0.1", false), ("@private", "192.0.2.1", false),
        ("@private", "::ffff:127.0.0.1", true), ("@private", "0.0.0.0", true), ("@private", "::", true),
        ("@private", "::ffff:8.8.8.8", false), ("@private", "::1", true), ("@private", "::2", false),
        ("@private", "fd00::1", true),
        ("@private", "fe80::1", true), ("@private", "fec0::1", false), ("@private", "2001:db8::1", false),
    ])
    func groupsMatchTheirHosts(pattern: String, host: String, isMatch: Bool) throws {
        #expect(try HostPattern(pattern).matches(host) == isMatch)
    }

    @Test(arguments: [
        "192.0.2.0/33", "2001:db8::/129", "192.0.2.0/-1", "192.0.2.0/", "192.0.2.0/024", "192.0.2.0/+24", "/24",
        "192.0.2.0/24/24", "example.com/24", "192.0.2/24", "::ffff:0:0/95", "::ffff:0:0/129", "127.1/32", "@",
        "::ffff:192.0.2.1/-1", "::ffff:192.0.2.1/-9223372036854775808", "::ffff:192.0.2.1/9223372036854775807",
        "2001:db8::1/-9223372036854775808",
        "@private.", "@Private", "@other", "*.@private",
    ])
    func invalidGroupPatternsAreRefused(_ text: String) {
        let error = #expect(throws: SecurityError.self) { try HostPattern(text) }
        #expect(error?.code == .invalidPattern)
    }

    @Test(arguments: [
        ("192.0.2.1/24", "192.0.2.0/24"), ("2001:db8::1/32", "2001:db8::/32"), ("10.1.2.3/7", "10.0.0.0/7"),
    ])
    func bitsAfterThePrefixAreRefusedWithAHint(text: String, wanted: String) {
        let error = #expect(throws: SecurityError.self) { try HostPattern(text) }
        #expect(error?.message.contains("\"\(wanted)\"") == true)
    }

    @Test(arguments: [
        ("192.0.2.0/24", "192.0.2.0/24"), ("192.0.2.1/32", "192.0.2.1"), ("2001:DB8:0::/32", "2001:db8::/32"),
        ("::1/128", "::1"), ("@private", "@private"), ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
    ])
    func groupPatternsHaveACanonicalForm(text: String, description: String) throws {
        #expect(try HostPattern(text).description == description)
        #expect(try HostPattern(description) == HostPattern(text))
    }

    @Test(arguments: [
        ("10.1.2.3", "10.1.2.3"), ("10.1.2.4", "10.1.2.0/24"), ("10.1.3.1", "10.1.0.0/16"), ("10.2.0.1", "@private"),
        ("nas", "@single-label"), ("localhost", "localhost"), ("a.local", "**.local"), ("a.b.internal", "@private"),
        ("fd00::1", "@private"), ("8.8.8.8", "none"), ("example.com", "none"),
    ])
    func mostSpecificGroupDecides(host: String, pattern: String) throws {
        let patterns = [
            "@private", "@single-label", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3", "localhost", "**.local",
        ]
        for patterns in [patterns, patterns.reversed()] {
            let policy = try SecurityPolicy(rules: patterns.map { try HostRule($0, StandardTrustEvaluator.refuse) })
            #expect(policy.rule(for: host)?.pattern.description ?? "none" == pattern)
        }
    }

    @Test func hostsWithoutARuleCanBeRefused() async throws {
        let pki = try TestPKI()
        let policy = try SecurityPolicy(
            rules: [HostRule("127.0.0.0/8", .onlyAnchors([pki.root]))], otherHosts: .refuse)
        #expect(await policy.evaluate(try pki.identity().trust("127.0.0.1")).isAccepted)
        let refusal = await policy.evaluate(try pki.identity().trust("localhost")).refusal
        #expect(refusal?.reason == .hostRefused)
    }
}
