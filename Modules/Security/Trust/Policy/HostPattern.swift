package import LinnetMessages

/// A pattern for the hosts that a rule applies to.
///
/// | pattern | hosts |
/// |---|---|
/// | `example.com` | that one |
/// | `*.example.com` | one label more: `a.example.com` |
/// | `**.example.com` | any number of labels more, and `example.com` itself |
/// | `192.0.2.1`, `2001:db8::1` | that address, however it is written |
/// | `192.0.2.0/24`, `2001:db8::/32` | the addresses with that prefix (RFC 4632) |
/// | `@single-label` | names of one label: `localhost`, `nas` |
/// | `@private` | names below `localhost`, `local` (RFC 6762), `internal` and `home.arpa` (RFC 8375); addresses for this host, loopback, private use, links and shared networks (RFC 6890, RFC 4193) |
///
/// Names are compared without case and trailing dots. Write names beyond ASCII as A-labels (RFC 5890). IPv4-mapped
/// addresses, `::ffff:192.0.2.1`, equal the IPv4 address, in patterns and in hosts. A host that ends in a number and is
/// not an address in its canonical form, such as `127.1` or `0x7f000001`, is invalid and matches nothing; requests to
/// such URLs fail. A connection to the unspecified address, `0.0.0.0` or `::`, reaches this machine, so a pattern that
/// matches `127.0.0.1` or `::1` also matches both of them.
///
/// A pattern is matched against the host in the URL. A pattern of addresses does not match a name, whatever the name
/// resolves to: a certificate is for the host, and a resolver must not influence the choice of a rule.
///
/// If several patterns match a host, the most specific one applies: an exact host; longer address prefixes before
/// shorter ones; wildcards with more labels before wildcards with fewer, `*.` before `**.`; `@single-label`;
/// `@private`.
public struct HostPattern: Hashable, Sendable, CustomStringConvertible {
    package enum Form: Hashable, Sendable {
        case exact(HostName)
        /// Names with one more label than this one.
        case oneLabel(String)
        /// This name and all names below it.
        case anyDepth(String)
        case range(AddressRange)
        case singleLabel
        case privateUse
    }

    package let form: Form
    /// The pattern in its canonical text form.
    public let description: String

    /// Parses a pattern.
    ///
    /// - Throws: ``SecurityError/Code/invalidPattern``.
    public init(_ text: String) throws(SecurityError) {
        guard let form = Self.form(text) else { throw SecurityError(.invalidPattern, Self.complaint(text)) }
        self.form = form
        description =
            switch form {
            case .exact(let host): host.text
            case .oneLabel(let base): "*." + base
            case .anyDepth(let base): "**." + base
            case .range(let range): "\(HostName.address(range.base).text)/\(range.prefixLength)"
            case .singleLabel: "@single-label"
            case .privateUse: "@private"
            }
    }

    private static func form(_ text: String) -> Form? {
        if text == "@single-label" { return .singleLabel }
        if text == "@private" { return .privateUse }
        if text.utf8.contains(UInt8(ascii: "/")) { return range(text) }
        if text.hasPrefix("**.") { return base(text.dropFirst(3)).map { .anyDepth($0) } }
        if text.hasPrefix("*.") { return base(text.dropFirst(2)).map { .oneLabel($0) } }
        return HostName(text).map { .exact($0) }
    }

    private static func base(_ text: Substring) -> String? {
        if case .name(let name) = HostName(String(text)) { name } else { nil }
    }

    private static func range(_ text: String) -> Form? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, case .address(let base) = HostName(String(parts[0])), let written = Int(parts[1]),
            String(written) == parts[1], (0...128).contains(written),
            let range = AddressRange(base, prefixLength: prefixLength(written, of: base, writtenAs: parts[0]))
        else { return nil }
        return range.isSingle ? .exact(.address(base)) : .range(range)
    }

    /// The prefix length of the address as it is compared. For addresses written in IPv4-mapped form, the 96 common
    /// bits are subtracted.
    private static func prefixLength(_ length: Int, of base: [UInt8], writtenAs text: Substring) -> Int {
        base.count == 4 && text.utf8.contains(UInt8(ascii: ":")) ? length - 96 : length
    }

    /// Whether the pattern matches a host.
    public func matches(_ host: String) -> Bool {
        HostName(host).map(matches) ?? false
    }

    func matches(_ host: HostName) -> Bool {
        matchesItself(host) || host.isUnspecified && HostName.loopback.contains(where: matchesItself)
    }

    private func matchesItself(_ host: HostName) -> Bool {
        switch (form, host) {
        case (.exact(let wanted), _): host == wanted
        case (.oneLabel(let base), .name(let name)):
            name.hasSuffix("." + base) && HostName.labels(name) == HostName.labels(base) + 1
        case (.anyDepth(let base), .name(let name)): name == base || name.hasSuffix("." + base)
        case (.range(let range), .address(let address)): range.contains(address)
        case (.singleLabel, .name(let name)): HostName.labels(name) == 1
        case (.privateUse, _): host.isForPrivateUse
        case (.oneLabel, .address), (.anyDepth, .address), (.range, .name), (.singleLabel, .address): false
        }
    }

    /// Orders patterns that match the same host. A pattern that names the unspecified address is preferred there to one
    /// for loopback.
    var specificity: (Int, Int) {
        switch form {
        case .exact(let host): (4, host.isUnspecified ? 1 : 0)
        case .range(let range): (3, 2 * range.prefixLength + (HostName.address(range.base).isUnspecified ? 1 : 0))
        case .oneLabel(let base): (2, HostName.labels(base) * 2 + 1)
        case .anyDepth(let base): (2, HostName.labels(base) * 2)
        case .singleLabel: (1, 0)
        case .privateUse: (0, 0)
        }
    }

    private static func complaint(_ text: String) -> String {
        let quoted = "\"\(text.oneLine)\" is not a host pattern: "
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            return quoted + "write names beyond ASCII as A-labels (\"xn--…\")."
        }
        if let slash = text.firstIndex(of: "/"), case .address(let bytes) = HostName(String(text[..<slash])) {
            if let length = Int(text[text.index(after: slash)...]), (0...bytes.count * 8).contains(length) {
                let base = HostName.address(AddressRange.masked(bytes, length))
                return quoted + "write the addresses with this prefix as \"\(base.text)/\(length)\"."
            }
            return quoted + "the prefix length must be a number from 0 to \(bytes.count * 8)."
        }
        return quoted
            + "it must be a name, optionally after \"*.\" or \"**.\", an IP address, optionally with a prefix "
            + "length, \"@single-label\" or \"@private\"."
    }
}

