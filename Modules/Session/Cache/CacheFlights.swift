internal import LinnetCache
internal import LinnetTransport
internal import Synchronization

/// The requests that others with the same key wait for, in a session that collapses equal requests: at most one for each key.
final class CacheFlights: Sendable {
    private let flights = Mutex<[CacheKey: CacheFlight]>([:])

    /// The number of requests that wait for another.
    var waiting: Int { flights.withLock { Array($0.values) }.reduce(0) { $0 + $1.waiting } }

    /// The request of the key that is on its way. If there is none, the caller's is from now on, if it may be; else nil.
    func join(_ key: CacheKey, mayLead: Bool) -> (flight: CacheFlight, isLeader: Bool)? {
        flights.withLock { flights in
            if let flight = flights[key] { return (flight, false) }
            guard mayLead else { return nil }
            let flight = CacheFlight()
            flights[key] = flight
            return (flight, true)
        }
    }

    /// The leader has ended.
    func end(_ key: CacheKey, _ flight: CacheFlight, _ outcome: CacheFlight.Outcome) {
        // Those that come from now on do not join it.
        _ = flights.withLock { $0.removeValue(forKey: key) }
        flight.end(outcome)
    }
}

/// A request that others wait for.
final class CacheFlight: Sendable {
    enum Outcome: Sendable {
        /// The response is stored, cannot be stored, or there is none.
        case ended
        /// The leader was cancelled: one of those that wait takes its place.
        case handedOver
        /// The request that waits was cancelled.
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

/// Ends the flight of a leader at the latest when the leader is gone, so that nobody waits for ever.
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
