import FoundationEssentials
import LinnetSecurity
import LinnetTesting

extension TestPKI {
    /// The root authority as the only anchor.
    var anchors: TrustAnchors {
        get throws { try .certificates([root]) }
    }
}

extension TestPKI.Identity {
    /// The input for this server as a host.
    func trust(_ host: String = "localhost", time: Date = Date()) -> ServerTrust {
        ServerTrust(chain, host: host, time: time)
    }
}

/// The reason for which an evaluator refuses; nil if it accepts.
func reason(_ evaluator: any TrustEvaluator, _ trust: ServerTrust) async -> TrustRefusal.Reason? {
    await evaluator.evaluate(trust).refusal?.reason
}
