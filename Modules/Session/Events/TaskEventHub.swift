internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport

/// Reports the events of a session's requests to subscribers, hooks and the group of requests. Without any of them, the
/// check costs a few loads.
final class TaskEventHub: Sendable {
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
    var isReporting: Bool { isWatched || hooks != nil || group != nil || TaskNotifications.hub.isWatched }

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
