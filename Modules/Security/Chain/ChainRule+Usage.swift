extension ChainRule {
    static let usage: [ChainRule] = [
        .missingBasicConstraints, .pathLengthWithoutAuthority, .leafIsAuthority, .missingKeyUsage, .emptyKeyUsage,
        .certificateSigningWithoutAuthority, .leafKeyUsage, .missingExtendedKeyUsage, .missingServerAuthentication,
        .anyExtendedKeyUsage, .mixedExtendedKeyUsage,
    ]

    /// An authority says that it is one.
    public static let missingBasicConstraints = ChainRule(
        "missingBasicConstraints", "RFC 5280, 4.2.1.9 and 6.1.4 (k)", "An authority says that it is one.", .intermediate
    ) { link in
        link.facts.known.basicConstraints?.isAuthority == true
            ? nil : "issues, and does not say that it is an authority"
    }

    /// Only an authority limits the length of a path.
    public static let pathLengthWithoutAuthority = ChainRule(
        "pathLengthWithoutAuthority", "RFC 5280, 4.2.1.9; Baseline Requirements, 7.1.2.7.8",
        "Only an authority that signs certificates limits the length of a path.", .belowAnchor
    ) { link in
        guard let basic = link.facts.known.basicConstraints, basic.pathLength != nil else { return nil }
        let signs = link.facts.known.keyUsage?.contains(.certificateSigning) ?? true
        return basic.isAuthority && signs ? nil : "limits the length of a path, and is no authority"
    }

    /// A server's certificate is not an authority's.
    public static let leafIsAuthority = ChainRule(
        "leafIsAuthority", "Baseline Requirements, 7.1.2.7.8", "A server's certificate is not an authority's.", .leaf,
        scope: .webAuthority
    ) { $0.facts.known.basicConstraints?.isAuthority == true ? "is an authority's, and a server shows it" : nil }

    /// An authority says what its key is for.
    public static let missingKeyUsage = ChainRule(
        "missingKeyUsage", "RFC 5280, 4.2.1.3", "An authority says what its key is for.", .intermediate
    ) { $0.facts.first(.keyUsage) == nil ? "issues, and does not say what its key is for" : nil }

    /// A key is for something.
    public static let emptyKeyUsage = ChainRule(
        "emptyKeyUsage", "RFC 5280, 4.2.1.3", "A key usage has one bit at least.", .belowAnchor
    ) { $0.facts.known.keyUsage?.rawValue == 0 ? "says that its key is for nothing" : nil }

    /// Only an authority's key signs certificates.
    public static let certificateSigningWithoutAuthority = ChainRule(
        "certificateSigningWithoutAuthority", "RFC 5280, 4.2.1.3 and 4.2.1.9",
        "Only an authority's key signs certificates.", .belowAnchor
    ) { link in
        let known = link.facts.known
        guard known.keyUsage?.contains(.certificateSigning) == true else { return nil }
        return known.basicConstraints?.isAuthority == true ? nil : "may sign certificates, and is no authority"
    }

    /// A server's key signs handshakes; the cipher suites that are offered want no other use.
    public static let leafKeyUsage = ChainRule(
        "leafKeyUsage", "RFC 8446, 4.4.2.2; RFC 8422, 5.3; Baseline Requirements, 7.1.2.7.11",
        "A server's key may be used for signatures, where its use is stated.", .leaf
    ) { link in
        guard let usage = link.facts.known.keyUsage else { return nil }
        return usage.contains(.digitalSignature) ? nil : "has a key that must not sign a handshake"
    }

    /// A server's certificate names its purposes.
    public static let missingExtendedKeyUsage = ChainRule(
        "missingExtendedKeyUsage", "Baseline Requirements, 7.1.2.7.10", "A server's certificate names its purposes.",
        .leaf, scope: .webAuthority
    ) { $0.facts.first(.extendedKeyUsage) == nil ? "does not say that it is for servers" : nil }

    /// Where purposes are named, in a server's certificate or its issuer's, serverAuth is one of them.
    public static let missingServerAuthentication = ChainRule(
        "missingServerAuthentication", "RFC 5280, 4.2.1.12; Baseline Requirements, 7.1.2.7.10 and 7.1.2.10.6",
        "Where a certificate names purposes, the purpose serverAuth is one, or any.", .belowAnchor
    ) { link in
        guard let purposes = link.facts.known.extendedKeyUsage else { return nil }
        let fits = purposes.contains(.serverAuthentication) || purposes.contains(.anyExtendedKeyUsage)
        return fits ? nil : "is not for servers"
    }

    /// A server's certificate is not for anything.
    public static let anyExtendedKeyUsage = ChainRule(
        "anyExtendedKeyUsage", "Baseline Requirements, 7.1.2.7.10",
        "A server's certificate does not name the purpose anyExtendedKeyUsage.", .leaf,
        scope: .webAuthority
    ) { link in
        link.facts.known.extendedKeyUsage?.contains(.anyExtendedKeyUsage) == true ? "is for any purpose" : nil
    }

    /// A server's certificate is not for code, mail, time stamps or revocation as well.
    public static let mixedExtendedKeyUsage = ChainRule(
        "mixedExtendedKeyUsage", "Baseline Requirements, 7.1.2.7.10",
        "A server's certificate does not sign code, mail, time stamps or OCSP responses.", .leaf,
        scope: .webAuthority
    ) { link in
        let foreign: [ObjectIdentifier] = [.codeSigning, .emailProtection, .timeStamping, .ocspSigning]
        let purpose = link.facts.known.extendedKeyUsage?.first { foreign.contains($0) }
        return purpose.map { "is for servers and for \($0) as well" }
    }
}
