/// Lets the adapters change the request of each attempt.
struct AdapterLink: ChainLink {
    /// The session's adapters, which come before the call's.
    let adapters: [any RequestAdapter]

    var servesPlainRequests: Bool { !adapters.isEmpty }

    func send(_ flight: inout Flight) -> ChainStep {
        let own = flight.additions?.value.adapters ?? []
        guard !adapters.isEmpty || !own.isEmpty else { return .proceed }
        guard case .adapted(let request) = flight.takeAnswer() else { return .ask(.adapted(by: adapters + own)) }
        flight.record?.adapt(request)
        return .change(to: request)
    }
}
