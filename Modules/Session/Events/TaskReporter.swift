internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

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
        TaskNotifications.hub.post(
            TaskNotification(
                taskID: id, taskKind: kind, kind: event(), request: request, taskDescription: description()))
    }
}

/// A request without a handle, which reports its start and its end.
struct ReportedRequest: Sendable {
    let reporter: TaskReporter
    let request: SessionRequest
    private let hooks: RequestHooks?

    init(_ request: SessionRequest, _ kind: TaskKind, _ hooks: RequestHooks?, hub: TaskEventHub) {
        reporter = TaskReporter(kind, request, id: hooks?.context.taskID ?? TaskID.next(), hub: hub)
        self.request = request
        self.hooks = hooks
    }

    func start() {
        reporter.hub.latch?.enter()
        reporter.hub.group?.enter()
        reporter.resumed(request)
    }

    /// Reports the end of the request. It must be called once.
    func complete(_ completion: TaskCompletion) {
        reporter.completed(request, completion.error, completion, isCounted: true) {
            hooks?.complete(completion.error, completion.metrics)
        }
    }
}

/// Reports the end of a request without a handle whose body is streamed: at the end of the body, or when it is
/// deallocated.
final class StreamReport: Sendable {
    private let reported: ReportedRequest
    private let hasEnded = Atomic(false)

    var reporter: TaskReporter { reported.reporter }

    init(_ request: ReportedRequest) {
        reported = request
        request.start()
    }

    deinit {
        complete(.cancelled(reported.request.url), [])
    }

    func complete(_ error: SessionError?, _ metrics: [TransportMetrics]) {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        reported.complete(TaskCompletion(error, metrics: metrics))
    }
}
