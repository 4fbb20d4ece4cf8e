internal import LinnetSecurity

extension PolicyRuleReader {
    private typealias Rule = SecurityPolicyDocument.Rule

    /// Checks that the keys of the rule are consistent.
    func checkForm() throws(SecurityError) {
        if isNested {
            guard rule.hosts.isEmpty else {
                throw error(
                    .unenforceablePolicy, "A rule within another one, or for other hosts, has no hosts.",
                    "hosts")
            }
        } else {
            guard !rule.hosts.isEmpty else { throw error(.missingPolicyKey, "The rule has no hosts.", "hosts") }
        }
        try checkMembers()
        try checkTrust()
        try checkAnchors()
        try checkPins()
        try checkPinningMode()
        if isGiven(.chainProfile) {
            try refuse([.profile, .allowedRules], "\"chainProfile\" takes the place of this key")
        }
        if rule.reportOnly, !canReport {
            throw error(
                .unenforceablePolicy,
                "The rule refuses nothing that the system's store accepts; add pins or remove this key.",
                "reportOnly")
        }
        _ = try profile()
    }

    /// Whether the rule can refuse a chain that is accepted instead while its refusals are only reported.
    private var canReport: Bool {
        if isGiven(.pins) || isGiven(.pinnedCertificates) || isGiven(.allOf) || isGiven(.anyOf) { return true }
        switch rule.trust {
        case .anchors, .refuse, .pinnedCertificates: return true
        case .system, .systemAndAnchors: return rule.profile == .strict || isGiven(.chainProfile)
        case .hostname, .insecureAcceptAnyCertificate: return false
        }
    }

    /// Throws if one of the keys is given, since the rule would not use it.
    private func refuse(_ keys: [Rule.Key], _ reason: String) throws(SecurityError) {
        guard let key = keys.first(where: isGiven) else { return }
        throw error(.unenforceablePolicy, "\(reason); remove this key.", key.rawValue)
    }

    /// Whether a key has another value than its default.
    private func isGiven(_ key: Rule.Key) -> Bool {
        switch key {
        case .comment, .hosts: true
        case .trust: rule.trust != .system
        case .anchors: !rule.anchors.isEmpty
        case .profile: rule.profile != .default
        case .allowedRules: !rule.allowedRules.isEmpty
        case .chainProfile: rule.chainProfile != nil
        case .validatesDomainName: !rule.validatesDomainName
        case .pins: rule.pins != nil
        case .backupPins: !rule.backupPins.isEmpty
        case .pinnedCertificates: rule.pinnedCertificates != nil
        case .pinningMode: rule.pinningMode != nil
        case .allowInvalidCertificates: rule.allowInvalidCertificates
        case .pinPosition: rule.pinPosition != .anyInVerifiedChain
        case .pinsExpire: rule.pinsExpire != nil
        case .afterExpiry: rule.afterExpiry != nil
        case .reportOnly: rule.reportOnly
        case .observed: !rule.observed.isEmpty
        case .allOf: !rule.allOf.isEmpty
        case .anyOf: !rule.anyOf.isEmpty
        case .insecureAllowsCleartext: rule.insecureAllowsCleartext
        }
    }

    /// The keys that say how a chain is evaluated.
    private static let chainKeys: [Rule.Key] = [.profile, .allowedRules, .chainProfile, .validatesDomainName]
    /// The keys about pinned keys alone.
    private static let keyPinKeys: [Rule.Key] = [.pins, .backupPins, .pinsExpire, .afterExpiry]
    private static let pinKeys = keyPinKeys + [.pinnedCertificates, .pinPosition]

    private func checkMembers() throws(SecurityError) {
        guard isGiven(.allOf) || isGiven(.anyOf) else { return }
        if isGiven(.allOf) { try refuse([.anyOf], "A rule has \"allOf\" or \"anyOf\", not both") }
        try refuse(
            [.trust, .anchors, .pinningMode, .allowInvalidCertificates] + Self.chainKeys + Self.pinKeys,
            "The members of \"allOf\" and \"anyOf\" take the place of anchors and pins")
    }

