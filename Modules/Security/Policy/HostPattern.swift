/// Which hosts a rule is for.
///
/// | pattern | hosts |
/// |---|---|
/// | `example.com` | that one |
/// | `*.example.com` | one label more: `a.example.com` |
/// | `**.example.com` | any number of labels more, and `example.com` itself |
/// | `192.0.2.1`, `2001:db8::1` | that address, however it is written |
///
/// Names are compared without regard to case or a dot at their end. Names beyond ASCII are given as A-labels (RFC 5890).
public struct HostPattern: Hashable, Sendable, CustomStringConvertible {
    enum Form: Hashable, Sendable {
        case exact
        case oneLabel
        case anyDepth
    }

    let form: Form
    /// The host, or what stands behind the wildcard.
    let host: HostName
    /// The pattern as text.
    public let description: String

    /// Reads a pattern.
    ///
    /// Fails with ``SecurityError/Code/invalidPattern``.
    public init(_ text: String) throws(SecurityError) {
        let (form, prefix): (Form, String) =
            if text.hasPrefix("**.") { (.anyDepth, "**.") } else if text.hasPrefix("*.") { (.oneLabel, "*.") } else {
                (.exact, "")
            }
        let rest = String(text.dropFirst(prefix.count))
        switch HostName(rest) {
        case .name(let name) where form != .exact || !HostName.endsInNumber(name): host = .name(name)
        case .address(let bytes) where form == .exact: host = .address(bytes)
        case .name, .address, nil: throw SecurityError(.invalidPattern, Self.complaint(text))
        }
        description = prefix + host.text
        self.form = form
    }

    /// Whether the pattern is for this host.
    public func matches(_ host: String) -> Bool {
        HostName(host).map(matches) ?? false
    }

    func matches(_ other: HostName) -> Bool {
        guard case (.name(let base), .name(let name)) = (host, other) else { return host == other }
        return switch form {
        case .exact: name == base
        case .oneLabel: name.hasSuffix("." + base) && HostName.labels(name) == HostName.labels(base) + 1
        case .anyDepth: name == base || name.hasSuffix("." + base)
        }
    }

    /// Ranks patterns that match the same host: exact ones first, then those with more fixed labels, then `*.` before `**.`.
    var specificity: (Int, Int) {
        guard form != .exact, case .name(let base) = host else { return (1, 0) }
        return (0, HostName.labels(base) * 2 + (form == .oneLabel ? 1 : 0))
    }

    private static func complaint(_ text: String) -> String {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            return "\"\(text.oneLine)\" is no host pattern: write a name beyond ASCII as A-labels, \"xn--…\"."
        }
        return "\"\(text.oneLine)\" is no host pattern: "
            + "it must be a name, perhaps behind \"*.\" or \"**.\", or an IP address."
    }
}

extension HostPattern {
    /// Whether two patterns are for the same hosts.
    public static func == (left: HostPattern, right: HostPattern) -> Bool {
        left.form == right.form && left.host == right.host
    }

    /// Hashes what the pattern is for.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(form)
        hasher.combine(host)
    }
}
