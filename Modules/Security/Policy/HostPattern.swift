#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Which hosts a rule is for.
///
/// | pattern | hosts |
/// |---|---|
/// | `example.com` | that one |
/// | `*.example.com` | one label more: `a.example.com` |
/// | `**.example.com` | any number of labels more, and `example.com` itself |
/// | `192.0.2.1`, `2001:db8::1` | that address |
///
/// Names are compared without regard to case or a dot at their end. Names beyond ASCII are given as A-labels (RFC 5890).
public struct HostPattern: Hashable, Sendable, CustomStringConvertible {
    enum Form: Hashable, Sendable {
        case exact
        case oneLabel
        case anyDepth
        case address([UInt8])
    }

    let form: Form
    /// What stands behind the wildcard, in lower case.
    let base: String

    /// Reads a pattern.
    ///
    /// Fails with ``SecurityError/Code/invalidPattern``.
    public init(_ text: String) throws(SecurityError) {
        var name = Self.normalized(text)
        if let address = Self.address(name) {
            form = .address(address)
            base = Self.text(address)
            return
        }
        if name.hasPrefix("**.") {
            form = .anyDepth
            name.removeFirst(3)
        } else if name.hasPrefix("*.") {
            form = .oneLabel
            name.removeFirst(2)
        } else {
            form = .exact
        }
        guard Self.isName(name) else {
            throw SecurityError(
                .invalidPattern,
                "\"\(text)\" is no host pattern: a name in ASCII, perhaps behind \"*.\" or \"**.\", or an IP address.")
        }
        base = name
    }

    /// Whether the pattern is for this host.
    public func matches(_ host: String) -> Bool {
        let name = Self.normalized(host)
        if case .address(let address) = form { return Self.address(name) == address }
        guard Self.address(name) == nil else { return false }
        switch form {
        case .exact: return name == base
        case .oneLabel: return name.hasSuffix("." + base) && Self.labels(name) == Self.labels(base) + 1
        case .anyDepth: return name == base || name.hasSuffix("." + base)
        case .address: return false
        }
    }

    /// Ranks patterns that match the same host: exact ones first, then by the length of what is fixed.
    var specificity: (Int, Int) {
        switch form {
        case .exact, .address: (2, 0)
        case .oneLabel: (1, Self.labels(base) * 2 + 1)
        case .anyDepth: (1, Self.labels(base) * 2)
        }
    }

    /// The pattern as text.
    public var description: String {
        switch form {
        case .exact, .address: base
        case .oneLabel: "*." + base
        case .anyDepth: "**." + base
        }
    }

    /// In lower case, without a dot at its end.
    static func normalized(_ host: String) -> String {
        let lower = host.lowercased()
        return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
    }

    private static func labels(_ name: String) -> Int {
        name.utf8.count { $0 == UInt8(ascii: ".") } + 1
    }

    /// Labels of letters, digits, hyphens and underscores, each of 1 to 63 bytes (RFC 1123, 2.1).
    static func isName(_ name: String) -> Bool {
        guard (1...253).contains(name.utf8.count) else { return false }
        return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { byte in
                    (97...122).contains(byte) || (48...57).contains(byte) || byte == UInt8(ascii: "-")
                        || byte == UInt8(ascii: "_")
                }
        }
    }

    static func address(_ text: String) -> [UInt8]? {
        // C would stop at the first zero byte.
        guard !text.utf8.contains(0) else { return nil }
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 { return withUnsafeBytes(of: v4) { Array($0) } }
        var v6 = in6_addr()
        if inet_pton(AF_INET6, text, &v6) == 1 { return withUnsafeBytes(of: v6) { Array($0) } }
        return nil
    }

    /// The one text of an address (RFC 5952).
    private static func text(_ address: [UInt8]) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            let family = address.count == 4 ? AF_INET : AF_INET6
            let text = inet_ntop(family, address, buffer.baseAddress, socklen_t(buffer.count))
            return text.map { String(cString: $0) } ?? ""
        }
    }
}
