internal import LinnetTransport
internal import Synchronization

/// Reports the end of a request without a handle whose body is streamed: at the end of the body, or when it is deallocated.
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
