internal import LinnetTransport
internal import Synchronization

/// Reports the end of a request without a handle whose body outlives the call: at its end, or when it is dropped.
final class StreamReport: Sendable {
    private let request: ReportedRequest
    private let hasEnded = Atomic(false)

    init(_ request: ReportedRequest) {
        self.request = request
        request.post(.resumed)
    }

    deinit {
        complete(.cancelled(request.url), [])
    }

    func complete(_ error: SessionError?, _ metrics: [TransportMetrics]) {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        request.complete(error, metrics)
    }
}
