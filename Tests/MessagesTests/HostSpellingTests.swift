import CommandSupport
import Testing

@testable import LinnetMessages

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Hosts are parsed once: a text that a resolver reads as an address is the same address for a policy, or is not a
/// host.
@Suite("Spellings of hosts", .timeLimit(.minutes(1)))
struct HostSpellingTests {
    private func spelling(_ text: String, isBracketed: Bool = false) -> HostSpelling? {
        var text = text
        return text.withUTF8 { HostSpelling($0, isBracketed: isBracketed) }
    }

    @Test(arguments: [
        "example.com", "EXAMPLE.com", "example.com.", "a", "a_b", "xn--bcher-kva.example", "127.0.0.1", "0.0.0.0",
        "255.255.255.255", "1.example", "1.2.3.4.example", "a1", "0xg", "0x7f.example", "1-2",
    ])
    func namesAndAddressesKeepTheirText(text: String) {
        #expect(spelling(text) == .usual)
    }

    // RFC 1035, section 2.3.4: labels of 63 octets, and names of 253 without the dot of the root.
    @Test(arguments: [
        (63, 0, true), (64, 0, false), (63, 61, true), (63, 62, false), (64, 1, false),
    ])
    func labelsAndNamesAreLimited(label: Int, last: Int, isHost: Bool) {
        let labels = Array(repeating: String(repeating: "a", count: label), count: last == 0 ? 1 : 3)
        let name = (labels + (last == 0 ? [] : [String(repeating: "b", count: last)])).joined(separator: ".")
        for text in [name, name + "."] {
            #expect((spelling(text) != nil) == isHost, "\(text.utf8.count)")
            #expect((HostName(text) != nil) == isHost, "\(text.utf8.count)")
        }
    }

    @Test(arguments: [
        ("::1", "::1"), ("0:0::1", "::1"), ("2001:DB8::1", "2001:db8::1"), ("::ffff:127.0.0.1", "127.0.0.1"),
        ("::FFFF:7f00:1", "127.0.0.1"), ("0:0:0:0:0:ffff:10.0.0.1", "10.0.0.1"),
    ])
    func addressesOfIPv6HaveACanonicalForm(text: String, form: String) {
        #expect(spelling(text, isBracketed: true) == .address(form))
        #expect(spelling(text) == nil)
    }

    @Test(arguments: [("a", 1), ("example.com", 2), ("a.b.c", 3)]) func labelsAreCounted(name: String, count: Int) {
        #expect(HostName.labels(name) == count)
    }

    @Test func trailingDotOfAnIPv4AddressIsDropped() {
        #expect(spelling("127.0.0.1.") == .address("127.0.0.1"))
    }

    @Test(arguments: ["::1.", "::.", "::ffff:1.2.3.4.", "2001:db8::1."])
    func anIPv6AddressHasNoTrailingDot(text: String) {
        #expect(spelling(text, isBracketed: true) == nil)
        #expect(HostName(text) == nil)
    }

    @Test(arguments: [
        "127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F000001", "0x7f.1", "0177.0.0.1", "127.0.0.01", "0x", "0",
        "00",
        "127.0.0.256", "1.2.3.4.5", "127.1.", "1.2.3.", "example.1", "a.0x1f", "127.0.0.0x1", "", ".", "..", "a..b",
        ".a", "a..",
        "127.0.0.1..", "127.0.0.1%00", "127.0.0.1\0", "%31%32%37.0.0.1", "\u{FF11}27.0.0.1", "127\u{3002}0.0.1", "a b",
        "a/b",
        "a@b", "*.example.com", "::1", "::ffff:127.0.0.1", String(repeating: "a", count: 64),
    ])
    func invalidHostsAreRefused(text: String) {
        #expect(spelling(text) == nil)
    }

    @Test(arguments: [
        "name", "127.0.0.1", "", "::1%lo", "fe80::1%25eth0", "v1.x", "::g", ":::", "1::2::3", "::127.1", ":",
    ])
    func bracketsContainOnlyIPv6(text: String) {
        #expect(spelling(text, isBracketed: true) == nil)
    }

    /// The addresses that `getaddrinfo` parses from a text without a query.
    private func systemAddress(_ text: String) -> HostName? {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(text, nil, &hints, &list) == 0, let first = list?.pointee else { return nil }
        defer { freeaddrinfo(list) }
        switch first.ai_family {
        case AF_INET:
            return first.ai_addr.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                .address(withUnsafeBytes(of: address.pointee.sin_addr) { Array($0) })
            }
        case AF_INET6:
            return first.ai_addr.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                let bytes = withUnsafeBytes(of: address.pointee.sin6_addr) { Array($0) }
                let isMapped = bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
                return .address(isMapped ? Array(bytes.suffix(4)) : bytes)
            }
        default: return nil
        }
    }

    @Test func addressesOfGetaddrinfoAreNeverNames() {
        let seed = RandomSeed.next()
        var random = SplitMix(seed: seed)
        let pieces = [
            "0", "1", "7", "127", "255", "256", "0x", "0x7f", "0X7F", "0177", "2130706433", "4294967295", ".", ".", ".",
            ":",
            "::", "ffff", "a", "f", "%lo", "127.0.0.1", "::ffff:",
        ]
        var addresses = 0
        for _ in 0..<50_000 {
            let text = (0..<Int.random(in: 1...8, using: &random)).map { _ in pieces.randomElement(using: &random) ?? ""
            }
            .joined()
            guard let system = systemAddress(text) else { continue }
            addresses += 1
            let ours = HostName(text)
            #expect(ours == nil || ours == system, "\(text), seed \(seed)")
        }
        #expect(addresses > 1_000)
    }

    /// Policies parse hosts with ``HostName``, connections with ``HostSpelling``.
    @Test func bothParsersAcceptTheSameHosts() {
        let seed = RandomSeed.next()
        var random = SplitMix(seed: seed)
        let alphabet = Array("0179aAfFxX.:-_%[]@ \0é")
        for _ in 0..<50_000 {
            let text = String(
                (0..<Int.random(in: 0...10, using: &random)).map { _ in
                    alphabet.randomElement(using: &random) ?? "."
                })
            let spellings = [false, true].compactMap { spelling(text, isBracketed: $0) }
            #expect(spellings.isEmpty == (HostName(text) == nil), "\(text), seed \(seed)")
            #expect(spellings.count < 2)
            if case .address(let form) = spellings.first {
                #expect(HostName(form) == HostName(text) && HostName(form)?.text == form, "\(text), seed \(seed)")
            }
        }
    }
}
