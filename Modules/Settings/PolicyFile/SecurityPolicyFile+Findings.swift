public import FoundationEssentials
internal import LinnetMessages
internal import LinnetSecurity

extension SecurityPolicyFile {
    /// Checks the policy for errors and for problems that will become errors, in the order of the rules.
    ///
    /// - Parameters:
    ///   - date: The time of the check.
    ///   - notice: How long before their expiry pins are reported, in days. The default is 30.
    ///
    /// - Returns: The findings. None has the severity error exactly if ``makePolicy()`` succeeds. Public suffixes are
    ///   taken from a short list of common ones, not from the whole Public Suffix List.
    public func findings(at date: Date, expiryNotice notice: Double = 30) -> [Finding] {
        let readers = ruleReaders()
        let reach = PatternReach(readers)
        let findings = readers.enumerated().flatMap { index, reader in
            PolicyRuleCheck(reader: reader, date: date, notice: notice * 86_400).findings() + reach.findings(index)
        }
        let others = otherHostsReader().map { PolicyRuleCheck(reader: $0, date: date, notice: notice * 86_400) }
        return findings + (others?.findings() ?? [])
    }
}

/// The check of a rule.
struct PolicyRuleCheck {
    let reader: PolicyRuleReader
    let date: Date
    let notice: TimeInterval

    private typealias Key = SecurityPolicyDocument.Rule.Key

    func findings() -> [SecurityPolicyFile.Finding] {
        let rule = reader.rule
        var findings = problem(.contradictoryRule) { () throws(SecurityError) in try reader.checkForm() }
        for index in rule.hosts.indices { findings += hostFindings(index) }
        for index in rule.anchors.indices {
            findings += problem(.unreadableAnchors) { () throws(SecurityError) in
                _ = try reader.anchorCertificates(index)
            }
            findings += anchorFindings(index)
        }
        for (index, text) in (rule.pinnedCertificates ?? []).enumerated() {
            findings += problem(.unreadableAnchors) { () throws(SecurityError) in
                _ = try reader.pinnedCertificates(index, text)
            }
        }
        findings += insecureFindings() + profileFindings() + pinFindings() + expiryFindings()
        return findings + reader.nested.flatMap { PolicyRuleCheck(reader: $0, date: date, notice: notice).findings() }
    }

    /// Settings under which a server need not prove that it is the requested host.
    private func insecureFindings() -> [SecurityPolicyFile.Finding] {
        let rule = reader.rule
        let acceptsAny = "Any server is accepted, so that the connection can be intercepted."
        let found: [(isGiven: Bool, key: String, message: String)] = [
            (rule.trust == .insecureAcceptAnyCertificate, "trust", acceptsAny),
            (rule.pinningMode == PinningMode.none && rule.allowInvalidCertificates, "pinningMode", acceptsAny),
            (
                rule.trust == .hostname && !reader.path.contains(".allOf["), "trust",
                "Any server with a certificate for the host is accepted, also with one that it issued to itself."
            ),
            (!rule.validatesDomainName, "validatesDomainName", "A certificate for any other host is accepted, too."),
            (
                rule.insecureAllowsCleartext, "insecureAllowsCleartext",
                "Requests in clear text can be read and changed in transit."
            ),
        ]
        return found.filter(\.isGiven).map { reader.finding(.insecureRule, .warning, at: $0.key, $0.message) }
    }

    /// The flaws of the authorities among the anchors. A server's own certificate is not checked.
    private func anchorFindings(_ index: Int) -> [SecurityPolicyFile.Finding] {
        let anchors = (try? reader.anchorCertificates(index)) ?? []
        return anchors.compactMap { anchor in
            guard let flaw = anchor.authorityFlaw else { return nil }
            return reader.finding(
                .flawedAnchor, .warning, at: "anchors[\(index)]",
                "The anchor \"\(anchor.subject.oneLine)\" \(flaw) (\(ChainRule.flawedAnchor.citation)).")
        }
    }

    private func profileFindings() -> [SecurityPolicyFile.Finding] {
        let base = ChainProfile.lenient.rules
        let isLenient = reader.rule.profile == .lenient || reader.rule.chainProfile.map { $0.rules == base } ?? false
        guard isLenient else { return [] }
        return [
            reader.finding(
                .lenientProfile, .warning, at: reader.rule.profile == .lenient ? "profile" : "chainProfile",
                "The profile accepts much that RFC 5280 forbids; name the violated rules in \"allowedRules\" instead.")
        ]
    }

