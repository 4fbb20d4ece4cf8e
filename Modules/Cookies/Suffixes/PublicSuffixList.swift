public import FoundationEssentials
internal import LinnetMessages

/// The domains under which names are registered, such as `com` and `co.uk`.
///
/// A server must not set cookies for such a domain, and hosts under the same registrable domain are the same site. The
/// rules come from publicsuffix.org. ``system`` reads the copy that the distribution installs and updates (package
/// `publicsuffix` of Debian and Ubuntu). This module contains no copy, and downloads none.
///
/// ``lastLabel`` has no rules: it treats the last label of a name as its public suffix. A server then cannot set a
/// cookie for `com` or `localhost`, but one under `shop.co.uk` can set a cookie for `co.uk`, which all hosts there
/// receive, and `a.co.uk` and `b.co.uk` are the same site. Programs that visit untrusted servers need the list.
public struct PublicSuffixList: Sendable {
    /// The kinds of rules at a name: for the name itself, for all names directly below it, and an exception.
    struct Rules: OptionSet {
        let rawValue: UInt8
        static let name = Rules(rawValue: 1)
        static let wildcard = Rules(rawValue: 2)
        static let exception = Rules(rawValue: 4)
    }

    /// The rules by their names; nil for the system's rules, which are read at their first use.
    private let parsed: [Substring: Rules]?
    private var rules: [Substring: Rules] { parsed ?? Self.systemRules }

    /// The number of names that have rules. It is 0 for ``lastLabel``.
    public var count: Int { rules.count }

    /// Parses a list in the format of publicsuffix.org, with the rules of both its sections.
    ///
    /// Lines without a rule are ignored. Names beyond ASCII are stored as A-labels (RFC 3492).
    public init(parsing text: String) {
        parsed = Self.rules(in: text)
    }

    private init(rules: [Substring: Rules]?) { parsed = rules }

    /// Reads a list from a file; nil if it cannot be read or has no rules. The call blocks.
    public init?(contentsOf file: URL) {
        guard let data = try? Data(contentsOf: file) else { return nil }
        self.init(parsing: String(decoding: data, as: UTF8.self))
        guard count > 0 else { return nil }
    }

    /// The system's list in `/usr/share/publicsuffix`; without it, ``lastLabel``.
    ///
    /// The file is read once, at the first use of the list. ``count`` tells whether it was found.
    public static let system = PublicSuffixList(rules: nil)

    /// The list without rules: the last label of each name is a public suffix.
    public static let lastLabel = PublicSuffixList(rules: [:])

    static let systemPaths = ["public_suffix_list.dat", "effective_tld_names.dat"].map {
        "/usr/share/publicsuffix/\($0)"
    }

    private static let systemRules: [Substring: Rules] =
        systemPaths.lazy.compactMap { PublicSuffixList(contentsOf: URL(filePath: $0))?.parsed }.first ?? [:]

    /// Reads the system's list ahead of its first use, so that no lock is held meanwhile.
    func load() { _ = rules }

    /// Whether names are registered directly under a domain. False for addresses and for texts that are not hosts.
    ///
    /// - Parameter domain: A name in ASCII, in any case.
    public func isPublicSuffix(_ domain: String) -> Bool {
        guard case .name(let name) = HostName(domain) else { return false }
        return suffix(of: name).startIndex == name.startIndex
    }

    /// The public suffix of a host and one label more; nil for an address and for a public suffix.
    ///
    /// - Parameter host: A name in ASCII, in any case.
    public func registrableDomain(of host: String) -> String? {
        guard case .name(let name) = HostName(host) else { return nil }
        let suffix = suffix(of: name)
        guard suffix.startIndex > name.startIndex else { return nil }
        let dot = name.utf8.index(before: suffix.startIndex)
        let label = name.utf8[..<dot].lastIndex(of: UInt8(ascii: ".")).map { name.utf8.index(after: $0) }
        return String(name[(label ?? name.startIndex)...])
    }

    /// The public suffix of a canonical name: the exception without its first label, or the longest rule, or the last
    /// label.
    private func suffix(of name: String) -> Substring {
        var longest: Substring?
        var rest = name[...]
        while true {
            let found = rules[rest] ?? []
            let parent = rest.utf8.firstIndex(of: UInt8(ascii: ".")).map { rest[rest.utf8.index(after: $0)...] }
            if found.contains(.exception), let parent { return parent }
            let isBelowWildcard = parent.flatMap { rules[$0] }?.contains(.wildcard) ?? false
            if longest == nil, found.contains(.name) || isBelowWildcard { longest = rest }
            guard let parent else { return longest ?? rest }
            rest = parent
        }
    }
}

extension PublicSuffixList: CustomStringConvertible, CustomReflectable {
    /// The number of names that have rules.
    public var description: String { "PublicSuffixList(\(count) names)" }

    /// The number of names. A dump of the rules would have thousands of lines.
    public var customMirror: Mirror { Mirror(self, children: ["count": count]) }
}

extension PublicSuffixList {
    private static func rules(in text: String) -> [Substring: Rules] {
        var rules: [Substring: Rules] = [:]
        for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            // A rule ends at the first space.
            let rule = line.drop(while: ASCII.isBlank).prefix { !ASCII.isBlank($0) }
            guard !rule.isEmpty, !rule.starts(with: "//".utf8), let (name, kind) = nameAndKind(of: Substring(rule))
            else {
                continue
            }
            rules[name, default: []].insert(kind)
        }
        return rules
    }

    private static func nameAndKind(of rule: Substring) -> (Substring, Rules)? {
        if rule.utf8.first == UInt8(ascii: "!") { return canonical(rule.dropFirst()).map { ($0, .exception) } }
        if rule.utf8.starts(with: "*.".utf8) { return canonical(rule.dropFirst(2)).map { ($0, .wildcard) } }
        return canonical(rule).map { ($0, .name) }
    }

    /// The name in lower case with A-labels; nil if it is invalid. A wildcard is valid only as the first label, since
    /// the list uses no others.
    private static func canonical(_ name: Substring) -> Substring? {
        if name.utf8.allSatisfy({ ASCII.isAlphanumeric($0) && !(0x41...0x5A ~= $0) || $0 == 0x2D || $0 == 0x2E }) {
            return name
        }
        let labels = name.lowercased().split(separator: ".", omittingEmptySubsequences: false).map(Punycode.label)
        guard !labels.contains(nil) else { return nil }
        let text = labels.compactMap { $0 }.joined(separator: ".")
        guard case .name(let canonical) = HostName(text) else { return nil }
        return canonical[...]
    }
}
