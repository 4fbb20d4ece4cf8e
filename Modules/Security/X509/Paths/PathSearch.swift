internal import COpenSSL
internal import FoundationEssentials
internal import LinnetMessages

extension ChainVerifier {
    /// Finds a chain on another path than the refused one that OpenSSL, the name constraints and the profile accept.
    ///
    /// - Throws: The most telling refusal if no path is accepted or the search has reached its limits.
    func otherChain(
        _ trust: ServerTrust, presented: [X509Handle], in store: TrustStore, at time: Int,
        insteadOf refusal: TrustRefusal
    ) throws(TrustRefusal) -> [X509Handle] {
        // Another path has the same leaf.
        guard refusal.dependsOnPath, presented[0].validity(at: time) == .valid else { throw refusal }
        var (best, isOutOfTime) = (refusal, false)
        let search = pathSearch(presented, store) { certificate, position in
            guard certificate.validity(at: time) == .valid else {
                isOutOfTime = true
                return false
            }
            return violation(of: certificate, at: position, trust, chain: []) == nil
        }
        let chain = firstChain(trust, on: search, in: store, attempts: ChainLimits.paths) { other in
            if other.weight > best.weight { best = other }
        }
        if let chain { return chain }
        guard isOutOfTime, !best.isAboutTime else { throw best }
        throw pathOutOfTime(trust, presented, in: store, at: time) ?? best
    }

    private func pathSearch(
        _ presented: [X509Handle], _ store: TrustStore,
        admits: @escaping (X509Handle, ChainLink.Position) -> Bool
    ) -> PathSearch {
        PathSearch(
            presented: presented, store: store, allowsPartialChains: anchors.allowsPartialChains,
            maximumDepth: Int(profile.depth), admits: admits)
    }

    /// The first path of a search that is accepted.
    ///
    /// - Parameter refused: Called with the refusal of each path before it.
    private func firstChain(
        _ trust: ServerTrust, on search: PathSearch, in store: TrustStore, attempts: Int,
        refused: (TrustRefusal) -> Void
    ) -> [X509Handle]? {
        var (search, attempts, work) = (search, attempts, ChainLimits.nameComparisons * 2)
        return search.first { path in
            guard attempts > 0 else { return nil }
            do throws(TrustRefusal) {
                try checkNames(path, trust, &work)
                // Only paths that OpenSSL is asked about count here; the work on names has a limit of its own.
                attempts -= 1
                return try verify(path, for: trust, in: store, work: &work)
            } catch {
                refused(error)
                return nil
            }
        }
    }

    /// The refusal for a path with invalid dates only, which a renewal can correct; nil if there is none.
    private func pathOutOfTime(
        _ trust: ServerTrust, _ presented: [X509Handle], in store: TrustStore, at time: Int
    ) -> TrustRefusal? {
        let search = pathSearch(presented, store) { violation(of: $0, at: $1, trust, chain: []) == nil }
        let chain = firstChain(trust, on: search, in: store, attempts: ChainLimits.pathsOutOfTime) { _ in }
        guard let chain, let culprit = chain.last(where: { $0.validity(at: time) != .valid }) else { return nil }
        let isEarly = culprit.validity(at: time) == .notYet
        let code = isEarly ? X509_V_ERR_CERT_NOT_YET_VALID : X509_V_ERR_CERT_HAS_EXPIRED
        let reason = Self.reason(code)
        let text = Self.message(reason, culprit, "", presented: presented.count)
        return TrustRefusal(
            reason, "\(trust.host.oneLine): \(text).", trust: trust, verifyCode: code,
            certificate: CertificateSummary(culprit), seenPins: chain.map(\.pin))
    }

    /// Verifies a given path with OpenSSL, except for its dates, and checks the result.
    private func verify(
        _ path: [X509Handle], for trust: ServerTrust, in store: TrustStore, work: inout Int
    ) throws(TrustRefusal) -> [X509Handle] {
        let below = path.count > 1 ? Array(path.dropLast()) : path
        let chain = try build(trust, below, store, path: path[path.count - 1])
        if chain != path { try checkNames(chain, trust, &work) }
        try judge(chain, trust)
        return chain
    }
}

extension TrustRefusal {
    /// Whether another path from the same leaf could be accepted.
    fileprivate var dependsOnPath: Bool {
        let ofTheLeaf: Set<Reason> = [.hostnameMismatch, .selfSigned, .malformedCertificate, .internalFailure]
        return !ofTheLeaf.contains(reason)
    }

    fileprivate var isAboutTime: Bool { reason == .expired || reason == .notYetValid }

    /// The informative value of a path's refusal. OpenSSL's path comes first by chance, so its refusal is reported only
    /// if no other is more informative: a missing anchor says nothing, a rule for public authorities less than a rule
    /// for every authority, and a rule less than a flaw that makes a chain worthless.
    fileprivate var weight: Int {
        switch reason {
        case .unknownAuthority, .chainInvalid, .internalFailure, .limitExceeded: return 0
        case .expired, .notYetValid: return 4
        default: break
        }
        guard let rule = ChainRule.allCases.first(where: { $0.reason == reason }) else { return 3 }
        return rule.isEnforcedByDefault ? 2 : 1
    }
}

