internal import LinnetSerialization
internal import LinnetTransport

/// What the attempts of a request share when the retriers are also asked about responses that cannot be decoded.
struct Decoding: Sendable {
    let record: RequestRecord
    let deadline: Tick?
}

extension Engine {
    /// Runs a request and reads its response, again when a retrier wants another attempt after the response could not be decoded.
    ///
    /// - Parameter attempt: Runs the chain once and reads the response.
    func decoding<Value>(
        _ request: SessionRequest, in call: CallContext,
        _ attempt: (Decoding?) async throws(SessionError) -> SessionResponse<Value>
    ) async throws(SessionError) -> SessionResponse<Value> {
        let retriers = retriers(with: call.own)
        guard !retriers.isEmpty else { return try await attempt(nil) }
        let decoding = Decoding(
            record: RequestRecord(id: call.taskID ?? TaskID.next()), deadline: deadline(of: request))
        var metrics: [TransportMetrics] = []
        while true {
            do throws(SessionError) {
                var response = try await attempt(decoding)
                response.attempts = metrics + response.attempts
                return response
            } catch {
                let failure = error.adding(metrics)
                guard failure.isOfDecoding, request.body?.canBeRead ?? true else { throw failure }
                let wait = try await wait(
                    after: failure, of: request, decoding, retriers: retriers, hooks: call.hooks)
                guard let wait else { throw failure }
                metrics = failure.metrics
                do {
                    try await clock.sleep(for: wait.waitable)
                } catch {
                    throw .cancelled(request.url)
                }
            }
        }
    }

    /// The retriers of a call, then those of the session.
    func retriers(with own: CallChain?) -> [any RequestRetrier] {
        guard let own, !own.retriers.isEmpty else { return retriers }
        return own.retriers + retriers
    }

    private func wait(
        after failure: SessionError, of request: SessionRequest, _ decoding: Decoding, retriers: [any RequestRetrier],
        hooks: RequestHooks?
    ) async throws(SessionError) -> Duration? {
        let attempt = RetryAttempt(
            number: decoding.record.attempts, request: request, head: failure.head, error: failure,
            sentRequest: decoding.record.adapted)
        do {
            return try await retriers.wait(
                after: attempt, policy: nil, hooks: hooks, deadline: decoding.deadline)
        } catch {
            throw SessionError(thrown: error, url: request.url)
        }
    }
}

extension SessionError {
    /// Whether the response arrived, was accepted, and could not be decoded. Retriers see other responses before that.
    fileprivate var isOfDecoding: Bool { code == .decodingFailed || code == .unacceptableContentType }
}
