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
    /// The question whether this server is the host.
    func trust(_ host: String = "localhost", time: Date = Date()) -> ServerTrust {
        ServerTrust(chain, host: host, time: time)
    }
}

/// Asks an evaluator, and gives the reason of its refusal; nil when it accepts.
func reason(_ evaluator: any TrustEvaluator, _ trust: ServerTrust) async -> TrustRefusal.Reason? {
    await evaluator.evaluate(trust).refusal?.reason
}
