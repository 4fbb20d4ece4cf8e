internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetTransport

/// Refuses requests to an origin that fails, and tells the breaker of each outcome.
struct CircuitLink: ChainLink {
    let breaker: CircuitBreaker
    /// Nil in a session without a monitor.
    var connectivity: ConnectivityLink?

    func send(_ flight: inout Flight) throws(SessionError) -> ChainStep {
        flight.circuit = nil
        let origin = try flight.target().origin
        switch breaker.admit(origin) {
        case .admitted(let phase):
            flight.circuit = Boxed(phase)
            return .proceed
        case .refused(let wait):
            flight.report(.refusedByCircuitBreaker(origin))
            let seconds = (wait / .milliseconds(100)).rounded(.up) / 10
            throw SessionError(
                .circuitOpen,
                "The last requests to \(origin) failed, so the circuit breaker refuses others for \(seconds) seconds.",
                url: flight.request.url)
        }
    }

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) throws(SessionError) -> ChainStep {
        try record(breaker.configuration.statusCodes.contains(response.head.status.code) ? .failure : .success, &flight)
        return .proceed
    }

    func receive(_ failure: inout SessionError, _ flight: inout Flight) throws(SessionError) -> ChainStep {
        let isFailure =
            breaker.configuration.errorCodes.contains(flight.finalCode(of: failure))
            && connectivity?.waits(after: failure, &flight) != true
        try record(isFailure ? .failure : .unknown, &flight)
        return .proceed
    }

    private func record(_ outcome: CircuitMachine.Outcome, _ flight: inout Flight) throws(SessionError) {
        guard let phase = flight.circuit?.value else { return }
        flight.circuit = nil
        breaker.record(outcome, of: phase, try flight.target().origin)
    }
}

extension Flight {
    /// The code that a failure has in the end: a timer around the request cancels it, and calls that a timeout only
    /// later.
    func finalCode(of failure: SessionError) -> SessionError.Code {
        let isLate = failure.code == .cancelled && isTimed && deadline.map { .now >= $0 } ?? false
        return isLate ? .timeout : failure.code
    }
}
