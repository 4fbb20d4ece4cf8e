extension ChainRule {
    static let names: [ChainRule] = [
        .missingSubjectAlternativeName, .emptySubjectAlternativeName, .subjectAlternativeNameCriticality,
        .criticalSubjectAlternativeName, .wildcardPlacement, .wildcardOfTopLevel, .dnsNameUnderscore, .reservedLabel,
        .dnsNameSyntax, .addressSyntax,
        .commonNameNotInNames,
    ]

    /// A server's certificate names hosts where they belong.
    public static let missingSubjectAlternativeName = ChainRule(
        "missingSubjectAlternativeName", "Baseline Requirements, 7.1.2.7.12; RFC 9525, 2",
        "A server's certificate has a subject alternative name that is a host or an address.", .leaf,
        scope: .webAuthority
    ) { link in
        guard link.facts.first(.subjectAlternativeName) != nil else { return "has no subject alternative name" }
        // An empty list is the next rule's.
        guard let names = link.facts.known.alternativeNames, !names.isEmpty else { return nil }
        return names.contains(where: \.isForHost) ? nil : "names no host and no address"
    }

    /// A list of alternative names has one at least.
    public static let emptySubjectAlternativeName = ChainRule(
        "emptySubjectAlternativeName", "RFC 5280, 4.2.1.6", "A list of alternative names has one at least.",
        .belowAnchor
    ) { $0.facts.known.alternativeNames?.isEmpty == true ? "has an empty list of alternative names" : nil }

    /// Where the subject is empty there are alternative names, and they are critical.
    public static let subjectAlternativeNameCriticality = ChainRule(
        "subjectAlternativeNameCriticality", "RFC 5280, 4.1.2.6 and 4.2.1.6",
        "A certificate without a subject has alternative names, which are critical.", .leaf
    ) { link in
        guard link.facts.subject.count <= 2 else { return nil }
        guard let names = link.facts.first(.subjectAlternativeName) else {
            return "has neither a subject nor other names"
        }
        return names.isCritical ? nil : "has no subject, and alternative names that are not critical"
    }

    /// Beside a subject, alternative names are not critical.
    public static let criticalSubjectAlternativeName = ChainRule(
        "criticalSubjectAlternativeName", "Baseline Requirements, 7.1.2.7.12; RFC 5280, 4.2.1.6 (SHOULD)",
        "Beside a subject, alternative names are not critical.", .leaf, scope: .webAuthority
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

    /// A wildcard does not stand for all that is under a top-level domain.
    public static let wildcardOfTopLevel = hosts(
        "wildcardOfTopLevel", "Baseline Requirements, 3.2.2.6",
        "A wildcard does not stand for all hosts of a top-level domain.", scope: .webAuthority
    ) { name in
        name.isWildcard && name.labels.count == 1 ? "which is all hosts of a top-level domain" : nil
    }

    /// A host's name has no underscores.
    public static let dnsNameUnderscore = hosts(
        "dnsNameUnderscore", "RFC 5280, 4.2.1.6; RFC 1034, 3.5; Baseline Requirements, 7.1.2.7.12",
        "A host's name has no underscores."
    ) { $0.text.utf8.contains(UInt8(ascii: "_")) ? "with an underscore" : nil }

    /// A host's name is one: labels of letters, digits and hyphens, and no address.
    public static let dnsNameSyntax = hosts(
        "dnsNameSyntax", "RFC 5280, 4.2.1.6; RFC 1034, 3.5",
        "A host's name is of labels of 1 to 63 letters, digits and hyphens, and has no dot at its end."
    ) { $0.isPreferredSyntax ? nil : "which is no host's name" }

    /// A label that is reserved is an A-label.
    public static let reservedLabel = hosts(
        "reservedLabel", "Baseline Requirements, 7.1.2.7.12; RFC 5890, 2.3.1",
        "A label with hyphens in its third and fourth places is an A-label, \"xn--\" and Punycode.",
        scope: .webAuthority
    ) { $0.labels.contains { HostLabel.isReserved($0) } ? "with a reserved label" : nil }

    /// An address is of four octets or sixteen.
    public static let addressSyntax = ChainRule(
        "addressSyntax", "RFC 5280, 4.2.1.6", "An IP address is of four octets or sixteen.", .leaf
    ) { link in
        for case .address(let bytes) in link.facts.known.alternativeNames ?? [] where ![4, 16].contains(bytes.count) {
            return "is for an address of \(bytes.count) octets"
        }
        return nil
    }

    /// A common name, which nobody reads, does not say another thing than the names that are read.
    public static let commonNameNotInNames = ChainRule(
        "commonNameNotInNames", "Baseline Requirements, 7.1.4.3",
        "A common name is one of the alternative names.", .leaf, scope: .webAuthority
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

    /// A rule for each host of a server's certificate.
    private static func hosts(
        _ name: String, _ citation: String, _ requirement: String, scope: Scope = .anyAuthority,
        check: @escaping @Sendable (CertifiedHost) -> String?
    ) -> ChainRule {
        ChainRule(name, citation, requirement, .leaf, scope: scope) { link in
            for case .host(let bytes) in link.facts.known.alternativeNames ?? [] {
                let host = CertifiedHost(bytes)
                if let finding = check(host) { return "is for \"\(host.text.oneLine)\", \(finding)" }
            }
            return nil
        }
    }
}
