internal import FoundationEssentials

/// Makes of a file's rule what it stands for, piece by piece; each piece's errors say where it stands.
struct PolicyRuleReader {
    let rule: SecurityPolicyDocument.Rule
    /// `rules[0]`.
    let path: String
    let file: String?
    let folder: String

    func rules() throws(SecurityError) -> [HostRule] {
        let evaluator = try evaluator()
        var rules: [HostRule] = []
        for index in rule.hosts.indices { rules.append(HostRule(try pattern(index), evaluator)) }
        return rules
    }

    func pattern(_ index: Int) throws(SecurityError) -> HostPattern {
        try located("hosts[\(index)]") { () throws(SecurityError) in try HostPattern(rule.hosts[index]) }
    }

    /// A pin of the rule, or of its backups.
    func pin(_ key: SecurityPolicyDocument.Rule.Key, _ index: Int, _ text: String) throws(SecurityError) -> PublicKeyPin
    {
        try located("\(key.rawValue)[\(index)]") { () throws(SecurityError) in try PublicKeyPin(text) }
    }

    func anchorCertificates(_ index: Int) throws(SecurityError) -> [Certificate] {
        try located("anchors[\(index)]") { () throws(SecurityError) in
            try Certificate.all(contentsOfFile: SecurityPolicyFile.resolve(rule.anchors[index], in: folder))
        }
    }

    /// What the rule's keys say together that cannot be meant.
    func checkForm() throws(SecurityError) {
        guard !rule.hosts.isEmpty else { throw error(.missingPolicyKey, "The rule is for no host.", "hosts") }
        try checkAnchors()
        try checkPins()
        _ = try profile()
    }

    /// The profile without the rules that are allowed; each has to be one that it would enforce.
    private func profile() throws(SecurityError) -> ChainProfile {
        guard rule.trust != .refuse || (rule.profile == .default && rule.allowedRules.isEmpty) else {
            let key = rule.allowedRules.isEmpty ? "profile" : "allowedRules"
            throw error(.unenforceablePolicy, "Hosts that are refused are not judged.", key)
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
                throw error(.unknownChainRule, "\"\(name.oneLine)\" is no rule for chains.", place)
            }
            guard profile.rules.contains(allowed) else {
                throw error(
                    .unenforceablePolicy, "\"\(name)\" stands above already, or is none of the profile's rules.", place)
            }
            profile = profile.allowing(allowed)
        }
        return profile
    }

    private func checkAnchors() throws(SecurityError) {
        let usesAnchors = rule.trust == .anchors || rule.trust == .systemAndAnchors
        guard usesAnchors || rule.anchors.isEmpty else {
            throw error(
                .unenforceablePolicy, "With \"trust\": \"\(rule.trust.rawValue)\" no anchor is used.", "anchors")
        }
        guard !usesAnchors || !rule.anchors.isEmpty else {
            throw error(.missingPolicyKey, "With \"trust\": \"\(rule.trust.rawValue)\" there must be one.", "anchors")
        }
    }

    private func checkPins() throws(SecurityError) {
        let pins = rule.pins ?? []
        guard rule.pins == nil || !pins.isEmpty else {
            throw error(.noPins, "There must be one, or no such key.", "pins")
        }
        guard rule.trust != .refuse || pins.isEmpty else {
            throw error(.unenforceablePolicy, "Hosts that are refused need no pins.", "pins")
        }
        let needs: [(isGiven: Bool, key: String)] = [
            (!rule.backupPins.isEmpty, "backupPins"), (rule.pinPosition != .anyInVerifiedChain, "pinPosition"),
            (rule.pinsExpire != nil, "pinsExpire"), (rule.afterExpiry != nil, "afterExpiry"),
        ]
        if pins.isEmpty, let alone = needs.first(where: \.isGiven) {
            throw error(.noPins, "\"\(alone.key)\" says nothing without \"pins\".", alone.key)
        }
        guard (rule.pinsExpire == nil) == (rule.afterExpiry == nil) else {
            let missing = rule.pinsExpire == nil ? "pinsExpire" : "afterExpiry"
            throw error(.missingPolicyKey, "\"pinsExpire\" and \"afterExpiry\" go together.", missing)
        }
    }

    private func evaluator() throws(SecurityError) -> any TrustEvaluator {
        try checkForm()
        guard rule.trust != .refuse else { return observed(RefusingEvaluator(), otherwise: SystemTrustEvaluator()) }
        let anchors = try anchors()
        let profile = try profile()
        let unpinned = SystemTrustEvaluator(anchors: anchors, profile: profile)
        guard let set = try pinSet() else { return observed(unpinned, otherwise: SystemTrustEvaluator()) }
        return observed(try PinSetEvaluator(set, anchors: anchors, profile: profile), otherwise: unpinned)
    }

    private func observed(_ strict: any TrustEvaluator, otherwise lax: SystemTrustEvaluator) -> any TrustEvaluator {
        rule.reportOnly ? ReportOnlyEvaluator(strict, enforcing: lax) : strict
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

    private func error(_ code: SecurityError.Code, _ message: String, _ key: String) -> SecurityError {
        SecurityError(code, message, path: path + "." + key)
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