    private func checkTrust() throws(SecurityError) {
        switch rule.trust {
        case .system, .anchors, .systemAndAnchors: break
        case .pinnedCertificates:
            guard isGiven(.pinnedCertificates) else {
                throw error(
                    .noPins, "With \"trust\": \"pinnedCertificates\" this key is required.", "pinnedCertificates")
            }
            try refuse([.pinningMode], "With \"trust\": \"pinnedCertificates\" there is no mode")
        case .hostname, .insecureAcceptAnyCertificate, .refuse:
            try refuse(
                Self.chainKeys + [.pinningMode],
                "A rule with \"trust\": \"\(rule.trust.rawValue)\" evaluates no chain")
            try refuse(Self.pinKeys, "A rule with \"trust\": \"\(rule.trust.rawValue)\" has no pins")
        }
    }

    private func checkPinningMode() throws(SecurityError) {
        guard let mode = rule.pinningMode else {
            guard !rule.allowInvalidCertificates else {
                throw error(
                    .missingPolicyKey, "\"allowInvalidCertificates\" requires \"pinningMode\".", "pinningMode")
            }
            return
        }
        guard mode == .none || isGiven(.pinnedCertificates) else {
            throw error(
                .noPins, "With \"pinningMode\": \"\(mode.rawValue)\" this key is required.", "pinnedCertificates")
        }
        guard mode != .none || !rule.allowInvalidCertificates || !rule.validatesDomainName else {
            throw error(
                .unenforceablePolicy,
                "The host of an invalid certificate cannot be checked when nothing is pinned; pin a certificate or a key.",
                "allowInvalidCertificates")
        }
        try refuse(
            Self.keyPinKeys + [.pinPosition, .profile, .allowedRules, .chainProfile],
            "A rule with \"pinningMode\" does not use it")
    }

    private func checkAnchors() throws(SecurityError) {
        let usesAnchors = rule.trust == .anchors || rule.trust == .systemAndAnchors
        guard usesAnchors || rule.anchors.isEmpty else {
            throw error(
                .unenforceablePolicy,
                "With \"trust\": \"\(rule.trust.rawValue)\" anchors are not used; remove this key.", "anchors")
        }
        guard !usesAnchors || !rule.anchors.isEmpty else {
            throw error(
                .missingPolicyKey, "With \"trust\": \"\(rule.trust.rawValue)\" at least one anchor is required.",
                "anchors")
        }
    }

    private func checkPins() throws(SecurityError) {
        guard rule.pins.map({ !$0.isEmpty }) ?? true else {
            throw error(.noPins, "The list is empty; add a pin or remove this key.", "pins")
        }
        guard rule.pinnedCertificates.map({ !$0.isEmpty }) ?? true else {
            throw error(.noPins, "The list is empty; add a certificate or remove this key.", "pinnedCertificates")
        }
        guard !isGiven(.pins) || !isGiven(.pinnedCertificates) else {
            throw error(
                .unenforceablePolicy,
                "A rule pins keys or certificates, not both; use \"allOf\" or \"anyOf\" with a rule for each.",
                "pinnedCertificates")
        }
        let position: [Rule.Key] = isGiven(.pinnedCertificates) ? [] : [.pinPosition]
        let needs: [Rule.Key] = [.backupPins] + position + [.pinsExpire, .afterExpiry]
        if !isGiven(.pins), let alone = needs.first(where: isGiven) {
            throw error(.noPins, "\"\(alone.rawValue)\" requires \"pins\".", alone.rawValue)
        }
        guard isGiven(.pinsExpire) == isGiven(.afterExpiry) else {
            let missing = isGiven(.pinsExpire) ? "afterExpiry" : "pinsExpire"
            throw error(.missingPolicyKey, "\"pinsExpire\" and \"afterExpiry\" have to be given together.", missing)
        }
    }
}
