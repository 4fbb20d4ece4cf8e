internal import COpenSSL
internal import FoundationEssentials

/// Asks lists and the staple about a chain that was verified.
struct RevocationCheck {
    /// What one source says of one certificate.
    enum Answer {
        case good(until: Date)
        case revoked(String)
        /// Nothing that can be relied on, and why.
        case unknown(TrustRefusal.Reason, String)
        /// The source breaks a rule in a way that no authority's mistake excuses.
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

    /// Until when the answers hold. An anchor is trusted as it is, and asked about only where it is the server's own.
    func run(_ chain: [X509Handle]) throws(TrustRefusal) -> RevocationVerdict {
        var verdict = RevocationVerdict()
        if chain.count == 1 {
            try runAlone(chain[0], &verdict)
            return verdict
        }
        for (index, certificate) in chain.dropLast().enumerated() {
            let issuer = chain[index + 1]
            var answers: [Answer] = []
            if index == 0, let answer = try staple(certificate, issuer, chain, &verdict) { answers.append(answer) }
            for list in options.lists {
                if let answer = ask(list.handle, certificate, issuer) { answers.append(answer) }
            }
            let isHard = options.failure == .hard || (options.failure == .hardForLeaf && index == 0)
            try conclude(answers, certificate, isHard: isHard, mayWait: index == 0 && trust.awaitsStaple, &verdict)
        }
        return verdict
    }

    /// A server's certificate that is an anchor itself: its issuer is no part of the chain, but may have been presented.
    private func runAlone(_ leaf: X509Handle, _ verdict: inout RevocationVerdict) throws(TrustRefusal) {
        // The lists are the app's own: that a list of the issuer's name has the certificate is enough to refuse it.
        if options.lists.contains(where: { $0.handle.lists(leaf) }) {
            throw refusal(.revoked, leaf, "is revoked: its issuer's list has it")
        }
        let asksStaple = options.checksStaple && trust.stapledOCSPResponse != nil || leaf.promisesStaple
        let isHard = options.failure != .soft && leaf.facts?.isSelfIssued == false
        guard asksStaple || isHard else { return }
        var answers: [Answer] = []
        if let issuer = ([leaf] + presented).first(where: { $0.issued(leaf) }) {
            if let answer = try staple(leaf, issuer, [leaf, issuer], &verdict) { answers.append(answer) }
            answers += options.lists.compactMap { ask($0.handle, leaf, issuer) }
        } else if options.honorsMustStaple && leaf.promisesStaple {
            throw refusal(.stapleInvalid, leaf, "promises an OCSP response, and its issuer was not presented")
        }
        try conclude(answers, leaf, isHard: isHard, mayWait: trust.awaitsStaple, &verdict)
    }

    /// What the staple says. A promise to staple that is not kept is refused here.
    private func staple(
        _ leaf: X509Handle, _ issuer: X509Handle, _ chain: [X509Handle], _ verdict: inout RevocationVerdict
    ) throws(TrustRefusal) -> Answer? {
        // An authority's promise binds those whom it certifies (RFC 7633, 4.2.2).
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

    /// What a list says; nil when it is another issuer's, or for other certificates.
    private func ask(_ list: CRLHandle, _ certificate: X509Handle, _ issuer: X509Handle) -> Answer? {
        guard list.isSigned(by: issuer), list.covers(certificate) else { return nil }
        if let usage = issuer.facts?.known.keyUsage, !usage.contains(.listSigning) {
            return .invalid(
                .revocationListInvalid, "its issuer must not sign revocation lists (RFC 5280, 6.3.3 (f))")
        }
        // What is revoked stays so, whatever the time (RFC 5280, 5.3).
        if list.lists(certificate) { return .revoked("its issuer's list has it") }
        let skew = TimeInterval(options.clockSkew.components.seconds)
        guard list.facts.thisUpdate <= trust.time.addingTimeInterval(skew) else {
            return .unknown(.revocationListOutdated, "its issuer's list is from the future; is the clock right?")
        }
        guard list.facts.nextUpdate >= trust.time.addingTimeInterval(-skew) else {
            let date = list.facts.nextUpdate.formatted(.iso8601)
            return .unknown(.revocationListOutdated, "its issuer's list ran out on \(date) (RFC 5280, 5.1.2.5)")
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
            case .invalid(let reason, let text): throw refusal(reason, certificate, "cannot be looked up: \(text)")
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
        let (reason, text) = failure ?? (.revocationUnknown, "neither a list nor a stapled response is about it")
        throw refusal(reason, certificate, "may be revoked: \(text)")
    }

    private func refusal(_ reason: TrustRefusal.Reason, _ certificate: X509Handle, _ text: String) -> TrustRefusal {
        TrustRefusal(
            reason, "\(trust.host.oneLine): the certificate \"\(certificate.subject.oneLine)\" \(text).", trust: trust,
            certificate: CertificateSummary(certificate))
    }
}

/// What is known about revocation, of a chain that may be accepted.
struct RevocationVerdict {
    /// When it has to be asked for again; nil when nothing was said.
    private(set) var holdsUntil: Date?
    /// Whether it was accepted only because a staple may still come.
    var awaitsStaple = false

    mutating func limit(_ date: Date) {
        holdsUntil = min(holdsUntil ?? date, date)
    }
}

extension X509Handle {
    /// Whether it says that the server staples (RFC 7633, 4.1): TLS extensions 5 and 17.
    var promisesStaple: Bool { facts?.known.tlsFeatures.contains { $0 == 5 || $0 == 17 } ?? false }

    /// Whether it is by name and by signature the issuer of another.
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
    /// The certificate promises a stapled OCSP response, and there is none (RFC 7633).
    public static let stapleMissing = TrustRefusal.Reason("stapleMissing")
    /// The stapled OCSP response cannot be relied on: it cannot be read, is not about the certificate, or not by whom it
    /// should be (RFC 6960, 3.2).
    public static let stapleInvalid = TrustRefusal.Reason("stapleInvalid")
    /// The stapled OCSP response is out of date (RFC 6960, 4.2.2.1).
    public static let stapleOutdated = TrustRefusal.Reason("stapleOutdated")
    /// Nobody says whether the certificate is revoked, and somebody has to.
    public static let revocationUnknown = TrustRefusal.Reason("revocationUnknown")
    /// A revocation list is signed by an authority that must not sign any.
    public static let revocationListInvalid = TrustRefusal.Reason("revocationListInvalid")
    /// A revocation list is out of date, and there is nothing else.
    public static let revocationListOutdated = TrustRefusal.Reason("revocationListOutdated")
}
