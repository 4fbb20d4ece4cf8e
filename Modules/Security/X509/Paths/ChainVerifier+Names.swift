internal import LinnetMessages

extension ChainVerifier {
    /// Checks the names of a chain and the requested host against the name constraints of every authority above them,
    /// including the anchor (RFC 5280, 4.2.1.10 and 6.1.3 (b) and (c)).
    ///
    /// OpenSSL compares a wildcard with an excluded name as if it were a single name; this check considers all names
    /// that it covers. Self-issued certificates are skipped, except for the leaf. An anchor that excludes a malformed
    /// name is refused, since rules about extensions do not apply to it.
    ///
    /// - Parameter work: The remaining number of comparisons.
    func checkNames(_ chain: [X509Handle], _ trust: ServerTrust, _ work: inout Int) throws(TrustRefusal) {
        for (index, authority) in chain.enumerated().dropFirst() {
            guard let constraints = try Self.constraints(of: authority, trust) else { continue }
            // The rules about extensions refuse other authorities.
            guard index < chain.count - 1 || !constraints.hasMalformedExclusion else {
                throw Self.namesUnreadable(authority, trust)
            }
            for (place, certificate) in chain[..<index].enumerated() {
                guard let facts = certificate.facts else { throw Self.namesUnreadable(certificate, trust) }
                guard place == 0 || !facts.isSelfIssued else { continue }
                guard var names = facts.constrainedNames(constraints.forms) else {
                    throw Self.namesUnreadable(certificate, trust)
                }
                if place == 0, validatesHost, let host = HostName(trust.host) { names.append(ConstrainedName(host)) }
                work -= names.count * constraints.subtrees
                guard work >= 0 else { throw Self.tooMuchWork(trust) }
                guard let wrong = names.first(where: { !constraints.admits($0) }) else { continue }
                throw Self.notPermitted(wrong, of: certificate, by: authority, for: trust)
            }
        }
    }

    /// The constraints of an authority; nil if it has none. An authority with unreadable constraints is refused.
    private static func constraints(
        of authority: X509Handle, _ trust: ServerTrust
    ) throws(TrustRefusal) -> NameConstraints? {
        guard let facts = authority.facts else {
            guard !authority.hasNameConstraints else { throw namesUnreadable(authority, trust) }
            return nil
        }
        let count = facts.extensions.count { $0.identifier == .nameConstraints }
        guard count > 0 else { return nil }
        guard count == 1, let constraints = facts.known.nameConstraints else { throw namesUnreadable(authority, trust) }
        return constraints
    }

    private static func namesUnreadable(_ certificate: X509Handle, _ trust: ServerTrust) -> TrustRefusal {
        TrustRefusal(
            .nameNotPermitted,
            "\(trust.host.oneLine): names are constrained, and those in the certificate \"\(certificate.subject.oneLine)\" "
                + "cannot be read (RFC 5280, 4.2.1.10).",
            trust: trust, certificate: CertificateSummary(certificate))
    }

    private static func tooMuchWork(_ trust: ServerTrust) -> TrustRefusal {
        TrustRefusal(
            .limitExceeded, "\(trust.host.oneLine): the chain has too many name constraints for so many names.",
            trust: trust)
    }

    private static func notPermitted(
        _ name: ConstrainedName, of certificate: X509Handle, by authority: X509Handle, for trust: ServerTrust
    ) -> TrustRefusal {
        TrustRefusal(
            .nameNotPermitted,
            "\(trust.host.oneLine): the certificate \"\(certificate.subject.oneLine)\" is for \(name.description.oneLine), "
                + "which its authority \"\(authority.subject.oneLine)\" may not certify (RFC 5280, 4.2.1.10).",
            trust: trust, certificate: CertificateSummary(certificate))
    }
}

extension CertificateFacts {
    /// The names of some forms; nil if they cannot be read.
    func constrainedNames(_ forms: Set<ConstrainedName.Form>) -> [ConstrainedName]? {
        var names: [ConstrainedName] = []
        let lists = extensions.count { $0.identifier == .subjectAlternativeName }
        if lists > 0 {
            guard lists == 1, let alternatives = known.alternativeNames else { return nil }
            names = alternatives.map { ConstrainedName($0) }.filter { forms.contains($0.form) }
        }
        // An empty subject is not a name.
        guard subject.count > 2, forms.contains(.directory) || forms.contains(.mail) else { return names }
        guard let name = try? DistinguishedName(subject) else { return nil }
        if forms.contains(.directory) { names.append(.directory(name)) }
        if forms.contains(.mail) { names += name.mailAddresses.map { .mail(ConstrainedName.Mail($0)) } }
        return names
    }
}
