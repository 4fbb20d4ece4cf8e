internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

/// Reports the events of a session's requests to subscribers, hooks and the group of requests. Without any of them, the
/// check costs a few loads.
final class TaskEventHub: Sendable {
    /// The notifications of all sessions, see ``TaskNotifications``.
    static let notifications = Broadcaster<TaskNotification>()

    private let events = Broadcaster<TaskEvent>()
    private let hooks: TaskHooks?
    private let executor: CallbackExecutor
    let group: (any RequestGroup)?
    /// The latch that reports the session's invalidation; nil if there is no hook for it.
    let latch: InvalidationLatch?

    init(
        hooks: TaskHooks = TaskHooks(), executor: CallbackExecutor = .serial(), group: (any RequestGroup)? = nil,
        latch: InvalidationLatch? = nil
    ) {
        self.hooks = hooks.isEmpty ? nil : hooks
        self.executor = executor
        self.group = group
        self.latch = latch
    }

    var isWatched: Bool { events.isWatched }

    /// Whether requests without hooks of their own are reported.
    var isReporting: Bool { isWatched || hooks != nil || group != nil || Self.notifications.isWatched }

    /// Calls a function with each further event, on the thread of the event, until the observation is cancelled.
    func subscribe(_ receive: @escaping @Sendable (TaskEvent) -> Void) -> SessionObservation {
        events.subscribe(receive)
    }

    /// Returns the hooks of a request, the session's and its own; nil if there are none.
    func hooks(of request: SessionRequest, _ own: TaskHooks?, _ kind: TaskKind, id: UInt64? = nil) -> RequestHooks? {
        let own = own.flatMap { $0.isEmpty ? nil : $0 }
        guard hooks != nil || own != nil else { return nil }
        let context = TaskHooks.Context(taskID: id ?? TaskID.next(), kind: kind, request: request)
        return RequestHooks(context, tables: [hooks, own].compactMap { $0 }, executor: executor)
    }

    func post(_ event: @autoclosure () -> TaskEvent) {
        events.post(event())
    }

    /// Removes an ended request from the group, after its callbacks, which were submitted to the same executor.
    func leaveGroup() {
        guard let group else { return }
        executor.execute { group.leave() }
    }

    /// Runs a request without a handle, and reports its start and its end.
    func reporting<Value>(
        _ request: SessionRequest, kind: TaskKind, hooks: RequestHooks?, serializer: (any ResponseSerializer)? = nil,
        _ run: (TaskReporter) async throws(SessionError) -> SessionResponse<Value>
    ) async throws(SessionError) -> SessionResponse<Value> {
        let report = ReportedRequest(request, kind, hooks, hub: self)
        report.start()
        do {
            let response = try await run(report.reporter)
            report.complete(TaskCompletion(response, kind, serializer))
            return response
        } catch {
            report.complete(TaskCompletion(error, serializer))
            throw error
        }
    }
}

/// Reports the start and the end of one request, with a handle or without. Observers learn of the end in one order:
/// events, notifications, hooks, the group of requests, and the latch of the session's invalidation, which comes last
/// because it says that nothing else will follow.
///
/// Without observers, a report costs a few loads. It knows of its request what events tell of it.
struct TaskReporter: Sendable {
    let id: UInt64
    let kind: TaskKind
    let hub: TaskEventHub
    private let url: URL?
    private let tag: String?

    /// - Parameter request: The request; nil for work that is no request of its own.
    init(_ kind: TaskKind, _ request: SessionRequest?, id: UInt64 = TaskID.next(), hub: TaskEventHub) {
        self.id = id
        self.kind = kind
        self.hub = hub
        url = request?.url
        tag = request?.options.tag
    }

    func created() { post(.created, nil) }

    func resumed(_ request: SessionRequest?, _ description: @autoclosure () -> String? = nil) {
        post(.resumed, description())
        notify(.didResume, request, description())
    }

    func suspended(_ request: SessionRequest?, _ description: @autoclosure () -> String?) {
        post(.suspended, description())
        notify(.didSuspend, request, description())
    }

    func decided(
        _ decision: @autoclosure () -> TaskEvent.Decision, _ description: @autoclosure () -> String? = nil
    ) {
        post(.decided(decision()), description())
    }

    /// Reports the end of a request whose beginning had no observer to subscribers that have come since.
    func ended(_ error: SessionError?) { post(.completed(error), nil) }

    /// Reports the end. It must be called once, after ``TaskEventHub/latch`` was entered.
    /// - Parameters:
    ///   - isCounted: Whether the request is in the group of requests.
    ///   - tellHooks: Submits the hooks for the end.
    func completed(
        _ request: SessionRequest?, _ error: SessionError?, _ completion: @autoclosure () -> TaskCompletion,
        description: @autoclosure () -> String? = nil, isCounted: Bool, tellHooks: () -> Void
    ) {
        post(.completed(error), description())
        notify(.didComplete(completion()), request, description())
        tellHooks()
        if isCounted { hub.leaveGroup() }
        hub.latch?.leave()
    }

    private func post(_ kind: @autoclosure () -> TaskEvent.Kind, _ description: @autoclosure () -> String?) {
        hub.post(
            TaskEvent(
                taskID: id, kind: kind(), url: url?.withoutUserInfo, tag: tag, taskDescription: description()))
    }

    private func notify(
        _ event: @autoclosure () -> TaskNotification.Kind, _ request: SessionRequest?,
        _ description: @autoclosure () -> String?
    ) {
        TaskEventHub.notifications.post(
            TaskNotification(
                taskID: id, taskKind: kind, kind: event(), request: request, taskDescription: description()))
    }
}

/// Generates the IDs of requests, which are unique in the process.
enum TaskID {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 {
        last.add(1, ordering: .relaxed).newValue
    }
}

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
