internal import LinnetCache
internal import LinnetMessages
internal import LinnetTransport
internal import Synchronization

/// The requests that others with the same key wait for, in a session that collapses equal requests: at most one for
/// each key.
final class CacheFlights: Sendable {
    private let flights = Mutex<[CacheKey: CacheFlight]>([:])

    /// The number of requests that wait for another.
    var waiting: Int { flights.withLock { Array($0.values) }.reduce(0) { $0 + $1.waiting } }

    /// Returns the running request for the key. Without one, the caller's becomes it if it may lead; otherwise nil.
    func join(_ key: CacheKey, mayLead: Bool) -> (flight: CacheFlight, isLeader: Bool)? {
        flights.withLock { flights in
            if let flight = flights[key] { return (flight, false) }
            guard mayLead else { return nil }
            let flight = CacheFlight()
            flights[key] = flight
            return (flight, true)
        }
    }

    /// Ends the flight of a leader.
    func end(_ key: CacheKey, _ flight: CacheFlight, _ outcome: CacheFlight.Outcome) {
        // Later requests do not join it.
        _ = flights.withLock { $0.removeValue(forKey: key) }
        flight.end(outcome)
    }
}

/// A request that others wait for.
final class CacheFlight: Sendable {
    enum Outcome: Sendable {
        /// The response is stored, cannot be stored, or there is none.
        case ended
        /// The leader was cancelled, and one of the waiting requests takes its place.
        case handedOver
        /// The waiting request was cancelled.
        case cancelled
    }

    private struct State {
        var outcome: Outcome?
        var waiters = Waiters<Outcome>()
    }

    private let state = Mutex(State())

    var waiting: Int { state.withLock { $0.waiters.count } }

    func wait() async -> Outcome {
        await state.wait(in: { $1(&$0.waiters) }, ifCancelled: { .cancelled }) { $0.outcome }
    }

    fileprivate func end(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            return state.waiters.takeAll()
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }
}

/// Ends the flight of a leader no later than the leader's release, so that no request waits forever.
final class CacheLead: Sendable {
    private let flights: CacheFlights
    private let key: CacheKey
    private let flight: CacheFlight
    private let hasEnded = Atomic(false)

    init(_ flights: CacheFlights, _ key: CacheKey, _ flight: CacheFlight) {
        self.flights = flights
        self.key = key
        self.flight = flight
    }

    deinit { end(.handedOver) }

    /// Only the first call has an effect.
    func end(_ outcome: CacheFlight.Outcome) {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        flights.end(key, flight, outcome)
    }
}