    private func hostFindings(_ index: Int) -> [SecurityPolicyFile.Finding] {
        guard let pattern = try? reader.pattern(index) else {
            return problem(.malformedPattern) { () throws(SecurityError) in _ = try reader.pattern(index) }
        }
        guard let suffix = PublicSuffixes.suffix(of: pattern) else { return [] }
        return [
            reader.finding(
                .publicSuffixPattern, .warning, at: "hosts[\(index)]",
                "Anyone can register names below \"\(suffix)\"; name the intended domain.")
        ]
    }

    private func pinFindings() -> [SecurityPolicyFile.Finding] {
        guard let pins = reader.rule.pins, !pins.isEmpty else { return [] }
        var findings: [SecurityPolicyFile.Finding] = []
        var seen: Set<PublicKeyPin> = []
        for (key, texts) in [(Key.pins, pins), (.backupPins, reader.rule.backupPins)] {
            for (index, text) in texts.enumerated() { findings += pinFindings(key, at: index, text, seen: &seen) }
        }
        if pins.count + reader.rule.backupPins.count > 0, seen.count == 1 {
            findings.append(
                reader.finding(
                    .noBackupPin, .warning, at: "pins",
                    "Only one key is pinned; add the pin of a key that is stored elsewhere to \"backupPins\"."))
        }
        return findings
    }

    private func pinFindings(
        _ key: Key, at index: Int, _ text: String, seen: inout Set<PublicKeyPin>
    ) -> [SecurityPolicyFile.Finding] {
        let place = "\(key.rawValue)[\(index)]"
        guard let pin = try? reader.pin(key, index, text) else {
            return problem(.malformedPin) { () throws(SecurityError) in _ = try reader.pin(key, index, text) }
        }
        if pin.isImpossible {
            return [reader.finding(.impossiblePin, .warning, at: place, "\"\(pin)\" is not the digest of a key.")]
        }
        guard seen.insert(pin).inserted else {
            return [reader.finding(.repeatedPin, .warning, at: place, "\"\(pin)\" is repeated; remove one.")]
        }
        return []
    }

    private func expiryFindings() -> [SecurityPolicyFile.Finding] {
        guard let end = reader.rule.pinsExpire else { return [] }
        let day = end.formatted(.iso8601)
        let then = reader.rule.afterExpiry == .refuse ? "every connection is refused" : "nothing is pinned"
        if end <= date {
            return [
                reader.finding(.expired, .warning, at: "pinsExpire", "The pins expired on \(day); since then \(then).")
            ]
        }
        guard end.timeIntervalSince(date) <= notice else { return [] }
        return [
            reader.finding(.expiryNear, .warning, at: "pinsExpire", "The pins expire on \(day); from then on \(then).")
        ]
    }

    private func problem(
        _ kind: SecurityPolicyFile.Finding.Kind, _ make: () throws(SecurityError) -> Void
    ) -> [SecurityPolicyFile.Finding] {
        do {
            try make()
            return []
        } catch {
            return [
                SecurityPolicyFile.Finding(
                    kind: kind, severity: .error, file: error.file, line: error.line, path: error.path ?? reader.path,
                    message: error.message)
            ]
        }
    }
}

extension PolicyRuleReader {
    func finding(
        _ kind: SecurityPolicyFile.Finding.Kind, _ severity: SecurityPolicyFile.Finding.Severity, at key: String,
        _ message: String
    ) -> SecurityPolicyFile.Finding {
        SecurityPolicyFile.Finding(
            kind: kind, severity: severity, file: part.path, line: part.text?.line(of: path + "." + key),
            path: path + "." + key, message: message)
    }
}

extension PublicKeyPin {
    /// Whether the pin can only be a placeholder: all bytes equal, or the digest of empty input.
    fileprivate var isImpossible: Bool {
        Set(digest).count == 1 || self == PublicKeyPin(subjectPublicKeyInfo: Data())
    }
}

/// Finds the patterns of a file that can never apply.
struct PatternReach {
    private let readers: [PolicyRuleReader]
    /// The patterns of each rule; nil for an invalid one.
    private let patterns: [[HostPattern?]]

    init(_ readers: [PolicyRuleReader]) {
        self.readers = readers
        patterns = readers.map { reader in reader.rule.hosts.indices.map { try? reader.pattern($0) } }
    }

