internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSecurity

/// Converts a rule of a file, part by part; errors carry the location of the part.
struct PolicyRuleReader {
    let rule: SecurityPolicyDocument.Rule
    /// `rules[0]`.
    let path: String
    let part: SecurityPolicyFile.Part
    /// Whether the rule has no hosts, because it is within another one or for other hosts.
    var isNested = false

    /// The rules within this one.
    var nested: [PolicyRuleReader] {
        nested(.observed, rule.observed) + nested(.allOf, rule.allOf) + nested(.anyOf, rule.anyOf)
    }

    private func nested(
        _ key: SecurityPolicyDocument.Rule.Key, _ rules: [SecurityPolicyDocument.Rule]
    ) -> [PolicyRuleReader] {
        rules.enumerated().map { index, rule in
            PolicyRuleReader(rule: rule, path: "\(path).\(key.rawValue)[\(index)]", part: part, isNested: true)
        }
    }

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

    func anchorCertificates(_ index: Int) throws(SecurityError) -> [X509Certificate] {
        try certificates("anchors[\(index)]", rule.anchors[index])
    }

    func pinnedCertificates(_ index: Int, _ text: String) throws(SecurityError) -> [X509Certificate] {
        try certificates("pinnedCertificates[\(index)]", text)
    }

    /// The certificates of a PEM text or a file.
    private func certificates(_ place: String, _ text: String) throws(SecurityError) -> [X509Certificate] {
        try located(place) { () throws(SecurityError) in
            PEM.isPEM(text)
                ? try X509Certificate.all(pem: Data(text.utf8))
                : try X509Certificate.all(contentsOfFile: SecurityPolicyFile.resolve(text, in: part.folder))
        }
    }

    /// The profile without the allowed rules. It must include each of them.
    func profile() throws(SecurityError) -> ChainProfile {
        if let profile = rule.chainProfile { return profile }
        var profile = rule.profile.chainProfile
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

    func evaluator() throws(SecurityError) -> any TrustEvaluator {
        try checkForm()
        var evaluator = try enforced()
        for reader in nested(.observed, rule.observed) {
            evaluator = StandardTrustEvaluator.reportOnly(try reader.evaluator(), enforcing: evaluator)
        }
        return rule.insecureAllowsCleartext ? evaluator.insecureAllowingCleartext() : evaluator
    }

    /// The evaluator that the rule enforces, without the rules that are only observed.
    private func enforced() throws(SecurityError) -> any TrustEvaluator {
        if let members = try members() { return observed(members, otherwise: .systemTrust) }
        switch rule.trust {
        case .refuse: return observed(.refuse, otherwise: .systemTrust)
        case .hostname: return observed(.hostname, otherwise: .systemTrust)
        case .insecureAcceptAnyCertificate: return observed(.insecureAcceptAnyCertificate, otherwise: .systemTrust)
        case .pinnedCertificates: return observed(try pinned(certificates(), anchors: nil), otherwise: .systemTrust)
        case .system, .anchors, .systemAndAnchors: break
        }
        let anchors = try anchors()
        if let mode = rule.pinningMode { return observed(try evaluator(mode, anchors), otherwise: .systemTrust) }
        let unpinned = StandardTrustEvaluator.systemTrust(
            anchors: anchors, validatesHost: rule.validatesDomainName, profile: try profile())
        if let set = try pinSet() { return observed(try pinned(set, anchors: anchors), otherwise: unpinned) }
        guard rule.pinnedCertificates != nil else { return observed(unpinned, otherwise: .systemTrust) }
        return observed(try pinned(certificates(), anchors: anchors), otherwise: unpinned)
    }

    private func pinned(_ set: PinSet, anchors: TrustAnchors) throws(SecurityError) -> StandardTrustEvaluator {
        try .pins(set, anchors: anchors, validatesHost: rule.validatesDomainName, profile: try profile())
    }

    private func pinned(
        _ certificates: [X509Certificate], anchors: TrustAnchors?
    ) throws(SecurityError) -> StandardTrustEvaluator {
        try .certificatePins(
            certificates, anchors: anchors, validatesHost: rule.validatesDomainName, position: rule.pinPosition,
            profile: try profile())
    }

    private func evaluator(
        _ mode: PinningMode, _ anchors: TrustAnchors
    ) throws(SecurityError) -> StandardTrustEvaluator {
        let certificates = try certificates()
        return try located("pinningMode") { () throws(SecurityError) in
            try .pinningMode(
                mode, certificates, allowsInvalid: rule.allowInvalidCertificates,
                validatesHost: rule.validatesDomainName, anchors: anchors)
        }
    }

    /// The evaluator of a rule with members; nil for another one.
    private func members() throws(SecurityError) -> StandardTrustEvaluator? {
        guard let readers = [nested(.allOf, rule.allOf), nested(.anyOf, rule.anyOf)].first(where: { !$0.isEmpty })
        else { return nil }
        var members: [any TrustEvaluator] = []
        for reader in readers { members.append(try reader.evaluator()) }
        let (first, others) = (members[0], Array(members.dropFirst()))
        return rule.allOf.isEmpty ? .anyOf(first: first, others: others) : .allOf(first: first, others: others)
    }

    private func observed(
        _ strict: StandardTrustEvaluator, otherwise lax: StandardTrustEvaluator
    ) -> StandardTrustEvaluator {
        rule.reportOnly ? .reportOnly(strict, enforcing: lax) : strict
    }

    private func certificates() throws(SecurityError) -> [X509Certificate] {
        var certificates: [X509Certificate] = []
        for (index, text) in (rule.pinnedCertificates ?? []).enumerated() {
            certificates += try pinnedCertificates(index, text)
        }
        return certificates
    }

    private func anchors() throws(SecurityError) -> TrustAnchors {
        guard !rule.anchors.isEmpty else { return .system }
        var certificates: [X509Certificate] = []
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
            set.expiry = PinSet.Expiry(date, then: consequence)
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
