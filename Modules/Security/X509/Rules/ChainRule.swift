/// A rule for the certificates of a chain, with the document that states it.
///
/// Rules examine the chain that OpenSSL verified. For anchors, they only examine weaknesses of signatures made with
/// their key, and ``flawedAnchor``.
public struct ChainRule: Sendable, CaseIterable, CustomStringConvertible {
    /// The profiles that include a rule.
    enum Scope: Sendable {
        /// Applies to every authority: RFC 5280 or another document says MUST, or a violation makes the certificate
        /// worthless as proof.
        case anyAuthority
        /// Applies to public web authorities: the Baseline Requirements say MUST, or RFC 5280 says SHOULD.
        case webAuthority
        /// Enforced only on request.
        case none
    }

    /// The rule's name, which is also the name of its refusal reason.
    public let description: String
    /// The document that states the rule.
    public let citation: String
    /// The rule's requirement, in one sentence.
    public let requirement: String
    /// Whether ``ChainProfile/default`` and ``ChainProfile/strict`` include the rule. Rules in neither are enforced
    /// through ``ChainProfile/enforcing(_:)``.
    public var isEnforcedByDefault: Bool { scope == .anyAuthority }
    let scope: Scope
    let positions: ChainLink.Position
    /// The violation, as the end of a sentence that begins with "the certificate"; nil if there is none.
    let check: @Sendable (ChainLink) -> String?

    init(
        _ name: String, _ citation: String, _ requirement: String, at positions: ChainLink.Position,
        scope: Scope = .anyAuthority, check: @escaping @Sendable (ChainLink) -> String?
    ) {
        description = name
        self.citation = citation
        self.requirement = requirement
        self.scope = scope
        self.positions = positions
        self.check = check
    }

    /// The reason for refusing a chain that violates the rule.
    public var reason: TrustRefusal.Reason { TrustRefusal.Reason(description) }

    /// All rules, in the order in which they are checked.
    public static let allCases: [ChainRule] =
        structure + extensions + usage + names + keys + signatures
        + anchors

    func applies(to position: ChainLink.Position) -> Bool { positions.contains(position) }
}

extension ChainRule: Hashable {
    /// Compares the names.
    public static func == (left: ChainRule, right: ChainRule) -> Bool { left.description == right.description }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension ChainRule {
    static let structure: [ChainRule] = [
        .nonDER, .certificateVersion, .uniqueIdentifier, .serialNumber, .emptyIssuer, .emptySubject, .validityEncoding,
        .leafLifetime,
    ]

    /// A certificate is encoded in DER.
    public static let nonDER = ChainRule(
        "nonDER", "RFC 5280, 4.1", "A certificate is encoded in DER.", at: .belowAnchor
    ) { $0.facts.isStrictDER ? nil : "has parts that are not DER" }

    /// A certificate has version 3, which extensions require.
    public static let certificateVersion = ChainRule(
        "certificateVersion", "RFC 5280, 4.1.2.1; Baseline Requirements, 7.1.1", "A certificate is of version 3.",
        at: .belowAnchor
    ) { $0.facts.version == 3 ? nil : "is of version \($0.facts.version)" }

    /// A certificate has no unique identifiers.
    public static let uniqueIdentifier = ChainRule(
        "uniqueIdentifier", "RFC 5280, 4.1.2.8; Baseline Requirements, 7.1.2.7",
        "A certificate has no unique identifiers.", at: .belowAnchor
    ) { $0.facts.hasUniqueIdentifier ? "has a unique identifier" : nil }

    /// A serial number is positive and has at most 20 octets.
    public static let serialNumber = ChainRule(
        "serialNumber", "RFC 5280, 4.1.2.2; Baseline Requirements, 7.1.2.7",
        "A serial number is positive, and of 20 octets at most.", at: .belowAnchor
    ) { link in
        let serial = link.facts.serialNumber
        guard let first = serial.first, first < 0x80 else { return "has a negative serial number" }
        if serial.allSatisfy({ $0 == 0 }) { return "has 0 as its serial number" }
        return serial.count > 20 ? "has a serial number of \(serial.count) octets" : nil
    }

    /// The issuer's name is not empty.
    public static let emptyIssuer = ChainRule(
        "emptyIssuer", "RFC 5280, 4.1.2.4", "The issuer's name is not empty.", at: .belowAnchor
    ) { $0.facts.issuer.count > 2 ? nil : "names no issuer" }

    /// An authority's name is not empty.
    public static let emptySubject = ChainRule(
        "emptySubject", "RFC 5280, 4.1.2.6", "An authority's name is not empty.", at: .intermediate
    ) { $0.facts.subject.count > 2 ? nil : "names no subject" }

    /// Times are UTCTime through 2049 and GeneralizedTime after, with seconds, and end in Z.
    public static let validityEncoding = ChainRule(
        "validityEncoding", "RFC 5280, 4.1.2.5",
        "Times are UTCTime through 2049 and GeneralizedTime after, to the second, and end in Z.", at: .belowAnchor
    ) { link in
        let times = [link.facts.notBefore, link.facts.notAfter]
        return times.allSatisfy(\.isEncodedAsRequired) ? nil : "writes its validity in a way that is not allowed"
    }

    /// A server's certificate is valid for at most ``ChainProfile/maximumLeafLifetime``, if that is set.
    public static let leafLifetime = ChainRule(
        "leafLifetime", "Baseline Requirements, 6.3.2", "A server's certificate is valid for a limited time.", at: .leaf
    ) { link in
        guard let limit = link.profile.maximumLeafLifetime else { return nil }
        guard let start = link.facts.notBefore.seconds, let end = link.facts.notAfter.seconds else {
            return "writes its validity in a way that is not allowed"
        }
        // Both ends are included.
        let lifetime = end - start + 1
        guard Duration.seconds(lifetime) > limit else { return nil }
        return "is valid for \(lifetime / 86_400) days, more than \(limit.components.seconds / 86_400)"
    }
}

extension ChainRule {
    static let keys: [ChainRule] = [
        .explicitCurveParameters, .ellipticCurve, .keyKind, .keyParameters, .rsaKeySize, .rsaModulusSize, .rsaModulus,
        .rsaExponent,
    ]

