extension ChainRule {
    static let structure: [ChainRule] = [
        .nonDER, .certificateVersion, .uniqueIdentifier, .serialNumber, .emptyIssuer, .emptySubject, .validityEncoding,
        .leafLifetime,
    ]

    /// A certificate is encoded in DER.
    public static let nonDER = ChainRule(
        "nonDER", "RFC 5280, 4.1", "A certificate is encoded in DER.", .belowAnchor
    ) { $0.facts.isStrictDER ? nil : "has parts that are not DER" }

    /// A certificate is of version 3, without which it has no extensions.
    public static let certificateVersion = ChainRule(
        "certificateVersion", "RFC 5280, 4.1.2.1; Baseline Requirements, 7.1.1", "A certificate is of version 3.",
        .belowAnchor
    ) { $0.facts.version == 3 ? nil : "is of version \($0.facts.version)" }

    /// A certificate has no unique identifiers.
    public static let uniqueIdentifier = ChainRule(
        "uniqueIdentifier", "RFC 5280, 4.1.2.8; Baseline Requirements, 7.1.2.7",
        "A certificate has no unique identifiers.", .belowAnchor
    ) { $0.facts.hasUniqueIdentifier ? "has a unique identifier" : nil }

    /// A serial number is positive, and of 20 octets at most.
    public static let serialNumber = ChainRule(
        "serialNumber", "RFC 5280, 4.1.2.2; Baseline Requirements, 7.1.2.7",
        "A serial number is positive, and of 20 octets at most.", .belowAnchor
    ) { link in
        let serial = link.facts.serialNumber
        guard let first = serial.first, first < 0x80 else { return "has a negative serial number" }
        if serial.allSatisfy({ $0 == 0 }) { return "has 0 as its serial number" }
        return serial.count > 20 ? "has a serial number of \(serial.count) octets" : nil
    }

    /// The issuer has a name.
    public static let emptyIssuer = ChainRule(
        "emptyIssuer", "RFC 5280, 4.1.2.4", "The issuer's name is not empty.", .belowAnchor
    ) { $0.facts.issuer.count > 2 ? nil : "names no issuer" }

    /// An authority has a name.
    public static let emptySubject = ChainRule(
        "emptySubject", "RFC 5280, 4.1.2.6", "An authority's name is not empty.", .intermediate
    ) { $0.facts.subject.count > 2 ? nil : "names no subject" }

    /// Times are UTCTime through 2049 and GeneralizedTime after, to the second, and end in Z.
    public static let validityEncoding = ChainRule(
        "validityEncoding", "RFC 5280, 4.1.2.5",
        "Times are UTCTime through 2049 and GeneralizedTime after, to the second, and end in Z.", .belowAnchor
    ) { link in
        let times = [link.facts.notBefore, link.facts.notAfter]
        return times.allSatisfy(\.isEncodedAsRequired) ? nil : "writes its validity in a way that is not allowed"
    }

    /// A server's certificate is valid for no longer than ``ChainProfile/maximumLeafLifetime``, where there is one.
    public static let leafLifetime = ChainRule(
        "leafLifetime", "Baseline Requirements, 6.3.2", "A server's certificate is valid for a limited time.", .leaf
    ) { link in
        guard let limit = link.profile.maximumLeafLifetime else { return nil }
        guard let start = link.facts.notBefore.seconds, let end = link.facts.notAfter.seconds else {
            return "writes its validity in a way that is not allowed"
        }
        // Both ends belong to it.
        let lifetime = end - start + 1
        guard Duration.seconds(lifetime) > limit else { return nil }
        return "is valid for \(lifetime / 86_400) days, more than \(limit.components.seconds / 86_400)"
    }
}
