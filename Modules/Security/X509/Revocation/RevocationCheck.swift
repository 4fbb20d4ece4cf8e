internal import COpenSSL
internal import FoundationEssentials
internal import LinnetMessages

/// Checks a verified chain against revocation lists and the stapled response.
struct RevocationCheck {
    /// The answer of a source for a certificate.
    enum Answer {
        case good(until: Date)
        case revoked(String)
        /// There is no reliable answer, with the reason.
        case unknown(TrustRefusal.Reason, String)
        /// The source violates a rule that makes it unusable.
        case invalid(TrustRefusal.Reason, String)
    }

    private let options: RevocationOptions
    private let trust: ServerTrust
    private let presented: [X509Handle]
    private let allowsSHA1: Bool

    init(_ options: RevocationOptions, _ trust: ServerTrust, presented: [X509Handle], allowsSHA1: Bool) {
        self.options = options
        self.trust = trust
        self.presented = presented
        self.allowsSHA1 = allowsSHA1
    }

    /// Returns until when the answers are valid. Anchors are not checked, except for a server's own certificate.
    func run(_ chain: [X509Handle]) throws(TrustRefusal) -> RevocationVerdict {
        var verdict = RevocationVerdict()
        if chain.count == 1 {
            try runAlone(chain[0], &verdict)
            return verdict
        }
        for (index, certificate) in chain.dropLast().enumerated() {
            let issuer = chain[index + 1]
            var answers: [Answer] = []
            if index == 0, let answer = try staple(of: certificate, by: issuer, chain: chain, verdict: &verdict) {
                answers.append(answer)
            }
            for list in options.lists {
                if let answer = ask(list.handle, certificate, issuer) { answers.append(answer) }
            }
            let isHard = options.failure == .hard || (options.failure == .hardForLeaf && index == 0)
            try conclude(answers, certificate, isHard: isHard, mayWait: index == 0 && trust.awaitsStaple, &verdict)
        }
        return verdict
    }

    /// Checks a server's certificate that is itself an anchor: its issuer is not part of the chain, but may have been
    /// presented.
    private func runAlone(_ leaf: X509Handle, _ verdict: inout RevocationVerdict) throws(TrustRefusal) {
        // The app supplies the lists, so an entry in a list with the issuer's name is enough to refuse the certificate.
        if options.lists.contains(where: { $0.handle.lists(leaf) }) {
            throw refusal(.revoked, leaf, "is revoked according to its issuer's list")
        }
        let asksStaple = options.checksStaple && trust.stapledOCSPResponse != nil || leaf.promisesStaple
        let isHard = options.failure != .soft && leaf.facts?.isSelfIssued == false
        guard asksStaple || isHard else { return }
        var answers: [Answer] = []
        if let issuer = ([leaf] + presented).first(where: { $0.issued(leaf) }) {
            if let answer = try staple(of: leaf, by: issuer, chain: [leaf, issuer], verdict: &verdict) {
                answers.append(answer)
            }
            answers += options.lists.compactMap { ask($0.handle, leaf, issuer) }
        } else if options.honorsMustStaple && leaf.promisesStaple {
            throw refusal(.stapleInvalid, leaf, "promises an OCSP response, and its issuer was not presented")
        }
        try conclude(answers, leaf, isHard: isHard, mayWait: trust.awaitsStaple, &verdict)
    }

    /// The answer of the stapled response. A promise to staple that is not kept is refused here.
    private func staple(
        of leaf: X509Handle, by issuer: X509Handle, chain: [X509Handle], verdict: inout RevocationVerdict
    ) throws(TrustRefusal) -> Answer? {
        // A promise in an authority's certificate applies to the certificates below it (RFC 7633, 4.2.2).
        let promises = options.honorsMustStaple && chain.dropLast().contains(where: \.promisesStaple)
        guard options.checksStaple || promises, let response = trust.stapledOCSPResponse, !response.isEmpty else {
            guard promises else { return nil }
            guard !trust.awaitsStaple else {
                verdict.awaitsStaple = true
                return nil
            }
            throw refusal(
                .stapleMissing, leaf, "promises an OCSP response, and the server staples none (RFC 7633, 4.2.3.1)")
        }
        let answer = OCSPStaple(allowsSHA1: allowsSHA1, time: trust.time, skew: options.clockSkew)
            .answer(response, about: leaf, issuer)
        if promises, case .unknown(let reason, let text) = answer {
            throw refusal(reason, leaf, "promises an OCSP response, and \(text)")
        }
        return answer
    }

