internal import LinnetMessages

extension ChainRule {
    static let names: [ChainRule] = [
        .missingSubjectAlternativeName, .emptySubjectAlternativeName, .subjectAlternativeNameCriticality,
        .criticalSubjectAlternativeName, .wildcardPlacement, .wildcardOfTopLevel, .dnsNameUnderscore, .reservedLabel,
        .dnsNameSyntax, .addressSyntax,
        .commonNameNotInNames,
    ]

    /// A server's certificate has a subject alternative name for a host or an address.
    public static let missingSubjectAlternativeName = ChainRule(
        "missingSubjectAlternativeName", "Baseline Requirements, 7.1.2.7.12; RFC 9525, 2",
        "A server's certificate has a subject alternative name that is a host or an address.", at: .leaf,
        scope: .webAuthority
    ) { link in
        guard link.facts.first(.subjectAlternativeName) != nil else { return "has no subject alternative name" }
        // ``emptySubjectAlternativeName`` covers an empty list.
        guard let names = link.facts.known.alternativeNames, !names.isEmpty else { return nil }
        return names.contains(where: \.isForHost) ? nil : "names no host and no address"
    }

    /// A list of alternative names is not empty.
    public static let emptySubjectAlternativeName = ChainRule(
        "emptySubjectAlternativeName", "RFC 5280, 4.2.1.6", "A list of alternative names has one at least.",
        at: .belowAnchor
    ) { $0.facts.known.alternativeNames?.isEmpty == true ? "has an empty list of alternative names" : nil }

    /// A certificate with an empty subject has critical alternative names.
    public static let subjectAlternativeNameCriticality = ChainRule(
        "subjectAlternativeNameCriticality", "RFC 5280, 4.1.2.6 and 4.2.1.6",
        "A certificate without a subject has alternative names, which are critical.", at: .leaf
    ) { link in
        guard link.facts.subject.count <= 2 else { return nil }
        guard let names = link.facts.first(.subjectAlternativeName) else {
            return "has neither a subject nor other names"
        }
        return names.isCritical ? nil : "has no subject, and alternative names that are not critical"
    }

    /// Alternative names are not critical if the subject is not empty.
    public static let criticalSubjectAlternativeName = ChainRule(
        "criticalSubjectAlternativeName", "Baseline Requirements, 7.1.2.7.12; RFC 5280, 4.2.1.6 (SHOULD)",
        "Beside a subject, alternative names are not critical.", at: .leaf, scope: .webAuthority
    ) { link in
        guard link.facts.subject.count > 2, let names = link.facts.first(.subjectAlternativeName) else { return nil }
        return names.isCritical ? "has critical alternative names beside a subject" : nil
    }

    /// A wildcard is a whole label, the left-most one, and the only one.
    public static let wildcardPlacement = hosts(
        "wildcardPlacement", "Baseline Requirements, 7.1.2.7.12; RFC 9525, 6.3",
        "A wildcard is a whole label, the left-most one, and the only one.", scope: .webAuthority
    ) { name in
        let rest = name.isWildcard ? name.text.utf8.dropFirst(2) : name.text.utf8[...]
        return rest.contains(UInt8(ascii: "*")) ? "with a wildcard where none may be" : nil
    }

    /// A wildcard does not cover all names below a top-level domain.
    public static let wildcardOfTopLevel = hosts(
        "wildcardOfTopLevel", "Baseline Requirements, 3.2.2.6",
        "A wildcard does not stand for all hosts of a top-level domain.", scope: .webAuthority
    ) { name in
        name.isWildcard && name.labels.count == 1 ? "which is all hosts of a top-level domain" : nil
    }

    /// A host name has no underscores.
    public static let dnsNameUnderscore = hosts(
        "dnsNameUnderscore", "RFC 5280, 4.2.1.6; RFC 1034, 3.5; Baseline Requirements, 7.1.2.7.12",
        "A host's name has no underscores."
    ) { $0.text.utf8.contains(UInt8(ascii: "_")) ? "with an underscore" : nil }

    /// A host name consists of labels of letters, digits and hyphens, and is not an address.
    public static let dnsNameSyntax = hosts(
        "dnsNameSyntax", "RFC 5280, 4.2.1.6; RFC 1034, 3.5",
        "A host's name is of labels of 1 to 63 letters, digits and hyphens, and has no dot at its end."
    ) { $0.isPreferredSyntax ? nil : "which is no host's name" }

    /// A reserved label is an A-label.
    public static let reservedLabel = hosts(
        "reservedLabel", "Baseline Requirements, 7.1.2.7.12; RFC 5890, 2.3.1",
        "A label with hyphens in its third and fourth places is an A-label, \"xn--\" and Punycode.",
        scope: .webAuthority
    ) { $0.labels.contains { HostLabel.isReserved($0) } ? "with a reserved label" : nil }

