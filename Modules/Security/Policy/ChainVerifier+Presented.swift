internal import FoundationEssentials

extension ChainVerifier {
    /// The presented certificates, of which there is one at least.
    static func parse(_ trust: ServerTrust) throws(TrustRefusal) -> [X509Handle] {
        let host = trust.host.oneLine
        guard !trust.presentedChain.isEmpty else {
            throw TrustRefusal(.noCertificate, "\(host): the server presented no certificate.", trust: trust)
        }
        guard trust.presentedChain.count <= ChainLimits.certificates,
            trust.presentedChain.reduce(0, { $0 + $1.count }) <= ChainLimits.bytes
        else {
            throw TrustRefusal(
                .malformedCertificate,
                "\(host): the server presented more than \(ChainLimits.certificates) certificates or "
                    + "\(ChainLimits.bytes) bytes.",
                trust: trust)
        }
        var chain: [X509Handle] = []
        for (index, der) in trust.presentedChain.enumerated() {
            chain.append(try parse(der, index, trust))
        }
        if let excess = ChainLimits.excess(chain.compactMap(\.facts)) {
            throw TrustRefusal(.limitExceeded, "\(host): the presented chain has \(excess).", trust: trust)
        }
        return chain
    }

    /// Read by our reader first: it says what OpenSSL would cost.
    private static func parse(_ der: Data, _ index: Int, _ trust: ServerTrust) throws(TrustRefusal) -> X509Handle {
        if let handle = CertificateCache.shared.certificate(der) { return handle }
        let host = trust.host.oneLine
        guard let facts = try? CertificateFacts(der: [UInt8](der)) else { throw malformed(index, trust) }
        if let excess = ChainLimits.excess(facts) {
            throw TrustRefusal(
                .limitExceeded, "\(host): certificate \(index) of the presented chain \(excess).", trust: trust)
        }
        guard let handle = X509Handle(der: der, facts: facts) else { throw malformed(index, trust) }
        CertificateCache.shared.insert(handle, for: der)
        return handle
    }

    private static func malformed(_ index: Int, _ trust: ServerTrust) -> TrustRefusal {
        TrustRefusal(
            .malformedCertificate,
            "\(trust.host.oneLine): certificate \(index) of the presented chain cannot be parsed.", trust: trust)
    }
}
