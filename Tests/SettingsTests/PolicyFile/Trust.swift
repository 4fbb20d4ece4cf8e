import FoundationEssentials
import LinnetSecurity
import LinnetTesting

extension TestPKI {
    /// The root authority as the only anchor.
    var anchors: TrustAnchors {
        get throws { try .certificates([root]) }
    }
}

extension ServerTrust {
    /// A server that presents these certificates.
    init(_ chain: [X509Certificate], host: String = "localhost", time: Date = Date()) {
        self.init(host: host, port: 443, presentedChain: chain.map(\.derBytes), time: time)
    }
}

extension TestPKI.Identity {
    /// The input for this server as a host.
    func trust(_ host: String = "localhost", time: Date = Date()) -> ServerTrust {
        ServerTrust(chain, host: host, time: time)
    }
}
