internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetReachability
internal import LinnetSerialization
internal import LinnetTransport

/// Makes requests wait for the network. It sends each request first: a host, for example this machine, may be reachable
/// when the monitor knows of no network.
struct ConnectivityLink: ChainLink {
    /// The notes about the waits of a flight.
    struct Note: Sendable {
        /// The remaining time to wait; nil for no limit.
        var limit: Duration?
        /// The beginning of the current wait.
        let start: Tick
    }

    let watch: NetworkWatch
    /// Identifies hosts outside of the network.
    let transport: any Transport
    /// Whether requests wait by default.
    let waits: Bool
    let limit: Duration?

    func send(_ flight: inout Flight) -> ChainStep {
        flight.connectivity = nil
        return .proceed
    }

    func receive(_ failure: inout SessionError, _ flight: inout Flight) throws(SessionError) -> ChainStep {
        if case .network(let outcome) = flight.takeAnswer() { return try step(after: outcome, failure, &flight) }
        guard waits(after: failure, &flight) else { return .proceed }
        let condition = flight.request.options.networkCondition
        let last = flight.connectivity?.value
        let note = Note(limit: last.map(\.limit) ?? limit, start: .now)
        flight.connectivity = Boxed(note)
        return .ask(.network(watch, condition: condition, limit: note.limit, isFirst: last == nil))
    }

    /// Whether the request waits for the network after this failure. Then the failure says nothing about its origin.
    func waits(after failure: SessionError, _ flight: inout Flight) -> Bool {
        let request = flight.request
        guard request.options.waitsForConnectivity ?? waits, failure.isOfConnectivity, request.body?.canBeRead ?? true,
            let origin = try? flight.target().origin
        else { return false }
        return transport.unixSocket(of: origin) == nil && !watch.meets(request.options.networkCondition)
    }

    private func step(
        after outcome: NetworkWatch.Outcome, _ failure: SessionError, _ flight: inout Flight
    ) throws(SessionError) -> ChainStep {
        switch outcome {
        case .connected:
            if var note = flight.connectivity?.value {
                // The time left until a past moment is negative, so that the wait is subtracted.
                note.limit = note.limit.map { max(.zero, $0 + note.start.timeLeft) }
                flight.connectivity = Boxed(note)
            }
            return .again(flight.request, otherwise: .proceed)
        case .cancelled: throw SessionError.cancelled(flight.request.url).adding(metrics: failure.metrics)
        case .sessionEnded: throw SessionError.shutDown(flight.request.url).adding(metrics: failure.metrics)
        case .timedOut, .unwatched: return .proceed
        }
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
    /// Whether no byte of the request was sent because of a missing network.
    fileprivate var isOfConnectivity: Bool {
        // The proxy was reached.
        if let error = underlying as? TransportError, error.code == .proxyRefused { return false }
        return code == .connectionFailed || code == .nameResolutionFailed || code == .networkNotAllowed
            || timeout == .connect
    }
}
