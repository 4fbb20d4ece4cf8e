public import FoundationEssentials

extension SecurityPolicyFile {
    /// What is wrong with the policy, or will be: in the order of the rules.
    ///
    /// - Parameters:
    ///   - date: The moment for which expiry is judged.
    ///   - notice: How long before it pins count as expiring soon, in days. The default is 30.
    ///
    /// No finding is an error exactly when ``makePolicy()`` succeeds. Public suffixes are known by a short list of the usual
    /// ones, not by the whole Public Suffix List: that a pattern is not found says little.
    public func findings(at date: Date, expiryNotice notice: Double = 30) -> [PolicyFinding] {
        let readers = ruleReaders()
        let reach = PatternReach(readers)
        return readers.enumerated().flatMap { index, reader in
            let check = PolicyRuleCheck(reader: reader, date: date, notice: notice * 86_400)
            return check.findings() + reach.findings(index)
        }
    }
}

/// What one rule is checked for.
struct PolicyRuleCheck {
    let reader: PolicyRuleReader
    let date: Date
    let notice: TimeInterval

    private typealias Key = SecurityPolicyDocument.Rule.Key

    func findings() -> [PolicyFinding] {
        let rule = reader.rule
        var findings = problem(.contradictoryRule) { () throws(SecurityError) in try reader.checkForm() }
        for index in rule.hosts.indices { findings += hostFindings(index) }
        for index in rule.anchors.indices {
            findings += problem(.unreadableAnchors) { () throws(SecurityError) in
                _ = try reader.anchorCertificates(index)
            }
            findings += anchorFindings(index)
        }
        return findings + profileFindings() + pinFindings() + expiryFindings()
    }

    /// What the authorities among the anchors say that they cannot mean. A server's own certificate is no authority's.
    private func anchorFindings(_ index: Int) -> [PolicyFinding] {
        let anchors = (try? reader.anchorCertificates(index)) ?? []
        return anchors.compactMap { anchor in
            let isServers = anchor.handle.facts?.known.alternativeNames?.contains(where: \.isForHost) ?? false
            guard !isServers, let flaw = anchor.handle.anchorFlaw else { return nil }
            return reader.finding(
                .flawedAnchor, .warning, "anchors[\(index)]",
                "The anchor \"\(anchor.subject.oneLine)\" \(flaw) (\(ChainRule.flawedAnchor.citation)).")
        }
    }

    private func profileFindings() -> [PolicyFinding] {
        guard reader.rule.profile == .lenient else { return [] }
        return [
            reader.finding(
                .lenientProfile, .warning, "profile",
                "Much is accepted that RFC 5280 forbids; allow the rules that are broken by name, as \"allowedRules\".")
        ]
    }

    private func hostFindings(_ index: Int) -> [PolicyFinding] {
        guard let pattern = try? reader.pattern(index) else {
            return problem(.malformedPattern) { () throws(SecurityError) in _ = try reader.pattern(index) }
        }
        guard let suffix = PublicSuffixes.suffix(of: pattern) else { return [] }
        return [
            reader.finding(
                .publicSuffixPattern, .warning, "hosts[\(index)]",
                "Strangers can register names below \"\(suffix)\"; name the domain that is meant.")
        ]
    }

    private func pinFindings() -> [PolicyFinding] {
        guard let pins = reader.rule.pins, !pins.isEmpty else { return [] }
        var findings: [PolicyFinding] = []
        var seen: Set<PublicKeyPin> = []
        for (key, texts) in [(Key.pins, pins), (.backupPins, reader.rule.backupPins)] {
            for (index, text) in texts.enumerated() { findings += pinFindings(key, index, text, &seen) }
        }
        if pins.count + reader.rule.backupPins.count > 0, seen.count == 1 {
            findings.append(
                reader.finding(
                    .noBackupPin, .warning, "pins",
                    "One key alone is pinned; add that of a key that is kept elsewhere, as \"backupPins\"."))
        }
        return findings
    }

    private func pinFindings(
        _ key: Key, _ index: Int, _ text: String, _ seen: inout Set<PublicKeyPin>
    ) -> [PolicyFinding] {
        let place = "\(key.rawValue)[\(index)]"
        guard let pin = try? reader.pin(key, index, text) else {
            return problem(.malformedPin) { () throws(SecurityError) in _ = try reader.pin(key, index, text) }
        }
        if pin.isImpossible {
            return [reader.finding(.impossiblePin, .warning, place, "\"\(pin)\" is the digest of no key.")]
        }
        guard seen.insert(pin).inserted else {
            return [reader.finding(.repeatedPin, .warning, place, "\"\(pin)\" stands above already.")]
        }
        return []
    }

    private func expiryFindings() -> [PolicyFinding] {
        guard let end = reader.rule.pinsExpire else { return [] }
        let day = end.formatted(.iso8601)
        let then = reader.rule.afterExpiry == .refuse ? "every connection is refused" : "nothing is pinned"
        if end <= date {
            return [reader.finding(.expired, .warning, "pinsExpire", "The pins expired on \(day); since then \(then).")]
        }
        guard end.timeIntervalSince(date) <= notice else { return [] }
        return [reader.finding(.expiryNear, .warning, "pinsExpire", "The pins expire on \(day); from then on \(then).")]
    }

    private func problem(
        _ kind: PolicyFinding.Kind, _ make: () throws(SecurityError) -> Void
    ) -> [PolicyFinding] {
        do {
            try make()
            return []
        } catch {
            return [
                PolicyFinding(
                    kind: kind, severity: .error, file: reader.file, path: error.path ?? reader.path,
                    message: error.message)
            ]
        }
    }
}

extension PolicyRuleReader {
    func finding(
        _ kind: PolicyFinding.Kind, _ severity: PolicyFinding.Severity, _ key: String, _ message: String
    ) -> PolicyFinding {
        PolicyFinding(kind: kind, severity: severity, file: file, path: path + "." + key, message: message)
    }
}

extension PublicKeyPin {
    /// Whether it can only be a stand-in: all bytes the same, or the digest of nothing.
    fileprivate var isImpossible: Bool {
        Set(digest).count == 1 || self == PublicKeyPin(subjectPublicKeyInfo: Data())
    }
}
