internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCache
internal import LinnetSerialization
internal import LinnetTransport

extension CacheExchange {
    /// Answers the request, after another one for the same URL that is on its way already.
    ///
    /// Then the rules decide again, with what is stored now. If that does not answer, the request is sent on its own. Only a
    /// request whose response is read whole makes others wait, so that they do not depend on how fast its reader is.
    func response() async throws(SessionError) -> StreamedResponse {
        guard let flights = cache.flights, canBeCollapsed else { return try await response(by: decision) }
        var exchange = self
        while exchange.decision.asksServer, let (flight, isLeader) = flights.join(key, mayLead: isReadWhole) {
            if isLeader { return try await exchange.response(leading: flight, of: flights) }
            let outcome = await flight.wait()
            if outcome == .cancelled { throw .cancelled(request.url) }
            exchange.stored = (try? await store.responses(for: key)) ?? []
            if outcome == .ended { break }
        }
        return try await exchange.response(by: exchange.decision)
    }

    private func response(
        leading flight: CacheFlight, of flights: CacheFlights
    ) async throws(SessionError) -> StreamedResponse {
        do {
            let response = try await response(by: decision)
            flights.end(key, flight, .ended)
            return response
        } catch {
            flights.end(key, flight, error.code == .cancelled ? .handedOver : .ended)
            throw error
        }
    }

    /// Those that wait have the limits of the one that they wait for, so all must have the session's. The limit on a whole
    /// request is its own while it waits.
    private var canBeCollapsed: Bool {
        !isRefresh && head.method == .get && request.body == nil && !head.headerFields.contains(.range)
            && [.protocolDefined, .storedElseLoad].contains(use) && request.options.waitsForConnectivity == nil
            && request.options.idleTimeout == nil && request.options.connectTimeout == nil
    }

    private var isReadWhole: Bool {
        if case .whole = next.exchange.delivery { true } else { false }
    }
}

extension CacheDecision {
    fileprivate var asksServer: Bool {
        switch self {
        case .load, .validate: true
        default: false
        }
    }
}
