internal import FoundationEssentials

/// Converts a rule of a file, part by part; errors carry the location of the part.
struct PolicyRuleReader {
    let rule: SecurityPolicyDocument.Rule
    /// `rules[0]`.
    let path: String
    let part: SecurityPolicyFile.Part

    func rules() throws(SecurityError) -> [HostRule] {
        let evaluator = try evaluator()
        var rules: [HostRule] = []
        for index in rule.hosts.indices { rules.append(HostRule(try pattern(index), evaluator)) }
        return rules
    }

    func pattern(_ index: Int) throws(SecurityError) -> HostPattern {
        try located("hosts[\(index)]") { () throws(SecurityError) in try HostPattern(rule.hosts[index]) }
    }

    /// A pin or backup pin of the rule.
    func pin(_ key: SecurityPolicyDocument.Rule.Key, _ index: Int, _ text: String) throws(SecurityError) -> PublicKeyPin
    {
        try located("\(key.rawValue)[\(index)]") { () throws(SecurityError) in try PublicKeyPin(text) }
    }

    func anchorCertificates(_ index: Int) throws(SecurityError) -> [Certificate] {
        try located("anchors[\(index)]") { () throws(SecurityError) in
            try Certificate.all(contentsOfFile: SecurityPolicyFile.resolve(rule.anchors[index], in: part.folder))
        }
    }

    /// Checks that the keys of the rule are consistent.
    func checkForm() throws(SecurityError) {
        guard !rule.hosts.isEmpty else { throw error(.missingPolicyKey, "The rule has no hosts.", "hosts") }
        try checkAnchors()
        try checkPins()
        _ = try profile()
    }

    /// The profile without the allowed rules, each of which it has to include.
    private func profile() throws(SecurityError) -> ChainProfile {
        guard rule.trust != .refuse || (rule.profile == .default && rule.allowedRules.isEmpty) else {
            let key = rule.allowedRules.isEmpty ? "profile" : "allowedRules"
            throw error(
                .unenforceablePolicy, "A rule with \"trust\": \"refuse\" evaluates no chain; remove this key.", key)
        }
        var profile: ChainProfile =
            switch rule.profile {
            case .default: .default
            case .strict: .strict
            case .lenient: .lenient
            }
        for (index, name) in rule.allowedRules.enumerated() {
            let place = "allowedRules[\(index)]"
            guard let allowed = ChainRule.allCases.first(where: { $0.description == name }) else {
                throw error(.unknownChainRule, "\"\(name.oneLine)\" is not a chain rule.", place)
            }
            guard profile.rules.contains(allowed) else {
                throw error(
                    .unenforceablePolicy, "\"\(name)\" is repeated, or is not a rule of the profile.", place)
            }
            profile = profile.allowing(allowed)
        }
        return profile
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
        let pins = rule.pins ?? []
        guard rule.pins == nil || !pins.isEmpty else {
            throw error(.noPins, "The list is empty; add a pin or remove this key.", "pins")
        }
        guard rule.trust != .refuse || pins.isEmpty else {
            throw error(.unenforceablePolicy, "A rule with \"trust\": \"refuse\" has no pins; remove this key.", "pins")
        }
        let needs: [(isGiven: Bool, key: String)] = [
            (!rule.backupPins.isEmpty, "backupPins"), (rule.pinPosition != .anyInVerifiedChain, "pinPosition"),
            (rule.pinsExpire != nil, "pinsExpire"), (rule.afterExpiry != nil, "afterExpiry"),
        ]
        if pins.isEmpty, let alone = needs.first(where: \.isGiven) {
            throw error(.noPins, "\"\(alone.key)\" requires \"pins\".", alone.key)
        }
        guard (rule.pinsExpire == nil) == (rule.afterExpiry == nil) else {
            let missing = rule.pinsExpire == nil ? "pinsExpire" : "afterExpiry"
            throw error(.missingPolicyKey, "\"pinsExpire\" and \"afterExpiry\" have to be given together.", missing)
        }
    }

    private func evaluator() throws(SecurityError) -> StandardTrustEvaluator {
        try checkForm()
        guard rule.trust != .refuse else { return observed(.refuse, otherwise: .systemTrust) }
        let anchors = try anchors()
        let profile = try profile()
        let unpinned = StandardTrustEvaluator.systemTrust(anchors: anchors, profile: profile)
        guard let set = try pinSet() else { return observed(unpinned, otherwise: .systemTrust) }
        return observed(try .pins(set, anchors: anchors, profile: profile), otherwise: unpinned)
    }

    private func observed(
        _ strict: StandardTrustEvaluator, otherwise lax: StandardTrustEvaluator
    ) -> StandardTrustEvaluator {
        rule.reportOnly ? .reportOnly(strict, enforcing: lax) : strict
    }

    private func anchors() throws(SecurityError) -> TrustAnchors {
        guard !rule.anchors.isEmpty else { return .system }
        var certificates: [Certificate] = []
        for index in rule.anchors.indices { certificates += try anchorCertificates(index) }
        return rule.trust == .anchors ? try .certificates(certificates) : try TrustAnchors.system.adding(certificates)
    }

    private func pinSet() throws(SecurityError) -> PinSet? {
        guard let texts = rule.pins else { return nil }
        var set = PinSet([], position: rule.pinPosition)
        for (index, text) in texts.enumerated() { set.pins.append(try pin(.pins, index, text)) }
        for (index, text) in rule.backupPins.enumerated() {
            set.backupPins.append(try pin(.backupPins, index, text))
        }
        if let date = rule.pinsExpire, let consequence = rule.afterExpiry {
            set.expiry = PinExpiry(date, then: consequence)
        }
        return set
    }

    func error(_ code: SecurityError.Code, _ message: String, _ key: String) -> SecurityError {
        part.locate(SecurityError(code, message), at: path + "." + key)
    }

    private func located<Result>(
        _ key: String, _ make: () throws(SecurityError) -> Result
    ) throws(SecurityError) -> Result {
        do {
            return try make()
        } catch {
            throw self.error(error.code, error.message, key)
        }
    }
}
