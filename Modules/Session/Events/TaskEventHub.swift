internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

/// Hands a session's events to whoever subscribed. While nobody has, asking costs one atomic load.
final class TaskEventHub: Sendable {
    private struct State {
        var lastKey: UInt64 = 0
        var subscribers: [(key: UInt64, receive: @Sendable (TaskEvent) -> Void)] = []
    }

    private let hasSubscribers = Atomic(false)
    private let state = Mutex(State())
    private let hooks: TaskHooks?
    private let executor: CallbackExecutor

    init(hooks: TaskHooks = TaskHooks(), executor: CallbackExecutor = .serial()) {
        self.hooks = hooks.isEmpty ? nil : hooks
        self.executor = executor
    }

    /// Whether every request has hooks.
    var hasHooks: Bool { hooks != nil }

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

    /// The hooks of a request: the session's and its own; nil when there are none.
    func hooks(of request: Request, _ own: TaskHooks?, _ kind: TaskKind, id: UInt64? = nil) -> RequestHooks? {
        guard hooks != nil || own != nil else { return nil }
        let context = HookContext(taskID: id ?? TaskID.next(), kind: kind, request: request)
        return RequestHooks(context, tables: [hooks, own].compactMap { $0 }, executor: executor)
    }

    func post(_ event: @autoclosure () -> TaskEvent) {
        guard isWatched else { return }
        let subscribers = state.withLock { $0.subscribers }
        let event = event()
        for subscriber in subscribers { subscriber.receive(event) }
    }

    /// Runs a request that has no handle, and reports when it starts and ends.
    func reporting<Value>(
        _ request: Request, _ hooks: RequestHooks?, _ run: () async throws(SessionError) -> Response<Value>
    ) async throws(SessionError) -> Response<Value> {
        let report = ReportedRequest(request, hooks, hub: self)
        report.post(.resumed)
        do {
            let response = try await run()
            report.complete(nil, response.metrics)
            return response
        } catch {
            report.complete(error, error.metrics)
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
    private let hooks: RequestHooks?
    private let hub: TaskEventHub

    var url: URL { request.url }

    init(_ request: Request, _ hooks: RequestHooks?, hub: TaskEventHub) {
        id = hooks?.context.taskID ?? TaskID.next()
        self.hooks = hooks
        self.request = request
        self.hub = hub
    }

    /// Posts the end, and tells the hooks of it.
    func complete(_ error: SessionError?, _ metrics: [TransportMetrics]) {
        post(.completed(error))
        hooks?.complete(error, metrics)
    }

    func post(_ kind: TaskEvent.Kind) {
        hub.post(
            TaskEvent(
                taskID: id, kind: kind, url: request.url.withoutUserInfo, tag: request.options.tag,
                taskDescription: nil))
    }
}