    /// The findings for a rule.
    func findings(_ rule: Int) -> [SecurityPolicyFile.Finding] {
        patterns[rule].enumerated().compactMap { host, pattern in
            guard let pattern else { return nil }
            if let other = earlier(rule, host, pattern) {
                return readers[rule].finding(
                    .unreachableRule, .error, at: "hosts[\(host)]",
                    "\"\(pattern)\" is already in \(other); remove one of them.")
            }
            guard case .range(let range) = pattern.form, isCovered(range, by: narrower(range)) else { return nil }
            return readers[rule].finding(
                .unreachableRule, .warning, at: "hosts[\(host)]", "Other rules cover all addresses of \"\(pattern)\".")
        }
    }

    /// The place of an earlier rule with the same pattern.
    private func earlier(_ rule: Int, _ host: Int, _ pattern: HostPattern) -> String? {
        for index in 0...rule {
            let before = index == rule ? patterns[index].prefix(host) : patterns[index][...]
            guard let found = before.firstIndex(of: pattern) else { continue }
            let file =
                readers[index].part.path == readers[rule].part.path
                ? "" : (readers[index].part.path?.oneLine ?? "") + ": "
            return file + readers[index].path + ".hosts[\(found)]"
        }
        return nil
    }

    private func narrower(_ range: AddressRange) -> [AddressRange] {
        patterns.joined().compactMap { pattern in
            switch pattern?.form {
            case .range(let other) where other != range && range.contains(other): other
            case .exact(.address(let bytes)):
                AddressRange(bytes, prefixLength: bytes.count * 8).flatMap { range.contains($0) ? $0 : nil }
            default: nil
            }
        }
    }

    /// Halves the range until a narrower one covers the half or none overlaps it. The bits of the ranges limit the
    /// number of steps.
    private func isCovered(_ range: AddressRange, by ranges: [AddressRange]) -> Bool {
        if ranges.contains(where: { $0.contains(range) }) { return true }
        let within = ranges.filter { range.contains($0) }
        guard !within.isEmpty, let (low, high) = range.halves else { return false }
        return isCovered(low, by: within) && isCovered(high, by: within)
    }
}

/// Suffixes under which anyone can register names.
///
/// A short list of common ones: the Public Suffix List (publicsuffix.org) changes every week and has ten thousand
/// entries.
enum PublicSuffixes {
    /// The public suffix directly below a wildcard; nil for other patterns.
    static func suffix(of pattern: HostPattern) -> String? {
        switch pattern.form {
        case .oneLabel(let base), .anyDepth(let base): isPublic(base) ? base : nil
        case .exact, .range, .singleLabel, .privateUse: nil
        }
    }

    private static func isPublic(_ name: String) -> Bool {
        // Every top-level name is one, except for the reserved names (RFC 6761, RFC 6762).
        guard HostName.labels(name) > 1 else { return !reserved.contains(name) }
        return known.contains(name)
    }

    private static let reserved: Set<String> = ["localhost", "local", "internal", "test", "example", "invalid", "lan"]

    private static let known: Set<String> = [
        "co.uk", "org.uk", "gov.uk", "ac.uk", "me.uk", "com.au", "net.au", "org.au", "gov.au", "co.nz", "org.nz",
        "co.jp", "or.jp", "ne.jp", "ac.jp", "go.jp", "co.kr", "or.kr", "com.cn", "net.cn", "org.cn", "gov.cn",
        "com.tw", "com.hk", "com.sg", "com.my", "co.id", "co.th", "com.vn", "com.ph", "co.in", "net.in", "org.in",
        "com.br", "net.br", "org.br", "gov.br", "com.ar", "com.mx", "com.co", "com.pe", "co.za", "org.za", "com.ng",
        "com.eg", "co.il", "org.il", "com.tr", "com.ua", "com.pl", "com.es", "com.pt", "com.gr",
        "github.io", "gitlab.io", "pages.dev", "workers.dev", "vercel.app", "netlify.app", "web.app", "firebaseapp.com",
        "herokuapp.com", "appspot.com", "azurewebsites.net", "cloudfront.net", "amazonaws.com", "s3.amazonaws.com",
        "fly.dev", "onrender.com", "blogspot.com", "cloudapp.net", "ngrok.io", "ngrok.app", "duckdns.org",
    ]
}
