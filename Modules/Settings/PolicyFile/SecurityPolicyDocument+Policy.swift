internal import FoundationEssentials
internal import LinnetMessages
public import LinnetSecurity

extension SecurityPolicyDocument {
    /// Writes a policy that the factories of this module have made.
    ///
    /// A policy that is made from the document makes the same decisions. Certificates, even from files, are written as
    /// PEM text, dates to the millisecond, and durations to the nanosecond. The policy's `SecurityPolicy.reporter` is
    /// omitted: add one with `SecurityPolicy.reporting(to:)`.
    ///
    /// - Throws: `SecurityError.Code.unencodablePolicy` for a custom evaluator, for `.accepting(_:unless:)`, which
    ///   calls a closure, and for combinations that are nested more than eight levels deep. `SecurityError.path`
    ///   gives the location.
    public init(_ policy: SecurityPolicy) throws(SecurityError) {
        self.init()
        for (index, rule) in policy.rules.enumerated() {
            var written = try Rule.written(rule.evaluator, at: "rules[\(index)]")
            // Rules that say the same become one, as in a file.
            if let last = rules.last, last.saysTheSame(as: written) {
                rules[rules.count - 1].hosts.append(rule.pattern.description)
            } else {
                written.hosts = [rule.pattern.description]
                rules.append(written)
            }
        }
        let others = try Rule.written(policy.otherHosts, at: "otherHosts")
        otherHosts = others == Rule() ? nil : others == Rule(trust: .refuse) ? .refuse : .rule(others)
        allowsSessionResumption = policy.allowsSessionResumption ? nil : false
    }
}

extension SecurityPolicyDocument.Rule {
    /// A rule without hosts for an evaluator.
    fileprivate static func written(
        _ evaluator: any TrustEvaluator, at path: String
    ) throws(SecurityError) -> SecurityPolicyDocument.Rule {
        do throws(SecurityError) {
            let rule = try writing(evaluator)
            guard rule.nestedLevels <= SecurityPolicyDocument.NestedRule.maximumDepth else {
                throw SecurityError(
                    .unencodablePolicy,
                    "Evaluators are nested more than \(SecurityPolicyDocument.NestedRule.maximumDepth) levels deep.")
            }
            return rule
        } catch {
            var error = error
            error.path = path
            throw error
        }
    }

    private static func writing(_ evaluator: any TrustEvaluator) throws(SecurityError) -> SecurityPolicyDocument.Rule {
        guard let form = evaluator.form else {
            throw SecurityError(
                .unencodablePolicy,
                "The evaluator \"\(String(reflecting: type(of: evaluator)).oneLine)\" is not one of LinnetSecurity's, "
                    + "and cannot be written.")
        }
        return try SecurityPolicyDocument.Rule(form)
    }

    private init(_ form: EvaluatorForm) throws(SecurityError) {
        switch form {
        case .chain(let chain): try self.init(chain)
        case .pins(let set, let chain): self = try Self(chain).pinning(set)
        case .certificatePins(let certificates, let position, let chain):
            try self.init(chain)
            pinnedCertificates = certificates.map(\.pemText)
            pinPosition = position
            guard !chain.anchors.includesSystem, chain.anchors.certificates == certificates else { return }
            (trust, anchors) = (.pinnedCertificates, [])
        case .pinningMode(let mode, let certificates, let anchors, let allowsInvalid, let validatesHost):
            try self.init(anchors)
            pinningMode = mode
            pinnedCertificates = certificates.isEmpty ? nil : certificates.map(\.pemText)
            allowInvalidCertificates = allowsInvalid
            validatesDomainName = validatesHost
        case .hostname: self.init(trust: .hostname)
        case .refusal: self.init(trust: .refuse)
        case .anyCertificate: self.init(trust: .insecureAcceptAnyCertificate)
        case .cleartext, .reportOnly, .allOf, .anyOf, .closure: try self.init(combination: form)
        }
    }

    private init(combination form: EvaluatorForm) throws(SecurityError) {
        self.init()
        switch form {
        case .cleartext(let evaluator):
            self = try Self.writing(evaluator)
            insecureAllowsCleartext = true
        case .reportOnly(let evaluator, enforced: let enforced):
            self = try Self.writing(enforced)
            observed.append(try Self.writing(evaluator))
        case .allOf(let members):
            for member in members { allOf.append(try Self.writing(member)) }
        case .anyOf(let members):
            for member in members { anyOf.append(try Self.writing(member)) }
        default:
            throw SecurityError(
                .unencodablePolicy,
                "An evaluator asks a closure (\"accepting(_:unless:)\"), which cannot be written.")
        }
    }

    private init(_ chain: EvaluatorForm.Chain) throws(SecurityError) {
        try self.init(chain.anchors)
        setProfile(chain.profile)
        validatesDomainName = chain.validatesHost
    }

    init(trust: Trust) {
        self.init()
        self.trust = trust
    }

    private init(_ anchors: TrustAnchors) throws(SecurityError) {
        self.init()
        guard !anchors.isAtLocation else {
            throw SecurityError(.unencodablePolicy, "Anchors at a location of the system cannot be written.")
        }
        self.anchors = anchors.certificates.map(\.pemText)
        trust = self.anchors.isEmpty ? .system : anchors.includesSystem ? .systemAndAnchors : .anchors
    }

    private func pinning(_ set: PinSet) -> SecurityPolicyDocument.Rule {
        var rule = self
        let (pins, backups) = set.pins.isEmpty ? (set.backupPins, []) : (set.pins, set.backupPins)
        (rule.pins, rule.backupPins) = (pins.map(\.description), backups.map(\.description))
        rule.pinPosition = set.position
        (rule.pinsExpire, rule.afterExpiry) = (set.expiry?.date, set.expiry?.consequence)
        return rule
    }

    private mutating func setProfile(_ profile: ChainProfile) {
        guard let (name, allowed) = profile.nameAndAllowedRules else {
            chainProfile = profile
            return
        }
        (self.profile, allowedRules) = (name, allowed)
    }

    /// The rules within this one.
    var nested: [SecurityPolicyDocument.Rule] { observed + allOf + anyOf }

    private var nestedLevels: Int { nested.map { 1 + $0.nestedLevels }.max() ?? 0 }

    /// Whether the rules differ in nothing but their hosts.
    fileprivate func saysTheSame(as other: SecurityPolicyDocument.Rule) -> Bool {
        var other = other
        other.hosts = hosts
        return self == other
    }
}
