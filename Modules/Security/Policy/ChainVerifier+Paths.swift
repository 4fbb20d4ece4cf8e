internal import FoundationEssentials

extension ChainVerifier {
    /// A chain on another path than the one that was refused, if there is one that OpenSSL, the name constraints and the
    /// profile accept; nil where nothing on the way could help, and where the search has done all the work that it may.
    func otherChain(
        _ trust: ServerTrust, _ presented: [X509Handle], _ store: TrustStore, _ time: Int,
        insteadOf refusal: TrustRefusal
    ) -> [X509Handle]? {
        let leaf = presented[0]
        guard refusal.dependsOnPath, leaf.validity(at: time) == .valid else { return nil }
        var search = PathSearch(
            presented: presented, store: store, allowsPartialChains: anchors.allowsPartialChains,
            maximumDepth: Int(profile.depth)
        ) { certificate, position in
            certificate.validity(at: time) == .valid && violation(certificate, position, trust, []) == nil
        }
        var (attempts, work) = (ChainLimits.paths, ChainLimits.nameComparisons * 2)
        return search.first { path in
            guard attempts > 0, (try? checkNames(path, trust, &work)) != nil else { return nil }
            attempts -= 1
            return try? verify(path, trust, store, &work)
        }
    }

    /// Has OpenSSL verify a path as it is, and judges what it verified.
    private func verify(
        _ path: [X509Handle], _ trust: ServerTrust, _ store: TrustStore, _ work: inout Int
    ) throws(TrustRefusal) -> [X509Handle] {
        let below = path.count > 1 ? Array(path.dropLast()) : path
        let chain = try build(trust, below, store, path: path[path.count - 1])
        if chain != path { try checkNames(chain, trust, &work) }
        try judge(chain, trust)
        return chain
    }
}

extension TrustRefusal {
    /// Whether another path from the same leaf could fare better.
    fileprivate var dependsOnPath: Bool {
        let ofTheLeaf: Set<Reason> = [.hostnameMismatch, .selfSigned, .malformedCertificate, .internalFailure]
        return !ofTheLeaf.contains(reason)
    }
}
