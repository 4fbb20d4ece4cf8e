internal import Synchronization

/// Delivers events to subscribers. Without subscribers, posting an event costs one atomic load.
final class Broadcaster<Event: Sendable>: Sendable {
    private struct State {
        var lastKey: UInt64 = 0
        var subscribers: [(key: UInt64, receive: @Sendable (Event) -> Void)] = []
    }

    private let hasSubscribers = Atomic(false)
    private let state = Mutex(State())

    var isWatched: Bool { hasSubscribers.load(ordering: .acquiring) }

    /// Calls a function with each further event, on the thread of the event, until the observation is cancelled.
    func subscribe(_ receive: @escaping @Sendable (Event) -> Void) -> SessionObservation {
        let key = state.withLock { state in
            state.lastKey += 1
            state.subscribers.append((state.lastKey, receive))
            hasSubscribers.store(true, ordering: .releasing)
            return state.lastKey
        }
        return SessionObservation { [weak self] in self?.unsubscribe(key) }
    }

    func post(_ event: @autoclosure () -> Event) {
        guard isWatched else { return }
        let subscribers = state.withLock { $0.subscribers }
        let event = event()
        for subscriber in subscribers { subscriber.receive(event) }
    }

    private func unsubscribe(_ key: UInt64) {
        let removed = state.withLock { state in
            let removed = state.subscribers.firstIndex { $0.key == key }.map { state.subscribers.remove(at: $0) }
            hasSubscribers.store(!state.subscribers.isEmpty, ordering: .releasing)
            return removed
        }
        // Released after unlocking: an object that only the function holds may post an event when it is released.
        withExtendedLifetime(removed) {}
    }
}

/// The registration of an observer. Cancelling it ends the calls to the observer; deallocating it does not.
public final class SessionObservation: Sendable {
    private let end: Mutex<(@Sendable () -> Void)?>

    package init(_ end: @escaping @Sendable () -> Void) {
        self.end = Mutex(end)
    }

    /// Ends the calls to the observer. A call that another thread has already begun can still run after this returns.
    public func cancel() {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?()
    }
}
