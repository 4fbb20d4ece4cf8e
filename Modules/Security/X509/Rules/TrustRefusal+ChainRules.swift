extension TrustRefusal.Reason {
    // One reason for each ``ChainRule``, which has the requirement and the document that states it.

    /// The chain violates ``ChainRule/nonDER``.
    public static let nonDER = TrustRefusal.Reason("nonDER")
    /// The chain violates ``ChainRule/certificateVersion``.
    public static let certificateVersion = TrustRefusal.Reason("certificateVersion")
    /// The chain violates ``ChainRule/uniqueIdentifier``.
    public static let uniqueIdentifier = TrustRefusal.Reason("uniqueIdentifier")
    /// The chain violates ``ChainRule/serialNumber``.
    public static let serialNumber = TrustRefusal.Reason("serialNumber")
    /// The chain violates ``ChainRule/emptyIssuer``.
    public static let emptyIssuer = TrustRefusal.Reason("emptyIssuer")
    /// The chain violates ``ChainRule/emptySubject``.
    public static let emptySubject = TrustRefusal.Reason("emptySubject")
    /// The chain violates ``ChainRule/validityEncoding``.
    public static let validityEncoding = TrustRefusal.Reason("validityEncoding")
    /// The chain violates ``ChainRule/leafLifetime``.
    public static let leafLifetime = TrustRefusal.Reason("leafLifetime")
    /// The chain violates ``ChainRule/duplicateExtension``.
    public static let duplicateExtension = TrustRefusal.Reason("duplicateExtension")
    /// The chain violates ``ChainRule/malformedExtension``.
    public static let malformedExtension = TrustRefusal.Reason("malformedExtension")
    /// The chain violates ``ChainRule/unprocessedCriticalExtension``.
    public static let unprocessedCriticalExtension = TrustRefusal.Reason("unprocessedCriticalExtension")
    /// The chain violates ``ChainRule/extensionMustNotBeCritical``.
    public static let extensionMustNotBeCritical = TrustRefusal.Reason("extensionMustNotBeCritical")
    /// The chain violates ``ChainRule/extensionShouldNotBeCritical``.
    public static let extensionShouldNotBeCritical = TrustRefusal.Reason("extensionShouldNotBeCritical")
    /// The chain violates ``ChainRule/basicConstraintsNotCritical``.
    public static let basicConstraintsNotCritical = TrustRefusal.Reason("basicConstraintsNotCritical")
    /// The chain violates ``ChainRule/keyUsageNotCritical``.
    public static let keyUsageNotCritical = TrustRefusal.Reason("keyUsageNotCritical")
    /// The chain violates ``ChainRule/nameConstraintsNotCritical``.
    public static let nameConstraintsNotCritical = TrustRefusal.Reason("nameConstraintsNotCritical")
    /// The chain violates ``ChainRule/policyConstraintsNotCritical``.
    public static let policyConstraintsNotCritical = TrustRefusal.Reason("policyConstraintsNotCritical")
    /// The chain violates ``ChainRule/missingAuthorityKeyIdentifier``.
    public static let missingAuthorityKeyIdentifier = TrustRefusal.Reason("missingAuthorityKeyIdentifier")
    /// The chain violates ``ChainRule/missingSubjectKeyIdentifier``.
    public static let missingSubjectKeyIdentifier = TrustRefusal.Reason("missingSubjectKeyIdentifier")
    /// The chain violates ``ChainRule/nameConstraintsInLeaf``.
    public static let nameConstraintsInLeaf = TrustRefusal.Reason("nameConstraintsInLeaf")
    /// The chain violates ``ChainRule/missingBasicConstraints``.
    public static let missingBasicConstraints = TrustRefusal.Reason("missingBasicConstraints")
    /// The chain violates ``ChainRule/pathLengthWithoutAuthority``.
    public static let pathLengthWithoutAuthority = TrustRefusal.Reason("pathLengthWithoutAuthority")
    /// The chain violates ``ChainRule/leafIsAuthority``.
    public static let leafIsAuthority = TrustRefusal.Reason("leafIsAuthority")
    /// The chain violates ``ChainRule/missingKeyUsage``.
    public static let missingKeyUsage = TrustRefusal.Reason("missingKeyUsage")
    /// The chain violates ``ChainRule/emptyKeyUsage``.
    public static let emptyKeyUsage = TrustRefusal.Reason("emptyKeyUsage")
    /// The chain violates ``ChainRule/certificateSigningWithoutAuthority``.
    public static let certificateSigningWithoutAuthority = TrustRefusal.Reason("certificateSigningWithoutAuthority")
    /// The chain violates ``ChainRule/leafKeyUsage``.
    public static let leafKeyUsage = TrustRefusal.Reason("leafKeyUsage")
    /// The chain violates ``ChainRule/missingExtendedKeyUsage``.
    public static let missingExtendedKeyUsage = TrustRefusal.Reason("missingExtendedKeyUsage")
    /// The chain violates ``ChainRule/missingServerAuthentication``.
    public static let missingServerAuthentication = TrustRefusal.Reason("missingServerAuthentication")
    /// The chain violates ``ChainRule/anyExtendedKeyUsage``.
    public static let anyExtendedKeyUsage = TrustRefusal.Reason("anyExtendedKeyUsage")
    /// The chain violates ``ChainRule/mixedExtendedKeyUsage``.
    public static let mixedExtendedKeyUsage = TrustRefusal.Reason("mixedExtendedKeyUsage")
    /// The chain violates ``ChainRule/missingSubjectAlternativeName``.
    public static let missingSubjectAlternativeName = TrustRefusal.Reason("missingSubjectAlternativeName")
    /// The chain violates ``ChainRule/emptySubjectAlternativeName``.
    public static let emptySubjectAlternativeName = TrustRefusal.Reason("emptySubjectAlternativeName")
    /// The chain violates ``ChainRule/subjectAlternativeNameCriticality``.
    public static let subjectAlternativeNameCriticality = TrustRefusal.Reason("subjectAlternativeNameCriticality")
    /// The chain violates ``ChainRule/criticalSubjectAlternativeName``.
    public static let criticalSubjectAlternativeName = TrustRefusal.Reason("criticalSubjectAlternativeName")
    /// The chain violates ``ChainRule/wildcardPlacement``.
    public static let wildcardPlacement = TrustRefusal.Reason("wildcardPlacement")
    /// The chain violates ``ChainRule/wildcardOfTopLevel``.
    public static let wildcardOfTopLevel = TrustRefusal.Reason("wildcardOfTopLevel")
    /// The chain violates ``ChainRule/dnsNameUnderscore``.
    public static let dnsNameUnderscore = TrustRefusal.Reason("dnsNameUnderscore")
    /// The chain violates ``ChainRule/dnsNameSyntax``.
    public static let dnsNameSyntax = TrustRefusal.Reason("dnsNameSyntax")
    /// The chain violates ``ChainRule/reservedLabel``.
    public static let reservedLabel = TrustRefusal.Reason("reservedLabel")
    /// The chain violates ``ChainRule/addressSyntax``.
    public static let addressSyntax = TrustRefusal.Reason("addressSyntax")
    /// The chain violates ``ChainRule/commonNameNotInNames``.
    public static let commonNameNotInNames = TrustRefusal.Reason("commonNameNotInNames")
    /// The chain violates ``ChainRule/explicitCurveParameters``.
    public static let explicitCurveParameters = TrustRefusal.Reason("explicitCurveParameters")
    /// The chain violates ``ChainRule/ellipticCurve``.
    public static let ellipticCurve = TrustRefusal.Reason("ellipticCurve")
    /// The chain violates ``ChainRule/keyKind``.
    public static let keyKind = TrustRefusal.Reason("keyKind")
    /// The chain violates ``ChainRule/keyParameters``.
    public static let keyParameters = TrustRefusal.Reason("keyParameters")
    /// The chain violates ``ChainRule/rsaKeySize``.
    public static let rsaKeySize = TrustRefusal.Reason("rsaKeySize")
    /// The chain violates ``ChainRule/rsaModulusSize``.
    public static let rsaModulusSize = TrustRefusal.Reason("rsaModulusSize")
    /// The chain violates ``ChainRule/rsaModulus``.
    public static let rsaModulus = TrustRefusal.Reason("rsaModulus")
    /// The chain violates ``ChainRule/rsaExponent``.
    public static let rsaExponent = TrustRefusal.Reason("rsaExponent")
    /// The chain violates ``ChainRule/signatureAlgorithmMismatch``.
    public static let signatureAlgorithmMismatch = TrustRefusal.Reason("signatureAlgorithmMismatch")
    /// The chain violates ``ChainRule/md5Signatures``.
    public static let md5Signatures = TrustRefusal.Reason("md5Signatures")
    /// The chain violates ``ChainRule/sha1Signatures``.
    public static let sha1Signatures = TrustRefusal.Reason("sha1Signatures")
    /// The chain violates ``ChainRule/signatureAlgorithm``.
    public static let signatureAlgorithm = TrustRefusal.Reason("signatureAlgorithm")
    /// The chain violates ``ChainRule/flawedAnchor``.
    public static let flawedAnchor = TrustRefusal.Reason("flawedAnchor")

    // MARK: Constraints and limits, under every profile

    /// A certificate contains a name that an authority above it may not certify (RFC 5280, 4.2.1.10).
    public static let nameNotPermitted = TrustRefusal.Reason("nameNotPermitted")

    /// The chain exceeds the limits on keys, names or constraints.
    public static let limitExceeded = TrustRefusal.Reason("limitExceeded")
    /// A certificate appears twice in the verified chain (RFC 5280, 6.1).
    public static let repeatedCertificate = TrustRefusal.Reason("repeatedCertificate")
}
