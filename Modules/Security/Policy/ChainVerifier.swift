internal import FoundationEssentials

/// Builds and checks a chain: signatures, times, names and purposes with OpenSSL (RFC 5280, 6), name constraints by rules
/// of our own, then the rules of a profile on what was verified, then revocation. Where the path that OpenSSL takes is
/// refused, the others are tried (``PathSearch``). What was verified of the same chain before is remembered
/// (``VerifiedChains``).
struct ChainVerifier {
    let anchors: TrustAnchors
    let validatesHost: Bool
    let profile: ChainProfile

    init(anchors: TrustAnchors, validatesHost: Bool, profile: ChainProfile = .default) {
        self.anchors = anchors
        self.validatesHost = validatesHost
        self.profile = profile
    }

    /// The chain from the leaf to the anchor.
    func verify(_ trust: ServerTrust) throws(TrustRefusal) -> VerifiedChain {
        let presented = try Self.parse(trust)
        let store: TrustStore
        do {
            store = try anchors.store()
        } catch {
            throw TrustRefusal(.anchorsUnavailable, error.message, trust: trust)
        }
        let chain = try acceptedChain(trust, presented, store)
        let allowsSHA1 = !profile.rules.contains(.sha1Signatures)
        let revocation = try RevocationCheck(
            profile.revocation, trust, presented: presented, allowsSHA1: allowsSHA1
        ).run(chain)
        return VerifiedChain(certificates: chain, revocation: revocation, findings: findings(chain, trust))
    }

    /// A chain that OpenSSL, the name constraints and the profile accept: on OpenSSL's path, or on another.
    private func acceptedChain(
        _ trust: ServerTrust, _ presented: [X509Handle], _ store: TrustStore
    ) throws(TrustRefusal) -> [X509Handle] {
        // A time out of any calendar would be a trap in the conversion.
        guard let time = Int(exactly: trust.time.timeIntervalSince1970.rounded(.down)) else {
            throw TrustRefusal(
                .internalFailure, "\(trust.host.oneLine): the time to verify at is no moment in any calendar.",
                trust: trust)
        }
        var question = VerifiedChains.Question(
            presented: presented, host: validatesHost ? trust.host : nil, securityLevel: profile.securityLevel,
            depth: profile.depth, flags: flags(presented))
        do {
            let chain = try remembered(question, time, store) { () throws(TrustRefusal) in
                try verifiedChain(trust, presented, store)
            }
            try judge(chain, trust)
            return chain
        } catch {
            question.standards = profile.standards
            return try remembered(question, time, store) { () throws(TrustRefusal) in
                guard let chain = otherChain(trust, presented, store, time, insteadOf: error) else { throw error }
                return chain
            }
        }
    }

    private func remembered(
        _ question: VerifiedChains.Question, _ time: Int, _ store: TrustStore,
        _ verify: () throws(TrustRefusal) -> [X509Handle]
    ) throws(TrustRefusal) -> [X509Handle] {
        if let chain = store.verified.chain(question, at: time) { return chain }
        let chain = try verify()
        store.verified.remember(chain, for: question)
        return chain
    }

    /// The chain on OpenSSL's own path, its names held against the constraints above them.
    private func verifiedChain(
        _ trust: ServerTrust, _ presented: [X509Handle], _ store: TrustStore
    ) throws(TrustRefusal) -> [X509Handle] {
        let chain = try build(trust, presented, store)
        var work = ChainLimits.nameComparisons
        try checkNames(chain, trust, &work)
        return chain
    }
}

/// A chain that was verified up to an anchor.
struct VerifiedChain {
    /// From the leaf to the anchor.
    let certificates: [X509Handle]
    let revocation: RevocationVerdict
    /// What is wrong with it and not enforced.
    let findings: [TrustRefusal]

    var leaf: X509Handle { certificates[0] }
}
