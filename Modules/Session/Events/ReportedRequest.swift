internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

/// A request without a handle, which reports events and notifications.
struct ReportedRequest: Sendable {
    private let id: UInt64
    private let kind: TaskKind
    private let request: SessionRequest
    private let hooks: RequestHooks?
    private let hub: TaskEventHub

    var url: URL { request.url }

    init(_ request: SessionRequest, _ kind: TaskKind, _ hooks: RequestHooks?, hub: TaskEventHub) {
        id = hooks?.context.taskID ?? TaskID.next()
        self.kind = kind
        self.hooks = hooks
        self.request = request
        self.hub = hub
    }

    func start() {
        hub.latch?.enter()
        hub.group?.enter()
        post(.resumed)
        notify(.didResume)
    }

    /// Reports the end of the request. It must be called once.
    func complete(_ completion: TaskCompletion) {
        post(.completed(completion.error))
        notify(.didComplete(completion))
        hooks?.complete(completion.error, completion.metrics)
        hub.leaveGroup()
        hub.latch?.leave()
    }

    private func post(_ kind: TaskEvent.Kind) {
        hub.post(
            TaskEvent(
                taskID: id, kind: kind, url: request.url.withoutUserInfo, tag: request.options.tag,
                taskDescription: nil))
    }

    private func notify(_ event: TaskNotification.Kind) {
        TaskNotifications.hub.post(
            TaskNotification(taskID: id, taskKind: kind, kind: event, request: request, taskDescription: nil))
    }
}

/// Reports the end of a request without a handle whose body is streamed: at the end of the body, or when it is
/// deallocated.
final class StreamReport: Sendable {
    private let request: ReportedRequest
    private let hasEnded = Atomic(false)

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
