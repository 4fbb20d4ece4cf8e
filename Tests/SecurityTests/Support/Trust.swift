import FoundationEssentials
import LinnetSecurity
import LinnetTesting

extension ServerTrust {
    /// A server that presents these certificates.
    init(_ chain: [X509Certificate], host: String = "localhost", time: Date = Date()) {
        self.init(host: host, port: 443, presentedChain: chain.map(\.derBytes), time: time)
    }
}

extension TrustEvaluator {
    /// The refusal of a server that presents this chain; nil if it is accepted.
    func refusal(
        of chain: [X509Certificate], host: String = "localhost", time: Date = Date()
    ) async -> TrustRefusal? {
        await evaluate(ServerTrust(chain, host: host, time: time)).refusal
    }

    /// The verified chain of a server that presents this chain; nil if it is refused.
    func trust(in chain: [X509Certificate], host: String = "localhost") async -> VerifiedTrust? {
        if case .accepted(let trust) = await evaluate(ServerTrust(chain, host: host)) { trust } else { nil }
    }
}

extension Date {
    static func days(_ days: Double) -> Date { Date(timeIntervalSinceNow: days * 86_400) }
}