    /// An address has four or sixteen octets.
    public static let addressSyntax = ChainRule(
        "addressSyntax", "RFC 5280, 4.2.1.6", "An IP address is of four octets or sixteen.", at: .leaf
    ) { link in
        for case .address(let bytes) in link.facts.known.alternativeNames ?? [] where ![4, 16].contains(bytes.count) {
            return "is for an address of \(bytes.count) octets"
        }
        return nil
    }

    /// A common name is also one of the alternative names.
    public static let commonNameNotInNames = ChainRule(
        "commonNameNotInNames", "Baseline Requirements, 7.1.4.3",
        "A common name is one of the alternative names.", at: .leaf, scope: .webAuthority
    ) { link in
        let names = link.facts.known.alternativeNames ?? []
        let other = link.facts.commonNames.first { common in
            !names.contains { name in
                switch name {
                case .host(let bytes): Array(common.utf8) == bytes
                case .address(let bytes): [4, 16].contains(bytes.count) && common == HostName.address(bytes).text
                case .mail, .uri, .directory, .other: false
                }
            }
        }
        return other.map { "has the common name \"\($0.oneLine)\", which is none of its alternative names" }
    }

    /// Makes a rule that checks each host of a server's certificate.
    private static func hosts(
        _ name: String, _ citation: String, _ requirement: String, scope: Scope = .anyAuthority,
        check: @escaping @Sendable (CertifiedHost) -> String?
    ) -> ChainRule {
        ChainRule(name, citation, requirement, at: .leaf, scope: scope) { link in
            for case .host(let bytes) in link.facts.known.alternativeNames ?? [] {
                let host = CertifiedHost(bytes)
                if let finding = check(host) { return "is for \"\(host.text.oneLine)\", \(finding)" }
            }
            return nil
        }
    }
}

/// A dNSName of a certificate.
struct CertifiedHost {
    let text: String
    /// The labels without the wildcard.
    let labels: [Substring]

    init(_ bytes: [UInt8]) {
        text = String(decoding: bytes, as: UTF8.self)
        let rest = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        labels = rest.split(separator: ".", omittingEmptySubsequences: false)
    }

    var isWildcard: Bool { text.hasPrefix("*.") }

    /// Whether the name has the preferred syntax and is nothing that OpenSSL would read as an address.
    var isPreferredSyntax: Bool {
        guard text.utf8.count <= 253, let last = labels.last else { return false }
        guard !last.utf8.allSatisfy({ (48...57).contains($0) }) else { return false }
        return labels.allSatisfy(HostLabel.isPreferredSyntax)
    }
}

/// Checks the labels of a host name.
enum HostLabel {
    /// Letters, digits and inner hyphens. Underscores and wildcards are left to other rules.
    static func isPreferredSyntax(_ label: Substring) -> Bool {
        let hyphen = UInt8(ascii: "-")
        guard (1...63).contains(label.utf8.count), label.utf8.first != hyphen, label.utf8.last != hyphen else {
            return false
        }
        return label.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122, hyphen, UInt8(ascii: "_"), UInt8(ascii: "*"): true
            default: false
            }
        }
    }

    /// Hyphens in the third and fourth positions, and not an A-label.
    static func isReserved(_ label: Substring) -> Bool {
        guard label.dropFirst(2).hasPrefix("--"), !label.contains("*") else { return false }
        return !(label.lowercased().hasPrefix("xn--") && isPunycode(label.dropFirst(4)))
    }

    /// Whether the text is valid Punycode (RFC 3492, 6.2).
    private static func isPunycode(_ text: Substring) -> Bool {
        let (base, skew, damp) = (36, 38, 700)
        var (n, i, bias) = (128, 0, 72)
        // Without basic code points there is no delimiter, and a hyphen is no digit.
        let basic = text.dropFirst().lastIndex(of: "-")
        var count = basic.map { text.utf8.distance(from: text.startIndex, to: $0) } ?? 0
        var rest = (basic.map { text[text.index(after: $0)...] } ?? text).utf8
        guard !rest.isEmpty else { return false }
        while !rest.isEmpty {
            let start = i
            var weight = 1
            var k = base
            while true {
                guard let digit = rest.popFirst().flatMap(digit) else { return false }
                i += digit * weight
                // Far above any code point, and far enough below the largest Int that no product overflows.
                guard i < 1 << 40 else { return false }
                let threshold = min(max(k - bias, 1), 26)
                if digit < threshold { break }
                weight *= base - threshold
                guard weight < 1 << 40 else { return false }
                k += base
            }
            count += 1
            var delta = start == 0 ? (i - start) / damp : (i - start) / 2
            delta += delta / count
            var steps = 0
            while delta > (base - 1) * 26 / 2 {
                delta /= base - 1
                steps += base
            }
            bias = steps + base * delta / (delta + skew)
            n += i / count
            i %= count
            guard n <= 0x10FFFF, !(0xD800...0xDFFF).contains(n) else { return false }
            i += 1
        }
        return true
    }

    private static func digit(_ byte: UInt8) -> Int? {
        switch byte {
        case 48...57: Int(byte) - 22
        case 65...90: Int(byte) - 65
        case 97...122: Int(byte) - 97
        default: nil
        }
    }
}
