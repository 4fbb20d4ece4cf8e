/// Which hosts a rule is for.
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
/// Names are compared without regard to case or a dot at their end. Names beyond ASCII are given as A-labels (RFC 5890).
/// IPv4-mapped addresses, `::ffff:192.0.2.1`, are the IPv4 address, in patterns and in hosts. What ends in a number and is
/// not an address in its usual form, such as `127.1` or `0x7f000001`, is no host and matches nothing; such a URL is not
/// requested.
///
/// A pattern is for the host that stands in the URL. A pattern of addresses is not for a name, whatever addresses the name
/// resolves to: a certificate is for the host, and a resolver is not to be trusted with the choice of a rule.
///
/// Of the patterns that are for a host, the most specific comes first: an exact host; a longer prefix of addresses before
/// a shorter one; wildcards with more labels before those with fewer, `*.` before `**.`; `@single-label`; `@private`.
public struct HostPattern: Hashable, Sendable, CustomStringConvertible {
    enum Form: Hashable, Sendable {
        case exact(HostName)
        /// Of names with one label more than this one.
        case oneLabel(String)
        /// Of this name and all below it.
        case anyDepth(String)
        case range(AddressRange)
        case singleLabel
        case privateUse
    }

    let form: Form
    /// The pattern as text, in the one form in which it is written.
    public let description: String

    /// Reads a pattern.
    ///
    /// Fails with ``SecurityError/Code/invalidPattern``.
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
            String(written) == parts[1],
            let range = AddressRange(base, prefixLength: prefixLength(written, of: base, writtenAs: parts[0]))
        else { return nil }
        return range.isSingle ? .exact(.address(base)) : .range(range)
    }

    /// The length of a prefix of the address as it is compared: of one that is written as IPv4-mapped, without the 96 bits
    /// that all such addresses share.
    private static func prefixLength(_ length: Int, of base: [UInt8], writtenAs text: Substring) -> Int {
        base.count == 4 && text.utf8.contains(UInt8(ascii: ":")) ? length - 96 : length
    }

    /// Whether the pattern is for this host.
    public func matches(_ host: String) -> Bool {
        HostName(host).map(matches) ?? false
    }

    func matches(_ host: HostName) -> Bool {
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

    /// Ranks patterns that match the same host.
    var specificity: (Int, Int) {
        switch form {
        case .exact: (4, 0)
        case .range(let range): (3, range.prefixLength)
        case .oneLabel(let base): (2, HostName.labels(base) * 2 + 1)
        case .anyDepth(let base): (2, HostName.labels(base) * 2)
        case .singleLabel: (1, 0)
        case .privateUse: (0, 0)
        }
    }

    private static func complaint(_ text: String) -> String {
        let quoted = "\"\(text.oneLine)\" is no host pattern: "
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            return quoted + "write a name beyond ASCII as A-labels, \"xn--…\"."
        }
        if let slash = text.firstIndex(of: "/"), case .address(let bytes) = HostName(String(text[..<slash])) {
            if let length = Int(text[text.index(after: slash)...]), (0...bytes.count * 8).contains(length) {
                let base = HostName.address(AddressRange.masked(bytes, length))
                return quoted + "the addresses with this prefix are written \"\(base.text)/\(length)\"."
            }
            return quoted + "the prefix's length must be a number from 0 to \(bytes.count * 8)."
        }
        return quoted + "it must be a name, perhaps behind \"*.\" or \"**.\", an IP address, perhaps with a prefix's "
            + "length, \"@single-label\" or \"@private\"."
    }
}

extension HostPattern {
    /// Whether two patterns are for the same hosts.
    public static func == (left: HostPattern, right: HostPattern) -> Bool { left.form == right.form }

    /// Hashes what the pattern is for.
    public func hash(into hasher: inout Hasher) { hasher.combine(form) }
}

extension HostName {
    /// Names and addresses that mean nothing beyond a network of one's own.
    fileprivate var isForPrivateUse: Bool {
        switch self {
        case .name(let name):
            ["localhost", "local", "internal", "home.arpa"].contains { name == $0 || name.hasSuffix("." + $0) }
        case .address(let bytes): AddressRange.privateRanges.contains { $0.contains(bytes) }
        }
    }
}
