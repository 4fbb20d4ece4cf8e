internal import LinnetMessages

/// The origins that are connected to directly, by the rules of curl's `no_proxy`.
///
/// | entry | origins |
/// |---|---|
/// | `*`, as the whole list | all |
/// | `example.com`, `.example.com` | that name and all names below it |
/// | `192.0.2.1`, `2001:db8::1`, `[2001:db8::1]` | that address |
/// | `192.0.2.0/24`, `2001:db8::/32` | the addresses with that prefix |
/// | any of the above with `:8080`; IPv6 in brackets | the same, at that port only, as Go has it |
///
/// Names are compared without case and trailing dots. An IPv6 address is compared as text, so it matches only in the
/// notation of RFC 5952, and an IPv4-mapped one (`::ffff:192.0.2.1`) matches nothing. A prefix of no bits covers the
/// address alone. An entry for addresses never matches a name, whatever that resolves to. An entry that can match
/// nothing is ignored: the intended hosts then use the proxy.
package struct ProxyExceptions: Hashable, Sendable {
    private enum Hosts: Hashable {
        /// A name and those below it, in lower case.
        case name(String)
        case addresses(base: [UInt8], prefixLength: Int)
    }

    private struct Entry: Hashable {
        let hosts: Hosts
        /// Nil for all.
        let port: Int?
    }

    /// The entries in their original spelling.
    package let texts: [String]
    private let entries: [Entry]
    private let hasAll: Bool

    init(_ texts: [String]) {
        self.texts = texts
        hasAll = texts == ["*"]
        entries = texts.compactMap(Self.entry)
    }

    /// Entries separated by commas or blanks. An asterisk beside anything else, also a blank, matches nothing.
    init(list: String) {
        let texts = list.utf8.split { $0 == UInt8(ascii: ",") || ASCII.isBlank($0) }.map { String(Substring($0)) }
        self.init(list == "*" ? texts : texts.filter { $0 != "*" })
    }

    /// Whether an origin is connected to directly.
    func contain(_ origin: Origin) -> Bool {
        if hasAll { return true }
        guard !entries.isEmpty, let host = HostName(origin.host) else { return false }
        return entries.contains { ($0.port == nil || $0.port == origin.port) && Self.matches($0.hosts, host) }
    }

    private static func matches(_ hosts: Hosts, _ host: HostName) -> Bool {
        switch (hosts, host) {
        case (.name(let base), .name(let name)):
            name == base || (name.hasSuffix(base) && name.utf8.dropLast(base.utf8.count).last == UInt8(ascii: "."))
        case (.addresses(let base, let length), .address(let address)):
            base.count == address.count && hasPrefix(address, base, length)
        case (.name, .address), (.addresses, .name): false
        }
    }

    private static func hasPrefix(_ address: [UInt8], _ base: [UInt8], _ length: Int) -> Bool {
        let (bytes, bits) = (length / 8, length % 8)
        guard address[..<bytes] == base[..<bytes] else { return false }
        return bits == 0 || (address[bytes] ^ base[bytes]) >> UInt8(8 - bits) == 0
    }

    // MARK: Parsing

    private static func entry(_ text: String) -> Entry? {
        let (host, port) = parts(Substring(text))
        if case .some(nil) = port { return nil }
        return hosts(host).map { Entry(hosts: $0, port: port ?? nil) }
    }

    /// The host without brackets, and its port: nil without one, `.some(nil)` for an invalid one.
    private static func parts(_ text: Substring) -> (host: Substring, port: Int??) {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            let (host, rest) = (text[text.index(after: text.startIndex)..<end], text[text.index(after: end)...])
            if rest.isEmpty { return (host, nil) }
            return (host, rest.first == ":" ? .some(port(rest.dropFirst())) : .some(nil))
        }
        let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
        guard colons == 1, let colon = text.firstIndex(of: ":") else { return (text, nil) }
        return (text[..<colon], .some(port(text[text.index(after: colon)...])))
    }

    private static func port(_ digits: Substring) -> Int? {
        guard digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let port = Int(digits), 1...65535 ~= port else {
            return nil
        }
        return port
    }

    private static func hosts(_ text: Substring) -> Hosts? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first else { return nil }
        let name = first.hasPrefix(".") ? first.dropFirst() : first
        switch HostName(String(name)) {
        case .address(let base)? where first.utf8.contains(UInt8(ascii: ":")):
            return sixteenBytes(base, of: first, prefix: parts.dropFirst().first)
        case .address(let base)? where first.utf8.last != UInt8(ascii: "."):
            return addresses(base, prefix: parts.dropFirst().first)
        case .name(let base)? where parts.count == 1: return .name(base)
        case .address?, .name?, nil: return nil
        }
    }

    /// An IPv6 address, or all addresses with a prefix.
    private static func sixteenBytes(_ base: [UInt8], of text: Substring, prefix: Substring?) -> Hosts? {
        guard base.count == 16, prefix != nil || HostName.address(base).text == text.lowercased() else { return nil }
        return addresses(base, prefix: prefix)
    }

    private static func addresses(_ base: [UInt8], prefix: Substring?) -> Hosts? {
        let whole = base.count * 8
        guard let prefix else { return .addresses(base: base, prefixLength: whole) }
        guard let length = Int(prefix), String(length) == prefix, 0...whole ~= length else { return nil }
        return .addresses(base: base, prefixLength: length == 0 ? whole : length)
    }
}
