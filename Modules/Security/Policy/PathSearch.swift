internal import COpenSSL
internal import FoundationEssentials

/// The paths from a server's certificate to an anchor that the presented and the trusted certificates allow, one after the
/// other (RFC 4158).
///
/// OpenSSL follows one path, and does not come back when a constraint at its end forbids it. Issuers are found by name and
/// key identifier, anchors first; what is out of time, no authority, too long a path or refused by the profile is left out
/// before OpenSSL is asked. Many certificates that sign each other make more paths than can be tried: the number of steps is
/// bounded.
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
    /// How many issuers may still be looked at.
    private var steps = ChainLimits.pathSteps
    private var known: [X509Handle: [Issuer]] = [:]

    /// - Parameter admits: Whether a certificate may stand there, whatever else is on the path.
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

    /// What the closure makes of the first path, leaf first, of which it makes anything.
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
            // A root has nothing above it.
            guard !issuer.endsPath || !certificate.isSelfIssued, path.count <= maximumDepth,
                certificate.isAuthority, admits(certificate, .intermediate)
            else { continue }
            if let result = extend(path + [certificate], attempt) { return result }
        }
        return nil
    }

    /// The same certificate among the anchors, with what its entry there says about trust.
    private func anchor(_ certificate: X509Handle) -> X509Handle? {
        guard allowsPartialChains || certificate.isSelfIssued else { return nil }
        return store.certificates(named: X509_get_subject_name(certificate.pointer)).first {
            $0.der == certificate.der
        }
    }

    /// The certificates that may have signed another, anchors first.
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
    /// Whether subject and issuer are the same name; also of an anchor that only OpenSSL can read.
    var isSelfIssued: Bool {
        facts?.isSelfIssued
            ?? (X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_issuer_name(pointer)) == 0)
    }

    /// Whether it has constraints on names; also for an anchor that only OpenSSL can read.
    var hasNameConstraints: Bool { X509_get_ext_by_NID(pointer, NID_name_constraints, -1) >= 0 }

    fileprivate var isAuthority: Bool { facts?.known.basicConstraints?.isAuthority ?? false }

    /// Whether name, key identifier and key usage fit; no signature is looked at.
    fileprivate func mayHaveIssued(_ other: X509Handle) -> Bool {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        return X509_check_issued(pointer, other.pointer) == X509_V_OK
    }

    /// Whether it is the same authority: the same name and the same key (RFC 4158, 2.4.1).
    fileprivate func isSame(as other: X509Handle) -> Bool {
        self === other
            || X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_subject_name(other.pointer)) == 0
                && pin == other.pin
    }

    /// Whether it allows so many authorities below it (RFC 5280, 4.2.1.9).
    fileprivate func allows(_ path: [X509Handle]) -> Bool {
        guard let length = facts?.known.basicConstraints?.pathLength else { return true }
        return path.dropFirst().count { !$0.isSelfIssued } <= length
    }
}