    /// An elliptic curve is given by name, not by explicit parameters.
    public static let explicitCurveParameters = ChainRule(
        "explicitCurveParameters", "RFC 5480, 2.1.1; Baseline Requirements, 7.1.3.1.2",
        "An elliptic curve is named, not written out.", at: .all
    ) { $0.facts.key.hasExplicitCurve ? "has a key on a curve that is written out" : nil }

    /// An elliptic curve is P-256, P-384 or P-521.
    public static let ellipticCurve = ChainRule(
        "ellipticCurve", "RFC 8446, 4.2.3 and 4.4.2.2; Baseline Requirements, 6.1.5",
        "An elliptic curve is P-256, P-384 or P-521.", at: .all
    ) { link in
        let key = link.facts.key
        guard key.algorithm.identifier == .ecPublicKey, !key.hasExplicitCurve, key.kind == nil else { return nil }
        return "has a key on a curve other than P-256, P-384 and P-521"
    }

    /// A key's kind is one of ``ChainProfile/KeyRequirements/kinds``.
    public static let keyKind = ChainRule(
        "keyKind", "RFC 8446, 4.4.2.2; Baseline Requirements, 6.1.5", "A key is of a kind that the profile accepts.",
        at: .all
    ) { link in
        guard let kind = link.facts.key.kind else {
            let isCurve = link.facts.key.algorithm.identifier == .ecPublicKey
            return isCurve ? nil : "has a key of the unknown kind \(link.facts.key.algorithm.identifier)"
        }
        return link.profile.keys.kinds.contains(kind) ? nil : "has a key of the kind \(kind), which is not accepted"
    }

    /// A key's algorithm has exactly the parameters defined for it.
    public static let keyParameters = ChainRule(
        "keyParameters", "RFC 3279, 2.3.1; RFC 8410, 3; Baseline Requirements, 7.1.3.1.1",
        "The parameters of RSA are NULL, and those of Ed25519 and Ed448 absent.", at: .belowAnchor
    ) { $0.facts.key.hasProperParameters ? nil : "has a key with parameters that do not belong to it" }

    /// An RSA modulus has at least ``ChainProfile/KeyRequirements/minimumRSABits``.
    public static let rsaKeySize = ChainRule(
        "rsaKeySize", "Baseline Requirements, 6.1.5", "An RSA modulus is of 2048 bits at least.", at: .all
    ) { link in
        guard isRSA(link) else { return nil }
        guard let rsa = link.facts.key.rsa else { return "has an RSA key that cannot be read" }
        let minimum = link.profile.keys.minimumRSABits
        return rsa.modulusBits < minimum ? "has an RSA key of \(rsa.modulusBits) bits, less than \(minimum)" : nil
    }

    /// The bit length of an RSA modulus is a multiple of 8.
    public static let rsaModulusSize = ChainRule(
        "rsaModulusSize", "Baseline Requirements, 6.1.5", "The bits of an RSA modulus are a multiple of 8.", at: .all,
        scope: .webAuthority
    ) { link in
        guard let rsa = link.facts.key.rsa, rsa.modulusBits % 8 != 0 else { return nil }
        return "has an RSA key of \(rsa.modulusBits) bits, which is no multiple of 8"
    }

    /// An RSA modulus is odd and has no small factors.
    public static let rsaModulus = ChainRule(
        "rsaModulus", "RFC 8017, 3.1; Baseline Requirements, 6.1.6; NIST SP 800-89, 5.3.3",
        "An RSA modulus is odd, and has no factor below 752.", at: .all
    ) { link in
        link.facts.key.rsa?.smallFactor.map { "has an RSA key whose modulus can be divided by \($0)" }
    }

    /// An RSA exponent is odd and at least 3.
    public static let rsaExponent = ChainRule(
        "rsaExponent", "Baseline Requirements, 6.1.6; RFC 8017, 3.1", "An RSA exponent is odd, and 3 at least.",
        at: .all
    ) { link in
        guard let exponent = link.facts.key.rsa?.exponent else { return nil }
        guard let last = exponent.last, last & 1 == 1 else { return "has an RSA key with an even exponent" }
        return exponent == [1] ? "has an RSA key with the exponent 1" : nil
    }