    /// The answer of a list; nil if it is from another issuer, or does not contain the certificate and has another
    /// scope.
    private func ask(_ list: CRLHandle, _ certificate: X509Handle, _ issuer: X509Handle) -> Answer? {
        guard list.isSigned(by: issuer) else { return nil }
        // The scope only matters for the absence of an entry. An entry is a revocation in any list of the issuer.
        let isListed = list.lists(certificate)
        guard isListed || list.covers(certificate) else { return nil }
        if let usage = issuer.facts?.known.keyUsage, !usage.contains(.listSigning) {
            return .invalid(
                .revocationListInvalid, "its issuer must not sign revocation lists (RFC 5280, 6.3.3 (f))")
        }
        // A revocation is permanent, so the dates of the list do not matter (RFC 5280, 5.3).
        if isListed { return .revoked("its issuer's list contains it") }
        let skew = TimeInterval(options.clockSkew.components.seconds)
        guard list.facts.thisUpdate <= trust.time.addingTimeInterval(skew) else {
            return .unknown(.revocationListOutdated, "its issuer's list is not yet valid; check the clock")
        }
        guard list.facts.nextUpdate >= trust.time.addingTimeInterval(-skew) else {
            let date = list.facts.nextUpdate.formatted(.iso8601)
            return .unknown(.revocationListOutdated, "its issuer's list expired on \(date) (RFC 5280, 5.1.2.5)")
        }
        return .good(until: list.facts.nextUpdate.addingTimeInterval(skew))
    }

    private func conclude(
        _ answers: [Answer], _ certificate: X509Handle, isHard: Bool, mayWait: Bool, _ verdict: inout RevocationVerdict
    ) throws(TrustRefusal) {
        var failure: (reason: TrustRefusal.Reason, text: String)?
        var isGood = false
        for answer in answers {
            switch answer {
            case .revoked(let text): throw refusal(.revoked, certificate, "is revoked: \(text)")
            case .invalid(let reason, let text):
                throw refusal(reason, certificate, "cannot be checked for revocation: \(text)")
            case .good(let until):
                isGood = true
                verdict.limit(until)
            case .unknown(let reason, let text): failure = failure ?? (reason, text)
            }
        }
        guard isHard, !isGood else { return }
        if mayWait && trust.stapledOCSPResponse == nil {
            verdict.awaitsStaple = true
            return
        }
        let (reason, text) = failure ?? (.revocationUnknown, "no list and no stapled response covers it")
        throw refusal(reason, certificate, "may be revoked: \(text)")
    }

    private func refusal(_ reason: TrustRefusal.Reason, _ certificate: X509Handle, _ text: String) -> TrustRefusal {
        TrustRefusal(
            reason, "\(trust.host.oneLine): the certificate \"\(certificate.subject.oneLine)\" \(text).", trust: trust,
            certificate: CertificateSummary(certificate))
    }
}

/// The revocation result for an accepted chain.
struct RevocationVerdict {
    /// The time when the answers expire; nil if there are none.
    private(set) var holdsUntil: Date?
    /// Whether the chain was accepted only because a stapled response may still arrive.
    var awaitsStaple = false

    mutating func limit(_ date: Date) {
        holdsUntil = min(holdsUntil ?? date, date)
    }
}

extension X509Handle {
    /// Whether the certificate promises a stapled response (RFC 7633, 4.1): TLS extensions 5 and 17.
    var promisesStaple: Bool { facts?.known.tlsFeatures.contains { $0 == 5 || $0 == 17 } ?? false }

    /// Whether the certificate is the issuer of another by name and signature.
    func issued(_ other: X509Handle) -> Bool {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        guard X509_check_issued(pointer, other.pointer) == X509_V_OK, let key = X509_get0_pubkey(pointer) else {
            return false
        }
        return X509_verify(other.pointer, key) == 1
    }
}

extension TrustRefusal.Reason {
    /// The certificate promises a stapled OCSP response, and the server sent none (RFC 7633).
    public static let stapleMissing = TrustRefusal.Reason("stapleMissing")
    /// The stapled OCSP response is invalid: unreadable, for another certificate, or not by an authorized responder
    /// (RFC 6960, 3.2).
    public static let stapleInvalid = TrustRefusal.Reason("stapleInvalid")
    /// The stapled OCSP response is expired or not yet valid (RFC 6960, 4.2.2.1).
    public static let stapleOutdated = TrustRefusal.Reason("stapleOutdated")
    /// The policy requires revocation information, and there is none.
    public static let revocationUnknown = TrustRefusal.Reason("revocationUnknown")
    /// An authority whose key must not sign lists has signed a revocation list.
    public static let revocationListInvalid = TrustRefusal.Reason("revocationListInvalid")
    /// The only revocation information is a list that is expired or not yet valid.
    public static let revocationListOutdated = TrustRefusal.Reason("revocationListOutdated")
}
