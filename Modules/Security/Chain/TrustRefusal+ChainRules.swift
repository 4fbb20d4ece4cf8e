extension TrustRefusal.Reason {
    // One for each rule of a profile; ``ChainRule`` has the text and where it is written.

    /// ``ChainRule/nonDER`` is broken.
    public static let nonDER = TrustRefusal.Reason("nonDER")
    /// ``ChainRule/certificateVersion`` is broken.
    public static let certificateVersion = TrustRefusal.Reason("certificateVersion")
    /// ``ChainRule/uniqueIdentifier`` is broken.
    public static let uniqueIdentifier = TrustRefusal.Reason("uniqueIdentifier")
    /// ``ChainRule/serialNumber`` is broken.
    public static let serialNumber = TrustRefusal.Reason("serialNumber")
    /// ``ChainRule/emptyIssuer`` is broken.
    public static let emptyIssuer = TrustRefusal.Reason("emptyIssuer")
    /// ``ChainRule/emptySubject`` is broken.
    public static let emptySubject = TrustRefusal.Reason("emptySubject")
    /// ``ChainRule/validityEncoding`` is broken.
    public static let validityEncoding = TrustRefusal.Reason("validityEncoding")
    /// ``ChainRule/leafLifetime`` is broken.
    public static let leafLifetime = TrustRefusal.Reason("leafLifetime")
    /// ``ChainRule/duplicateExtension`` is broken.
    public static let duplicateExtension = TrustRefusal.Reason("duplicateExtension")
    /// ``ChainRule/malformedExtension`` is broken.
    public static let malformedExtension = TrustRefusal.Reason("malformedExtension")
    /// ``ChainRule/unprocessedCriticalExtension`` is broken.
    public static let unprocessedCriticalExtension = TrustRefusal.Reason("unprocessedCriticalExtension")
    /// ``ChainRule/extensionMustNotBeCritical`` is broken.
    public static let extensionMustNotBeCritical = TrustRefusal.Reason("extensionMustNotBeCritical")
    /// ``ChainRule/extensionShouldNotBeCritical`` is broken.
    public static let extensionShouldNotBeCritical = TrustRefusal.Reason("extensionShouldNotBeCritical")
    /// ``ChainRule/basicConstraintsNotCritical`` is broken.
    public static let basicConstraintsNotCritical = TrustRefusal.Reason("basicConstraintsNotCritical")
    /// ``ChainRule/keyUsageNotCritical`` is broken.
    public static let keyUsageNotCritical = TrustRefusal.Reason("keyUsageNotCritical")
    /// ``ChainRule/nameConstraintsNotCritical`` is broken.
    public static let nameConstraintsNotCritical = TrustRefusal.Reason("nameConstraintsNotCritical")
    /// ``ChainRule/policyConstraintsNotCritical`` is broken.
    public static let policyConstraintsNotCritical = TrustRefusal.Reason("policyConstraintsNotCritical")
    /// ``ChainRule/missingAuthorityKeyIdentifier`` is broken.
    public static let missingAuthorityKeyIdentifier = TrustRefusal.Reason("missingAuthorityKeyIdentifier")
    /// ``ChainRule/missingSubjectKeyIdentifier`` is broken.
    public static let missingSubjectKeyIdentifier = TrustRefusal.Reason("missingSubjectKeyIdentifier")
    /// ``ChainRule/nameConstraintsInLeaf`` is broken.
    public static let nameConstraintsInLeaf = TrustRefusal.Reason("nameConstraintsInLeaf")
    /// ``ChainRule/missingBasicConstraints`` is broken.
    public static let missingBasicConstraints = TrustRefusal.Reason("missingBasicConstraints")
    /// ``ChainRule/pathLengthWithoutAuthority`` is broken.
    public static let pathLengthWithoutAuthority = TrustRefusal.Reason("pathLengthWithoutAuthority")
    /// ``ChainRule/leafIsAuthority`` is broken.
    public static let leafIsAuthority = TrustRefusal.Reason("leafIsAuthority")
    /// ``ChainRule/missingKeyUsage`` is broken.
    public static let missingKeyUsage = TrustRefusal.Reason("missingKeyUsage")
    /// ``ChainRule/emptyKeyUsage`` is broken.
    public static let emptyKeyUsage = TrustRefusal.Reason("emptyKeyUsage")
    /// ``ChainRule/certificateSigningWithoutAuthority`` is broken.
    public static let certificateSigningWithoutAuthority = TrustRefusal.Reason("certificateSigningWithoutAuthority")
    /// ``ChainRule/leafKeyUsage`` is broken.
    public static let leafKeyUsage = TrustRefusal.Reason("leafKeyUsage")
    /// ``ChainRule/missingExtendedKeyUsage`` is broken.
    public static let missingExtendedKeyUsage = TrustRefusal.Reason("missingExtendedKeyUsage")
    /// ``ChainRule/missingServerAuthentication`` is broken.
    public static let missingServerAuthentication = TrustRefusal.Reason("missingServerAuthentication")
    /// ``ChainRule/anyExtendedKeyUsage`` is broken.
    public static let anyExtendedKeyUsage = TrustRefusal.Reason("anyExtendedKeyUsage")
    /// ``ChainRule/mixedExtendedKeyUsage`` is broken.
    public static let mixedExtendedKeyUsage = TrustRefusal.Reason("mixedExtendedKeyUsage")
    /// ``ChainRule/missingSubjectAlternativeName`` is broken.
    public static let missingSubjectAlternativeName = TrustRefusal.Reason("missingSubjectAlternativeName")
    /// ``ChainRule/emptySubjectAlternativeName`` is broken.
    public static let emptySubjectAlternativeName = TrustRefusal.Reason("emptySubjectAlternativeName")
    /// ``ChainRule/subjectAlternativeNameCriticality`` is broken.
    public static let subjectAlternativeNameCriticality = TrustRefusal.Reason("subjectAlternativeNameCriticality")
    /// ``ChainRule/criticalSubjectAlternativeName`` is broken.
    public static let criticalSubjectAlternativeName = TrustRefusal.Reason("criticalSubjectAlternativeName")
    /// ``ChainRule/wildcardPlacement`` is broken.
    public static let wildcardPlacement = TrustRefusal.Reason("wildcardPlacement")
    /// ``ChainRule/wildcardOfTopLevel`` is broken.
    public static let wildcardOfTopLevel = TrustRefusal.Reason("wildcardOfTopLevel")
    /// ``ChainRule/dnsNameUnderscore`` is broken.
    public static let dnsNameUnderscore = TrustRefusal.Reason("dnsNameUnderscore")
    /// ``ChainRule/dnsNameSyntax`` is broken.
    public static let dnsNameSyntax = TrustRefusal.Reason("dnsNameSyntax")
    /// ``ChainRule/reservedLabel`` is broken.
    public static let reservedLabel = TrustRefusal.Reason("reservedLabel")
    /// ``ChainRule/addressSyntax`` is broken.
    public static let addressSyntax = TrustRefusal.Reason("addressSyntax")
    /// ``ChainRule/commonNameNotInNames`` is broken.
    public static let commonNameNotInNames = TrustRefusal.Reason("commonNameNotInNames")
    /// ``ChainRule/explicitCurveParameters`` is broken.
    public static let explicitCurveParameters = TrustRefusal.Reason("explicitCurveParameters")
    /// ``ChainRule/ellipticCurve`` is broken.
    public static let ellipticCurve = TrustRefusal.Reason("ellipticCurve")
    /// ``ChainRule/keyKind`` is broken.
    public static let keyKind = TrustRefusal.Reason("keyKind")
    /// ``ChainRule/keyParameters`` is broken.
    public static let keyParameters = TrustRefusal.Reason("keyParameters")
    /// ``ChainRule/rsaKeySize`` is broken.
    public static let rsaKeySize = TrustRefusal.Reason("rsaKeySize")
    /// ``ChainRule/rsaModulusSize`` is broken.
    public static let rsaModulusSize = TrustRefusal.Reason("rsaModulusSize")
    /// ``ChainRule/rsaModulus`` is broken.
    public static let rsaModulus = TrustRefusal.Reason("rsaModulus")
    /// ``ChainRule/rsaExponent`` is broken.
    public static let rsaExponent = TrustRefusal.Reason("rsaExponent")
    /// ``ChainRule/signatureAlgorithmMismatch`` is broken.
    public static let signatureAlgorithmMismatch = TrustRefusal.Reason("signatureAlgorithmMismatch")
    /// ``ChainRule/md5Signatures`` is broken.
    public static let md5Signatures = TrustRefusal.Reason("md5Signatures")
    /// ``ChainRule/sha1Signatures`` is broken.
    public static let sha1Signatures = TrustRefusal.Reason("sha1Signatures")
    /// ``ChainRule/signatureAlgorithm`` is broken.
    public static let signatureAlgorithm = TrustRefusal.Reason("signatureAlgorithm")
    /// ``ChainRule/flawedAnchor`` is broken.
    public static let flawedAnchor = TrustRefusal.Reason("flawedAnchor")

    // MARK: Constraints and limits, under every profile

    /// A certificate is for a name that an authority above it may not certify (RFC 5280, 4.2.1.10).
    public static let nameNotPermitted = TrustRefusal.Reason("nameNotPermitted")

    /// The chain would cost more work than any honest one: keys, names or constraints beyond the limits.
    public static let limitExceeded = TrustRefusal.Reason("limitExceeded")
    /// A certificate comes twice in the verified chain (RFC 5280, 6.1).
    public static let repeatedCertificate = TrustRefusal.Reason("repeatedCertificate")
}