/// Enumerates the paths from a server's certificate to an anchor through the presented and the trusted certificates
/// (RFC 4158).
///
/// OpenSSL follows one path and does not backtrack if a constraint at its end forbids it. Issuers are found by name and
/// key identifier, anchors first. Certificates that are expired, not authorities, too deep or refused by the profile
/// are skipped before OpenSSL is asked. Certificates that sign each other can form very many paths, so the number of
/// steps is bounded.
struct PathSearch {
    private struct Issuer {
        let certificate: X509Handle
        let endsPath: Bool
    }

    private let presented: [X509Handle]
    private let store: TrustStore
    private let allowsPartialChains: Bool
    private let maximumDepth: Int
    private let admits: (X509Handle, ChainLink.Position) -> Bool
    /// The remaining number of issuers to examine.
    private var steps = ChainLimits.pathSteps
    private var known: [X509Handle: [Issuer]] = [:]

    /// - Parameter admits: Whether a certificate may have a position, independently of the rest of the path.
    init(
        presented: [X509Handle], store: TrustStore, allowsPartialChains: Bool, maximumDepth: Int,
        admits: @escaping (X509Handle, ChainLink.Position) -> Bool
    ) {
        self.presented = presented
        self.store = store
        self.allowsPartialChains = allowsPartialChains
        self.maximumDepth = maximumDepth
        self.admits = admits
    }

    /// Returns the first result of a closure that is called with each path, leaf first.
    mutating func first<Result>(_ attempt: ([X509Handle]) -> Result?) -> Result? {
        let leaf = presented[0]
        if let anchor = anchor(leaf), admits(anchor, .ownAnchor), let result = attempt([anchor]) { return result }
        guard admits(leaf, .leaf) else { return nil }
        return extend([leaf], attempt)
    }

    private mutating func extend<Result>(_ path: [X509Handle], _ attempt: ([X509Handle]) -> Result?) -> Result? {
        for issuer in issuers(of: path[path.count - 1]) {
            guard steps > 0 else { return nil }
            steps -= 1
            let certificate = issuer.certificate
            guard !path.contains(where: { $0.isSame(as: certificate) }), certificate.allows(path) else { continue }
            if issuer.endsPath, admits(certificate, .issuingAnchor), let result = attempt(path + [certificate]) {
                return result
            }
            // A root has no issuer.
            guard !issuer.endsPath || !certificate.isSelfIssued, path.count <= maximumDepth,
                certificate.isAuthority, admits(certificate, .intermediate)
            else { continue }
            if let result = extend(path + [certificate], attempt) { return result }
        }
        return nil
    }

    /// The anchor with the same bytes, which carries the trust settings of its entry.
    private func anchor(_ certificate: X509Handle) -> X509Handle? {
        guard allowsPartialChains || certificate.isSelfIssued else { return nil }
        return store.certificates(named: X509_get_subject_name(certificate.pointer)).first {
            $0.der == certificate.der
        }
    }

    /// The possible issuers of a certificate, anchors first.
    private mutating func issuers(of certificate: X509Handle) -> [Issuer] {
        if let found = known[certificate] { return found }
        var issuers: [Issuer] = []
        for anchor in store.certificates(named: X509_get_issuer_name(certificate.pointer)) {
            let endsPath = allowsPartialChains || anchor.isSelfIssued
            if anchor.mayHaveIssued(certificate) { issuers.append(Issuer(certificate: anchor, endsPath: endsPath)) }
        }
        for other in presented.dropFirst() where other.mayHaveIssued(certificate) {
            guard !issuers.contains(where: { $0.certificate.der == other.der }) else { continue }
            issuers.append(Issuer(certificate: other, endsPath: false))
        }
        known[certificate] = issuers
        return issuers
    }
}

extension X509Handle {
    /// Whether subject and issuer are the same name. Also works for anchors that only OpenSSL can read.
    var isSelfIssued: Bool {
        facts?.isSelfIssued
            ?? (X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_issuer_name(pointer)) == 0)
    }

    /// Whether the certificate has name constraints. Also works for anchors that only OpenSSL can read.
    var hasNameConstraints: Bool { X509_get_ext_by_NID(pointer, NID_name_constraints, -1) >= 0 }

    fileprivate var isAuthority: Bool { facts?.known.basicConstraints?.isAuthority ?? false }

    /// Whether name, key identifier and key usage match; the signature is not checked.
    fileprivate func mayHaveIssued(_ other: X509Handle) -> Bool {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        return X509_check_issued(pointer, other.pointer) == X509_V_OK
    }

    /// Whether both have the same name and key (RFC 4158, 2.4.1).
    fileprivate func isSame(as other: X509Handle) -> Bool {
        self === other
            || X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_subject_name(other.pointer)) == 0
                && pin == other.pin
    }

    /// Whether the path length constraint allows the authorities below (RFC 5280, 4.2.1.9).
    fileprivate func allows(_ path: [X509Handle]) -> Bool {
        guard let length = facts?.known.basicConstraints?.pathLength else { return true }
        return path.dropFirst().count { !$0.isSelfIssued } <= length
    }
}
