internal import FoundationEssentials
internal import LinnetSerialization
internal import Synchronization

/// Hands a session's events to whoever subscribed. While nobody has, asking costs one atomic load.
final class TaskEventHub: Sendable {
    private struct State {
        var lastKey: UInt64 = 0
        var subscribers: [(key: UInt64, receive: @Sendable (TaskEvent) -> Void)] = []
    }

    private let hasSubscribers = Atomic(false)
    private let state = Mutex(State())

    var isWatched: Bool { hasSubscribers.load(ordering: .acquiring) }

    /// Calls a function with each event from now on, on the thread where it happens, until the observation is cancelled.
    func subscribe(_ receive: @escaping @Sendable (TaskEvent) -> Void) -> SessionObservation {
        let key = state.withLock { state in
            state.lastKey += 1
            state.subscribers.append((state.lastKey, receive))
            hasSubscribers.store(true, ordering: .releasing)
            return state.lastKey
        }
        return SessionObservation { [weak self] in self?.unsubscribe(key) }
    }

    func post(_ event: @autoclosure () -> TaskEvent) {
        guard isWatched else { return }
        let subscribers = state.withLock { $0.subscribers }
        let event = event()
        for subscriber in subscribers { subscriber.receive(event) }
    }

    /// Runs a request that has no handle, and reports when it starts and ends.
    func reporting<Value>(
        _ request: Request, id: UInt64? = nil, _ run: () async throws(SessionError) -> Value
    ) async throws(SessionError) -> Value {
        let report = ReportedRequest(request, id: id, hub: self)
        report.post(.resumed)
        do {
            let value = try await run()
            report.post(.completed(nil))
            return value
        } catch {
            report.post(.completed(error))
            throw error
        }
    }

    private func unsubscribe(_ key: UInt64) {
        state.withLock { state in
            state.subscribers.removeAll { $0.key == key }
            hasSubscribers.store(!state.subscribers.isEmpty, ordering: .releasing)
        }
    }
}

/// A request without a handle, as the events name it.
struct ReportedRequest: Sendable {
    private let id: UInt64
    private let request: Request
    private let hub: TaskEventHub

    var url: URL { request.url }

    init(_ request: Request, id: UInt64? = nil, hub: TaskEventHub) {
        self.id = id ?? TaskID.next()
        self.request = request
        self.hub = hub
    }

    func post(_ kind: TaskEvent.Kind) {
        hub.post(
            TaskEvent(
                taskID: id, kind: kind, url: request.url.withoutUserInfo, tag: request.options.tag,
                taskDescription: nil))
    }
}