    private static func isRSA(_ link: ChainLink) -> Bool {
        [ObjectIdentifier.rsaEncryption, .rsaPSS].contains(link.facts.key.algorithm.identifier)
    }
}

extension ChainRule {
    static let signatures: [ChainRule] = [
        .signatureAlgorithmMismatch, .md5Signatures, .sha1Signatures, .signatureAlgorithm,
    ]

    /// The algorithm beside the signature equals the signed one.
    public static let signatureAlgorithmMismatch = ChainRule(
        "signatureAlgorithmMismatch", "RFC 5280, 4.1.1.2; Baseline Requirements, 7.1.2.7",
        "The algorithm beside the signature is the one that was signed.", at: .belowAnchor
    ) { link in
        link.facts.signature.bytes == link.facts.outerSignature.bytes
            ? nil : "names another signature algorithm than the one that was signed"
    }

    /// No certificate is signed with MD5 or an older digest.
    public static let md5Signatures = ChainRule(
        "md5Signatures", "RFC 6151, 2; Baseline Requirements, 7.1.3.2", "No certificate is signed over MD5.",
        at: .belowAnchor
    ) { WeakDigest($0.facts.signature) == .md5 ? "is signed over MD5" : nil }

    /// No certificate is signed with SHA-1.
    public static let sha1Signatures = ChainRule(
        "sha1Signatures", "RFC 9155, 4 and 5; Baseline Requirements, 7.1.3.2", "No certificate is signed over SHA-1.",
        at: .belowAnchor
    ) { WeakDigest($0.facts.signature) == .sha1 ? "is signed over SHA-1" : nil }

    /// A signature's algorithm is one of ``ChainProfile/KeyRequirements/signatures``, in its canonical
    /// encoding.
    public static let signatureAlgorithm = ChainRule(
        "signatureAlgorithm", "RFC 5280, 4.1.1.2; RFC 8410, 3; Baseline Requirements, 7.1.3.2",
        "A signature's algorithm is one that the profile accepts, in its one encoding.", at: .belowAnchor
    ) { link in
        let used = link.facts.signature
        // ``md5Signatures`` and ``sha1Signatures`` cover these, and can be allowed.
        if let weak = WeakDigest(used), weak != .unreadable { return nil }
        if link.profile.keys.signatures.contains(where: { $0.encoding == used.bytes }) { return nil }
        guard let known = ChainProfile.SignatureAlgorithm.all.first(where: { $0.encoding == used.bytes }) else {
            return "is signed with \(used.identifier), or with parameters of it, which are not accepted"
        }
        return "is signed with \(known), which is not accepted"
    }
}

extension ChainRule {
    static let anchors: [ChainRule] = [.flawedAnchor]

    /// An issuing anchor is marked as an authority and contains nothing that contradicts that.
    ///
    /// An anchor is trusted by configuration (RFC 5280, 6.1.1 (d)), and ``ChainProfile/default`` accepts one that
    /// violates this rule. The decision then contains a finding (``VerifiedTrust/findings``), which is also reported to
    /// a ``TrustReporter``. A server's own certificate that is itself the anchor is not checked.
    public static let flawedAnchor = ChainRule(
        "flawedAnchor", "RFC 5280, 4.1.2.2, 4.2, 4.2.1.1 and 4.2.1.9; Baseline Requirements, 7.1.2.1",
        "An anchor is an authority's certificate: it says so, its serial number is not negative, and one that is signed by "
            + "itself names its own key and no purposes.",
        at: .issuingAnchor, scope: .webAuthority
    ) { link in
        let (facts, known) = (link.facts, link.facts.known)
        guard known.basicConstraints?.isAuthority == true else {
            return "issues, and does not say that it is an authority"
        }
        if let first = facts.serialNumber.first, first >= 0x80 { return "has a negative serial number" }
        let unknown = facts.extensions.first { $0.isCritical && !processed.contains($0.identifier) }
        if let unknown { return "has the critical extension \(unknown.identifier), which is not processed" }
        return facts.isSelfIssued ? flaw(ofRoot: facts) : nil
    }

    private static func flaw(ofRoot facts: CertificateFacts) -> String? {
        guard facts.first(.extendedKeyUsage) == nil else { return "is a root, and names purposes" }
        guard facts.first(.authorityKeyIdentifier) != nil else { return nil }
        guard let identifier = facts.known.authorityKeyIdentifier else {
            return "has an authority key identifier that cannot be read"
        }
        guard let key = identifier.keyIdentifier else { return "has an authority key identifier without a key" }
        if let own = facts.known.subjectKeyIdentifier, own != key {
            return "is signed by itself, and names another key as its issuer's"
        }
        guard identifier.serialNumber == nil || identifier.serialNumber == facts.serialNumber else {
            return "is signed by itself, and names another serial number as its issuer's"
        }
        return nil
    }
}
