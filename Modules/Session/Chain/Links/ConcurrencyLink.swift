internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetTransport

/// Makes requests wait while as many run at their origin as it can serve, and tells the limiter of each outcome.
struct ConcurrencyLink: ChainLink {
    let limiter: ConcurrencyLimiter
    /// Nil in a session without a monitor.
    var connectivity: ConnectivityLink?

    func send(_ flight: inout Flight) throws(SessionError) -> ChainStep {
        flight.permit = nil
        if case .permit(let permit) = flight.takeAnswer() {
            flight.permit = permit
            return .proceed
        }
        let origin = try flight.target().origin
        guard let permit = limiter.permit(for: origin) else {
            flight.report(.waitForConcurrencyLimiter(origin))
            return .ask(.permit(limiter, origin))
        }
        flight.permit = permit
        return .proceed
    }

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) -> ChainStep {
        let isOverload = limiter.configuration.statusCodes.contains(response.head.status.code)
        flight.permit?.end(isOverload ? .overload : .success)
        flight.permit = nil
        return .proceed
    }

    func receive(_ failure: inout SessionError, _ flight: inout Flight) -> ChainStep {
        let isOverload =
            limiter.configuration.errorCodes.contains(flight.finalCode(of: failure))
            && connectivity?.waits(after: failure, &flight) != true
        flight.permit?.end(isOverload ? .overload : .unknown)
        flight.permit = nil
        return .proceed
    }
}