extension HostPattern {
    /// Whether two patterns match the same hosts.
    public static func == (left: HostPattern, right: HostPattern) -> Bool { left.form == right.form }

    /// Hashes the matched hosts.
    public func hash(into hasher: inout Hasher) { hasher.combine(form) }
}

extension HostName {
    /// The loopback addresses (RFC 6890, 2.2) that are reached by connecting to the unspecified ones.
    fileprivate static let loopback: [HostName] = [
        .address([127, 0, 0, 1]), .address(Array(repeating: 0, count: 15) + [1]),
    ]

    /// Whether this is `0.0.0.0` or `::`.
    fileprivate var isUnspecified: Bool {
        if case .address(let bytes) = self { bytes.allSatisfy { $0 == 0 } } else { false }
    }

    /// Names and addresses that are only meaningful within a private network.
    fileprivate var isForPrivateUse: Bool {
        switch self {
        case .name(let name):
            ["localhost", "local", "internal", "home.arpa"].contains { name == $0 || name.hasSuffix("." + $0) }
        case .address(let bytes): AddressRange.privateRanges.contains { $0.contains(bytes) }
        }
    }
}

/// A range of addresses with a common prefix (RFC 4632, 3.1; RFC 4291, 2.3).
package struct AddressRange: Hashable, Sendable {
    /// Four or sixteen bytes; all bits after the prefix are zero.
    package let base: [UInt8]
    /// The number of fixed bits.
    package let prefixLength: Int

    /// Nil if the prefix is longer than the address, or bits after it are set.
    package init?(_ base: [UInt8], prefixLength: Int) {
        guard (0...base.count * 8).contains(prefixLength), Self.masked(base, prefixLength) == base else { return nil }
        self.base = base
        self.prefixLength = prefixLength
    }

    /// Whether the range is a single address.
    var isSingle: Bool { prefixLength == base.count * 8 }

    package func contains(_ address: [UInt8]) -> Bool {
        address.count == base.count && Self.masked(address, prefixLength) == base
    }

    package func contains(_ other: AddressRange) -> Bool {
        other.prefixLength >= prefixLength && contains(other.base)
    }

    /// The two halves of the range; nil for a single address.
    package var halves: (AddressRange, AddressRange)? {
        var upper = base
        guard !isSingle else { return nil }
        upper[prefixLength / 8] |= 0x80 >> UInt8(prefixLength % 8)
        guard let low = AddressRange(base, prefixLength: prefixLength + 1),
            let high = AddressRange(upper, prefixLength: prefixLength + 1)
        else { return nil }
        return (low, high)
    }

    /// The address with the bits after a prefix cleared.
    static func masked(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let bits = min(max(length - index * 8, 0), 8)
            return byte & UInt8(truncatingIfNeeded: 0xFF << (8 - bits))
        }
    }

    /// Ranges that are not routed on the internet: this host (which systems treat as loopback), loopback, private use,
    /// link-local, shared (RFC 6890, 2.2; RFC 4193).
    static let privateRanges: [AddressRange] = [
        AddressRange([0, 0, 0, 0], prefixLength: 8), AddressRange(zeros(16), prefixLength: 128),
        AddressRange([10, 0, 0, 0], prefixLength: 8), AddressRange([172, 16, 0, 0], prefixLength: 12),
        AddressRange([192, 168, 0, 0], prefixLength: 16), AddressRange([127, 0, 0, 0], prefixLength: 8),
        AddressRange([169, 254, 0, 0], prefixLength: 16), AddressRange([100, 64, 0, 0], prefixLength: 10),
        AddressRange([0xFC] + zeros(15), prefixLength: 7), AddressRange([0xFE, 0x80] + zeros(14), prefixLength: 10),
        AddressRange(zeros(15) + [1], prefixLength: 128),
    ].compactMap { $0 }

    private static func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }
}
