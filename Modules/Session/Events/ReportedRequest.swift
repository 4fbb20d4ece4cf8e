internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

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
