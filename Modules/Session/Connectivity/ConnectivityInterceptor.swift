internal import FoundationEssentials
internal import LinnetReachability
internal import LinnetSerialization
internal import LinnetTransport

/// The link that lets requests wait for the network. It sends each request first: a host may be reachable when the monitor knows
/// of no network, as the machine itself is.
struct ConnectivityInterceptor: Interceptor {
    let watch: NetworkWatch
    /// Knows which hosts are not on the network.
    let transport: any Transport
    /// Whether requests wait that do not say so.
    let waits: Bool
    let limit: Duration?

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        guard request.options.waitsForConnectivity ?? waits else { return try await next(request) }
        let condition = request.options.networkCondition
        let clock = next.engine.clock
        var limit = limit
        var failed: [TransportMetrics] = []
        var hasTold = false
        while true {
            let outcome = await Result { () async throws(SessionError) in try await next(request) }
            switch outcome {
            case .success(var response):
                response.attempts = failed + response.attempts
                return response
            case .failure(let error):
                let error = error.adding(failed)
                guard error.isOfConnectivity, request.body?.canBeRead ?? true, try isOverNetwork(request),
                    !watch.meets(condition)
                else { throw error }
                if !hasTold { next.exchange.call.hooks?.isWaitingForConnectivity() }
                hasTold = true
                failed = error.metrics
                let start = ContinuousClock.now
                switch await watch.wait(until: condition, for: limit, clock: clock) {
                case .connected: break
                case .cancelled: throw SessionError.cancelled(request.url).adding(metrics: failed)
                case .sessionEnded: throw SessionError.shutDown(request.url).adding(metrics: failed)
                case .timedOut, .unwatched: throw error
                }
                limit = limit.map { max(.zero, $0 - (.now - start)) }
            }
        }
    }

    private func isOverNetwork(_ request: SessionRequest) throws(SessionError) -> Bool {
        transport.unixSocket(of: try RequestTarget(request.url).origin) == nil
    }
}

extension RequestOptions {
    /// The network that the request may use.
    fileprivate var networkCondition: @Sendable (ReachabilityStatus) -> Bool {
        let isRestricted = allowsExpensiveNetworks == false
        return { $0.isReachable && !(isRestricted && $0.isExpensive) }
    }
}

extension SessionError {
    /// Whether no byte of the request was sent for want of a network.
    fileprivate var isOfConnectivity: Bool {
        // The proxy was reached.
        if let error = underlying as? TransportError, error.code == .proxyRefused { return false }
        return code == .connectionFailed || code == .nameResolutionFailed || code == .networkNotAllowed
            || timeout == .connect
    }
}
