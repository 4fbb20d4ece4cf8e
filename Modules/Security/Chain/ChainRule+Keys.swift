extension ChainRule {
    static let keys: [ChainRule] = [
        .explicitCurveParameters, .ellipticCurve, .keyKind, .keyParameters, .rsaKeySize, .rsaModulusSize, .rsaModulus,
        .rsaExponent,
    ]

    /// An elliptic curve is named, not written out.
    public static let explicitCurveParameters = ChainRule(
        "explicitCurveParameters", "RFC 5480, 2.1.1; Baseline Requirements, 7.1.3.1.2",
        "An elliptic curve is named, not written out.", .all
    ) { $0.facts.key.hasExplicitCurve ? "has a key on a curve that is written out" : nil }

    /// An elliptic curve is P-256, P-384 or P-521.
    public static let ellipticCurve = ChainRule(
        "ellipticCurve", "RFC 8446, 4.2.3 and 4.4.2.2; Baseline Requirements, 6.1.5",
        "An elliptic curve is P-256, P-384 or P-521.", .all
    ) { link in
        let key = link.facts.key
        guard key.algorithm.identifier == .ecPublicKey, !key.hasExplicitCurve, key.kind == nil else { return nil }
        return "has a key on a curve other than P-256, P-384 and P-521"
    }

    /// A key is of a kind that ``KeyRequirements/kinds`` has.
    public static let keyKind = ChainRule(
        "keyKind", "RFC 8446, 4.4.2.2; Baseline Requirements, 6.1.5", "A key is of a kind that the profile accepts.",
        .all
    ) { link in
        guard let kind = link.facts.key.kind else {
            let isCurve = link.facts.key.algorithm.identifier == .ecPublicKey
            return isCurve ? nil : "has a key of the unknown kind \(link.facts.key.algorithm.identifier)"
        }
        return link.profile.keys.kinds.contains(kind) ? nil : "has a key of the kind \(kind), which is not accepted"
    }

    /// A key's algorithm has its parameters and no others.
    public static let keyParameters = ChainRule(
        "keyParameters", "RFC 3279, 2.3.1; RFC 8410, 3; Baseline Requirements, 7.1.3.1.1",
        "The parameters of RSA are NULL, and those of Ed25519 and Ed448 absent.", .belowAnchor
    ) { $0.facts.key.hasProperParameters ? nil : "has a key with parameters that do not belong to it" }

    /// An RSA modulus has ``KeyRequirements/minimumRSABits`` at least.
    public static let rsaKeySize = ChainRule(
        "rsaKeySize", "Baseline Requirements, 6.1.5", "An RSA modulus is of 2048 bits at least.", .all
    ) { link in
        guard isRSA(link) else { return nil }
        guard let rsa = link.facts.key.rsa else { return "has an RSA key that cannot be read" }
        let minimum = link.profile.keys.minimumRSABits
        return rsa.modulusBits < minimum ? "has an RSA key of \(rsa.modulusBits) bits, less than \(minimum)" : nil
    }

    /// An RSA modulus fills its octets.
    public static let rsaModulusSize = ChainRule(
        "rsaModulusSize", "Baseline Requirements, 6.1.5", "The bits of an RSA modulus are a multiple of 8.", .all,
        scope: .webAuthority
    ) { link in
        guard let rsa = link.facts.key.rsa, rsa.modulusBits % 8 != 0 else { return nil }
        return "has an RSA key of \(rsa.modulusBits) bits, which is no multiple of 8"
    }

    /// An RSA modulus is odd and has no small factors.
    public static let rsaModulus = ChainRule(
        "rsaModulus", "RFC 8017, 3.1; Baseline Requirements, 6.1.6; NIST SP 800-89, 5.3.3",
        "An RSA modulus is odd, and has no factor below 752.", .all
    ) { link in
        link.facts.key.rsa?.smallFactor.map { "has an RSA key whose modulus can be divided by \($0)" }
    }

    /// An RSA exponent is odd, and 3 at least.
    public static let rsaExponent = ChainRule(
        "rsaExponent", "Baseline Requirements, 6.1.6; RFC 8017, 3.1", "An RSA exponent is odd, and 3 at least.", .all
    ) { link in
        guard let exponent = link.facts.key.rsa?.exponent else { return nil }
        guard let last = exponent.last, last & 1 == 1 else { return "has an RSA key with an even exponent" }
        return exponent == [1] ? "has an RSA key with the exponent 1" : nil
    }

    private static func isRSA(_ link: ChainLink) -> Bool {
        [ObjectIdentifier.rsaEncryption, .rsaPSS].contains(link.facts.key.algorithm.identifier)
    }
}
