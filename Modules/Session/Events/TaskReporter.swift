internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

/// Reports the start and the end of one request, with a handle or without. Observers learn of the end in one order:
/// events, notifications, hooks, the group of requests, and the latch of the session's invalidation, which comes last
/// because it says that nothing else will follow.
struct TaskReporter: Sendable {
    let id: UInt64
    let kind: TaskKind
    /// Nil for work that is no request of its own.
    let request: SessionRequest?
    let hub: TaskEventHub

    init(_ kind: TaskKind, _ request: SessionRequest?, id: UInt64 = TaskID.next(), hub: TaskEventHub) {
        self.id = id
        self.kind = kind
        self.request = request
        self.hub = hub
    }

    func created() { post(.created, nil) }

    func resumed(_ description: @autoclosure () -> String? = nil) {
        post(.resumed, description())
        notify(.didResume, description())
    }

    func suspended(_ description: @autoclosure () -> String?) {
        post(.suspended, description())
        notify(.didSuspend, description())
    }

    func decided(
        _ decision: @autoclosure () -> TaskEvent.Decision, _ description: @autoclosure () -> String?
    ) {
        post(.decided(decision()), description())
    }

    /// Reports the end. It must be called once, after ``TaskEventHub/latch`` was entered.
    /// - Parameters:
    ///   - isCounted: Whether the request is in the group of requests.
    ///   - tellHooks: Submits the hooks for the end.
    func completed(
        _ error: SessionError?, _ completion: @autoclosure () -> TaskCompletion,
        _ description: @autoclosure () -> String? = nil, isCounted: Bool, tellHooks: () -> Void
    ) {
        post(.completed(error), description())
        notify(.didComplete(completion()), description())
        tellHooks()
        if isCounted { hub.leaveGroup() }
        hub.latch?.leave()
    }

    private func post(_ kind: @autoclosure () -> TaskEvent.Kind, _ description: @autoclosure () -> String?) {
        hub.post(event(kind(), description()))
    }

    func event(_ kind: TaskEvent.Kind, _ description: String? = nil) -> TaskEvent {
        TaskEvent(
            taskID: id, kind: kind, url: request?.url.withoutUserInfo, tag: request?.options.tag,
            taskDescription: description)
    }

    private func notify(_ event: @autoclosure () -> TaskNotification.Kind, _ description: @autoclosure () -> String?) {
        TaskNotifications.hub.post(
            TaskNotification(
                taskID: id, taskKind: kind, kind: event(), request: request, taskDescription: description()))
    }
}

/// A request without a handle, which reports its start and its end.
struct ReportedRequest: Sendable {
    let reporter: TaskReporter
    private let hooks: RequestHooks?
    let url: URL

    init(_ request: SessionRequest, _ kind: TaskKind, _ hooks: RequestHooks?, hub: TaskEventHub) {
        reporter = TaskReporter(kind, request, id: hooks?.context.taskID ?? TaskID.next(), hub: hub)
        self.hooks = hooks
        url = request.url
    }

    func start() {
        reporter.hub.latch?.enter()
        reporter.hub.group?.enter()
        reporter.resumed()
    }

    /// Reports the end of the request. It must be called once.
    func complete(_ completion: TaskCompletion) {
        reporter.completed(completion.error, completion, isCounted: true) {
            hooks?.complete(completion.error, completion.metrics)
        }
    }
}

/// Reports the end of a request without a handle whose body is streamed: at the end of the body, or when it is
/// deallocated.
final class StreamReport: Sendable {
    private let request: ReportedRequest
    private let hasEnded = Atomic(false)

    var reporter: TaskReporter { request.reporter }

    init(_ request: ReportedRequest) {
        self.request = request
        request.start()
    }

    deinit {
        complete(.cancelled(request.url), [])
    }

    func complete(_ error: SessionError?, _ metrics: [TransportMetrics]) {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        request.complete(TaskCompletion(error, metrics: metrics))
    }
}
