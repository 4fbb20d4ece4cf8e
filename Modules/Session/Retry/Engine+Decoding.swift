internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport

/// What the requests share that are parts of one: attempts of which the retriers are asked about responses that cannot be decoded,
/// or the two of a download that cannot be resumed.
struct Course: Sendable {
    let record: RequestRecord?
    let deadline: Tick?
}

extension Engine {
    /// Runs a request and reads its response, again when a retrier wants another attempt after the response could not be decoded.
    ///
    /// - Parameter attempt: Runs the chain once and reads the response.
    func decoding<Value>(
        _ request: SessionRequest, in call: CallContext,
        _ attempt: (Course?) async throws(SessionError) -> SessionResponse<Value>
    ) async throws(SessionError) -> SessionResponse<Value> {
        let retriers = retriers(with: call.own)
        guard !retriers.isEmpty else { return try await attempt(nil) }
        try running.begin(request.url)
        defer { running.end() }
        let record = RequestRecord(id: call.taskID ?? TaskID.next())
        let course = Course(record: record, deadline: deadline(of: request))
        var metrics: [TransportMetrics] = []
        while true {
            do throws(SessionError) {
                var response = try await attempt(course)
                response.attempts = metrics + response.attempts
                return response
            } catch {
                let failure = error.adding(metrics)
                guard failure.isOfDecoding, request.body?.canBeRead ?? true else { throw failure }
                let wait = try await wait(
                    after: failure, of: request, record, course.deadline, retriers: retriers, hooks: call.hooks)
                guard let wait else { throw failure }
                metrics = failure.metrics
                try await pause(for: wait, after: metrics, request.url)
            }
        }
    }

    /// The retriers of a call, then those of the session.
    func retriers(with own: CallChain?) -> [any RequestRetrier] {
        guard let own, !own.retriers.isEmpty else { return retriers }
        return own.retriers + retriers
    }

    /// Waits between two attempts; the error of a wait that is ended has the metrics of the attempts before it.
    func pause(for time: Duration, after attempts: [TransportMetrics], _ url: URL) async throws(SessionError) {
        do {
            try await running.sleep(for: time, by: clock, url)
        } catch {
            throw error.adding(attempts)
        }
    }

    private func wait(
        after failure: SessionError, of request: SessionRequest, _ record: RequestRecord, _ deadline: Tick?,
        retriers: [any RequestRetrier], hooks: RequestHooks?
    ) async throws(SessionError) -> Duration? {
        let attempt = RetryAttempt(
            number: record.attempts, request: request, head: failure.head, error: failure,
            sentRequest: record.adapted)
        do {
            return try await retriers.wait(
                after: attempt, policy: nil, hooks: hooks, deadline: deadline)
        } catch {
            throw SessionError(thrown: error, url: request.url)
        }
    }
}

extension SessionError {
    /// Whether the response arrived, was accepted, and could not be decoded. Retriers see other responses before that.
    fileprivate var isOfDecoding: Bool { code == .decodingFailed || code == .unacceptableContentType }
}
