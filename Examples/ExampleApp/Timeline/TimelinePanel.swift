import Linnet

/// Lines of text about one part of the state.
enum TimelinePanel: String, CaseIterable, Sendable {
    case info, pins, network

    /// The key that opens and closes it.
    var key: String { String(rawValue.prefix(1)) }

    var title: String {
        switch self {
        case .info: "Last request"
        case .pins: "Certificate and pins"
        case .network: "Network"
        }
    }

    func lines(_ state: TimelineState) -> [String] {
        switch self {
        case .info: Self.info(state.facts)
        case .pins: state.refusal?.explanation ?? Self.pins(state.facts)
        case .network: Self.network(state)
        }
    }

    private static func info(_ facts: ResponseFacts?) -> [String] {
        guard let facts else { return ["No request has been answered yet."] }
        let attempts = facts.attempts == 1 ? "1 attempt" : "\(facts.attempts) attempts"
        return ["\(facts.status) \(facts.url)", "\(attempts), cache: \(facts.cache ?? "none")"] + facts.timings
    }

    private static func pins(_ facts: ResponseFacts?) -> [String] {
        guard let facts else { return ["No request has been answered yet."] }
        guard let encryption = facts.encryption else { return ["The connection is not encrypted."] }
        let verdict =
            facts.isPinned ? "A pin of the policy matches the chain:" : "The chain is trusted; no key is pinned:"
        return [encryption, verdict] + facts.pins
    }

    private static func network(_ state: TimelineState) -> [String] {
        let path = state.network.path
        let parts = [
            path?.underlyingKind.map { "over \($0)" }, path?.sourceAddress.map { "from \($0)" },
            path?.gateway.map { "gateway \($0)" }, path?.mtu.map { "MTU \($0)" },
        ]
        let requests = state.requestCount == 1 ? "1 request is running." : "\(state.requestCount) requests are running."
        return [state.network.description] + parts.compactMap { $0 } + [
            requests, "\(state.pictures.count) pictures in memory, \(Figures.size(Int64(state.pictures.bytes)))",
        ]
    }
}
