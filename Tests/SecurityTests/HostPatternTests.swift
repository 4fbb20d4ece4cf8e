import LinnetSecurity
import Testing

@Suite("Host patterns", .timeLimit(.minutes(1)))
struct HostPatternTests {
    @Test(arguments: [
        ("example.com", "example.com"), ("example.com", "EXAMPLE.Com"), ("Example.COM", "example.com"),
        ("example.com", "example.com."), ("example.com.", "example.com"), ("localhost", "localhost"),
        ("a_b.example.com", "A_B.example.com"), ("xn--bcher-kva.example", "XN--BCHER-KVA.example"),
        ("*.example.com", "a.example.com"), ("*.example.com", "A.EXAMPLE.COM."), ("*.com", "example.com"),
        ("**.example.com", "example.com"), ("**.example.com", "a.example.com"), ("**.example.com", "a.b.c.example.com"),
        ("**.Example.com.", "a.example.com."),
        ("192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:DB8::1"), ("2001:db8::1", "2001:db8:0:0:0:0:0:1"),
        ("::1", "0:0:0:0:0:0:0:1"), ("192.0.2.1.", "192.0.2.1"), ("192.0.2.1", "192.0.2.1."),
        ("192.0.2.1", "::ffff:192.0.2.1"), ("192.0.2.1", "::FFFF:c000:201"), ("::ffff:192.0.2.1", "192.0.2.1"),
    ])
    func patternMatches(pattern: String, host: String) throws {
        #expect(try HostPattern(pattern).matches(host))
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0/8", true), ("10.0.0.0/8", "10.1.0.0/16", true), ("10.1.0.0/16", "10.0.0.0/8", false),
        ("10.0.0.0/8", "11.0.0.0/16", false), ("10.0.0.0/16", "11.0.0.0/8", false),
        ("10.0.0.0/8", "2001:db8::/32", false),
    ])
    func aRangeOfAddressesContainsNarrowerOnes(range: String, other: String, isContained: Bool) throws {
        guard case .range(let range) = try HostPattern(range).form, case .range(let other) = try HostPattern(other).form
        else {
            Issue.record("These are no ranges.")
            return
        }
        #expect(range.contains(other) == isContained)
    }

    @Test(
        arguments: [
            ("0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1"), ("10.0.0.0/8", "10.0.0.0/9", "10.128.0.0/9"),
            ("10.0.0.0/15", "10.0.0.0/16", "10.1.0.0/16"), ("10.1.2.4/30", "10.1.2.4/31", "10.1.2.6/31"),
            ("2001:db8::/32", "2001:db8::/33", "2001:db8:8000::/33"), ("::/0", "::/1", "8000::/1"),
        ])
    func aRangeOfAddressesHasTwoHalves(range: String, low: String, high: String) throws {
        let patterns = try [range, low, high].map { try HostPattern($0).form }
        guard case .range(let range) = patterns[0], case .range(let low) = patterns[1],
            case .range(let high) = patterns[2]
        else {
            Issue.record("These are no ranges.")
            return
        }
        #expect(range.halves?.0 == low && range.halves?.1 == high)
    }

    @Test func aSingleAddressHasNoHalves() throws {
        for address in [[192, 0, 2, 1], [UInt8](repeating: 1, count: 16)] as [[UInt8]] {
            let single = try #require(AddressRange(address, prefixLength: 8 * address.count))
            #expect(single.halves == nil)
            let pair = try #require(AddressRange(address.dropLast() + [2], prefixLength: 8 * address.count - 1))
            #expect(pair.halves?.0.base.last == 2 && pair.halves?.1.base.last == 3)
            #expect(AddressRange(address, prefixLength: 8 * address.count + 1) == nil)
            #expect(AddressRange(address, prefixLength: -1) == nil)
        }
    }

    /// Systems connect to themselves when they are asked for the unspecified address.
    @Test(arguments: ["127.0.0.0/8", "127.0.0.1", "::1", "::1/128", "127.0.0.0/30", "@private"])
    func aPatternForLoopbackMatchesTheUnspecifiedAddresses(pattern: String) throws {
        for host in ["0.0.0.0", "::", "0:0::0", "::ffff:0.0.0.0"] {
            #expect(try HostPattern(pattern).matches(host), "\(host)")
        }
        for host in ["0.0.0.1", "::2", "example.com"] where pattern != "@private" {
            #expect(try !HostPattern(pattern).matches(host), "\(host)")
        }
        let other = try SecurityPolicy(rules: [HostRule("0.0.0.0/0", .systemTrust), HostRule(pattern, .refuse)])
        if pattern != "@private" { #expect(!other.allowsCleartext(to: "0.0.0.0")) }
    }

    @Test func theUnspecifiedAddressesPatternIsMoreSpecificThanLoopbacks() throws {
        for (own, other) in [("0.0.0.0", "127.0.0.1"), ("0.0.0.0/32", "127.0.0.1/32"), ("0.0.0.0/8", "127.0.0.0/8")] {
            for rules in [[own, other], [other, own]] {
                let policy = try SecurityPolicy(rules: rules.map { try HostRule($0, .systemTrust) })
                #expect(policy.rule(for: "0.0.0.0")?.pattern == (try HostPattern(own)))
                #expect(policy.rule(for: "127.0.0.1")?.pattern == (try HostPattern(other)))
            }
        }
    }

    @Test(arguments: [
        ("example.com", "a.example.com"), ("example.com", "example.org"), ("example.com", "notexample.com"),
        ("example.com", "example.com.evil.org"), ("example.com", ""), ("example.com", "example.com.."),
        ("example.com", "example.com\0"), ("example.com", "example.com\0.evil.org"), ("example.com", " example.com"),
        ("*.example.com", "example.com"), ("*.example.com", "a.b.example.com"), ("*.example.com", "aexample.com"),
        ("**.example.com", "notexample.com"), ("**.example.com", "example.com.org"), ("**.example.com", "com"),
        ("192.0.2.1", "192.0.2.10"), ("192.0.2.1", "192.0.2.1.example.com"), ("192.0.2.1", "::192.0.2.1"),
        ("192.0.2.1", "192.0.2.1\0"), ("192.0.2.1", "192.0.2.1\0.example.com"), ("::1", "[::1]"), ("::1", "::1%lo"),
    ])
    func patternDoesNotMatch(pattern: String, host: String) throws {
        #expect(try !HostPattern(pattern).matches(host))
    }

    @Test(arguments: [
        "", ".", "..", "*", "**", "*.", "**.", "*.*.example.com", "a.*.example.com", "*a.example.com", "a*.example.com",
        "***.example.com", "example..com", ".example.com", "*..example.com", "example.com..", "exam ple.com",
        "example.com ", "\texample.com", "example.com/", "https://example.com", "example.com:443", "[::1]", "::1%lo",
        "*.0.2.1", "**.2.1", "*.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "*.0x7f",
        "bücher.example", "example\0.com", "192.0.2.1\0", "192.0.2.1\0.example.com", "::1\0",
        String(repeating: "a", count: 64) + ".com", String(repeating: "a.", count: 127) + "com",
    ])
    func invalidPatternsAreRefused(text: String) {
        let error = #expect(throws: SecurityError.self) { try HostPattern(text) }
        #expect(error?.code == .invalidPattern)
    }

    @Test(arguments: [
        ("Example.com.", "example.com"), ("*.Example.com", "*.example.com"), ("**.example.com", "**.example.com"),
        ("192.0.2.1", "192.0.2.1"), ("2001:DB8:0::1", "2001:db8::1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
    ])
    func patternsHaveACanonicalForm(text: String, description: String) throws {
        let pattern = try HostPattern(text)
        #expect(pattern.description == description)
        #expect(try HostPattern(description) == pattern)
    }

    @Test(arguments: [
        ("example.com", "EXAMPLE.com."), ("*.example.com", "*.Example.com"), ("::1", "0:0::1"),
        ("192.0.2.1", "192.0.2.1."),
    ])
    func patternsForTheSameHostsAreEqual(left: String, right: String) throws {
        #expect(try HostPattern(left) == HostPattern(right))
        #expect(try HostPattern(left).hashValue == HostPattern(right).hashValue)
    }
}
