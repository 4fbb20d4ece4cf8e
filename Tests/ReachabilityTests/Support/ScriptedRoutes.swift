@testable import LinnetReachability

/// Answers questions about routing from a list; the others have no answer.
struct ScriptedRoutes: RouteSource {
    var answers: [RouteQuestion: RouteAnswer] = [:]
    var knownFacts = InterfaceFacts()

    mutating func answer(_ question: RouteQuestion) -> RouteAnswer { answers[question] ?? .unknown }
    mutating func facts(of link: NetworkLink) -> InterfaceFacts { knownFacts }
}

extension NetworkState {
    /// The status of the network without answers from the kernel.
    func status(_ facts: InterfaceFacts = InterfaceFacts()) -> ReachabilityStatus {
        var routes = ScriptedRoutes(knownFacts: facts)
        return StatusEvaluator(state: self).networkStatus(&routes)
    }
}
