/// An evaluator of this module, which can be read and written.
protocol ReadableEvaluator: TrustEvaluator {
    /// The checks of the evaluator; nil if the settings cannot express them.
    func readSettings() -> TrustSettings?

    /// The evaluator as a rule without hosts.
    ///
    /// - Throws: ``SecurityError/Code/unencodablePolicy``.
    func rule() throws(SecurityError) -> SecurityPolicyDocument.Rule
}

extension StandardTrustEvaluator: ReadableEvaluator {
    func readSettings() -> TrustSettings? { evaluator.settings }

    func rule() throws(SecurityError) -> SecurityPolicyDocument.Rule { try .writing(evaluator) }
}

// MARK: Evaluators that build a chain

extension ChainVerifier {
    fileprivate var settings: TrustSettings {
        TrustSettings(anchors: anchors, profile: profile, validatesDomainName: validatesHost)
    }

    fileprivate func rule() throws(SecurityError) -> SecurityPolicyDocument.Rule {
        var rule = try SecurityPolicyDocument.Rule(anchors)
        rule.setProfile(profile)
        rule.validatesDomainName = validatesHost
        return rule
    }
}

extension AnchorEvaluator: ReadableEvaluator {
    func readSettings() -> TrustSettings? { verifier.settings }

    func rule() throws(SecurityError) -> SecurityPolicyDocument.Rule { try verifier.rule() }
}

extension PublicKeyPinEvaluator: ReadableEvaluator {
    func readSettings() -> TrustSettings? { verifier.settings.pinning(PinSet(wanted, position: position)) }

    func rule() throws(SecurityError) -> SecurityPolicyDocument.Rule {
        try verifier.rule().pinning(PinSet(wanted, position: position))
    }
}

extension PinSetEvaluator: ReadableEvaluator {
    func readSettings() -> TrustSettings? { verifier.settings.pinning(set) }

    func rule() throws(SecurityError) -> SecurityPolicyDocument.Rule { try verifier.rule().pinning(set) }
}

extension CertificatePinEvaluator: ReadableEvaluator {
    func readSettings() -> TrustSettings? {
        var settings = verifier.settings
        settings.pinningMode = .certificate
        settings.pinnedCertificates = certificates
        settings.pinPosition = position
        return settings
    }

    func rule() throws(SecurityError) -> SecurityPolicyDocument.Rule {
        var rule = try verifier.rule()
        rule.pinnedCertificates = certificates.map(\.pemText)
        rule.pinPosition = position
        guard !verifier.anchors.includesSystem, verifier.anchors.certificates == certificates else { return rule }
        (rule.trust, rule.anchors) = (.pinnedCertificates, [])
        return rule
    }
}

extension PinningModeEvaluator: ReadableEvaluator {
    func readSettings() -> TrustSettings? {
        TrustSettings(
            pinningMode: mode, pins: mode == .publicKey ? certificates.map(\.publicKeyPin) : [],
            pinnedCertificates: certificates, anchors: anchors, profile: .default,
            allowInvalidCertificates: allowsInvalid, validatesDomainName: validatesHost)
    }

    func rule() throws(SecurityError) -> SecurityPolicyDocument.Rule {
        var rule = try SecurityPolicyDocument.Rule(anchors)
        rule.pinningMode = mode
        rule.pinnedCertificates = certificates.isEmpty ? nil : certificates.map(\.pemText)
        rule.allowInvalidCertificates = allowsInvalid
        rule.validatesDomainName = validatesHost
        return rule
    }
}

extension TrustSettings {
    fileprivate func pinning(_ set: PinSet) -> TrustSettings {
        var settings = self
        settings.pinningMode = .publicKey
        (settings.pins, settings.pinPosition, settings.pinExpiry) = (set.all, set.position, set.expiry)
        return settings
    }
}

// MARK: Evaluators without a chain

extension HostnameEvaluator: ReadableEvaluator {
    func readSettings() -> TrustSettings? { TrustSettings(allowInvalidCertificates: true) }

    func rule() -> SecurityPolicyDocument.Rule { SecurityPolicyDocument.Rule(trust: .hostname) }
}

extension RefusingEvaluator: ReadableEvaluator {
    func readSettings() -> TrustSettings? { nil }

    func rule() -> SecurityPolicyDocument.Rule { SecurityPolicyDocument.Rule(trust: .refuse) }
}

extension InsecureEvaluator: ReadableEvaluator {
    func readSettings() -> TrustSettings? {
        TrustSettings(allowInvalidCertificates: true, validatesDomainName: false)
    }

    func rule() -> SecurityPolicyDocument.Rule { SecurityPolicyDocument.Rule(trust: .insecureAcceptAnyCertificate) }
}

// MARK: Combinations

extension CleartextEvaluator: ReadableEvaluator {
    func readSettings() -> TrustSettings? { evaluator.settings }

    func rule() throws(SecurityError) -> SecurityPolicyDocument.Rule {
        var rule = try SecurityPolicyDocument.Rule.writing(evaluator)
        rule.insecureAllowsCleartext = true
        return rule
    }
}

extension ReportOnlyEvaluator: ReadableEvaluator {
    func readSettings() -> TrustSettings? { enforced.settings }

    func rule() throws(SecurityError) -> SecurityPolicyDocument.Rule {
        var rule = try SecurityPolicyDocument.Rule.writing(enforced)
        rule.observed.append(try .writing(observed))
        return rule
    }
}

extension AllOfEvaluator: ReadableEvaluator {
    func readSettings() -> TrustSettings? { nil }

    func rule() throws(SecurityError) -> SecurityPolicyDocument.Rule {
        var rule = SecurityPolicyDocument.Rule()
        for evaluator in [first] + others { rule.allOf.append(try .writing(evaluator)) }
        return rule
    }
}

extension AnyOfEvaluator: ReadableEvaluator {
    func readSettings() -> TrustSettings? { nil }

    func rule() throws(SecurityError) -> SecurityPolicyDocument.Rule {
        var rule = SecurityPolicyDocument.Rule()
        for evaluator in [first] + others { rule.anyOf.append(try .writing(evaluator)) }
        return rule
    }
}

extension AppRefusalEvaluator: ReadableEvaluator {
    func readSettings() -> TrustSettings? { evaluator.settings }

    func rule() throws(SecurityError) -> SecurityPolicyDocument.Rule {
        throw SecurityError(
            .unencodablePolicy, "An evaluator asks a closure (\"accepting(_:unless:)\"), which cannot be written.")
    }
}
