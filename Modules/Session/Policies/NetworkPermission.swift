internal import FoundationEssentials
internal import LinnetReachability
internal import LinnetSerialization

/// The objections of a request's options against the network.
struct NetworkPermission: Sendable {
    /// The current network status; nil when it is unknown.
    let status: (@Sendable () -> ReachabilityStatus)?

    init(status: (@Sendable () -> ReachabilityStatus)?) {
        self.status = status
    }

    init(_ network: NetworkWatch?) {
        guard let network else {
            status = nil
            return
        }
        status = { network.status }
    }

    func check(_ request: SessionRequest) throws(SessionError) {
        let options = request.options
        if options.waitsForConnectivity == true, status == nil {
            throw SessionError(
                .invalidConfiguration,
                "The request waits for connectivity, which needs the session's reachabilityMonitor.", url: request.url)
        }
        // A session with a cache has answered such a request before it comes here.
        if let policy = options.cachePolicy, policy == .cacheOnly {
            throw .notCached(request.url)
        }
        guard options.allowsExpensiveNetworks == false else { return }
        guard let status = status?() else {
            throw SessionError(
                .invalidConfiguration,
                "The request may not use an expensive network, and without a reachability monitor its cost is unknown.",
                url: request.url)
        }
        guard status.isKnown, !status.isExpensive else {
            throw SessionError(
                .networkNotAllowed, "The request may not use an expensive network: \(status).", url: request.url)
        }
    }
}
