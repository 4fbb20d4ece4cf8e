internal import HTTPTypes
internal import LinnetTransport

/// The concurrent attempts of a hedged request.
struct Hedge: Sendable {
    /// The answer that counts, and the metrics of the attempts that ended before it and do not count.
    struct Outcome: Sendable {
        var result: Result<TransportResponse, TransportError>
        var earlier: [TransportMetrics] = []
    }

    /// Sends a request, in an attempt with a number from 1.
    typealias Send = @Sendable (TransportRequest, Int) async throws(TransportError) -> TransportResponse

    private enum Event: Sendable {
        case ended(Result<TransportResponse, TransportError>)
        case due
    }

    let policy: HedgingPolicy
    let clock: any Clock<Duration>
    let send: Send
    /// Makes the request of the attempt with a number from 2, or returns nil if there is to be none.
    let next: @Sendable (Int) -> TransportRequest?

    /// Sends a request, and sends it again each time that no answer has come for a while.
    func run(_ request: TransportRequest) async -> Outcome {
        await withTaskGroup(of: Event.self) { group in
            defer { group.cancelAll() }
            var (attempts, running) = (1, 1)
            var earlier: [TransportMetrics] = []
            // The first response with the status of a server error: the answer if no other attempt has one.
            var spare: TransportResponse?
            group.addTask { await attempt(request, 1) }
            group.addTask { await wait() }
            while let event = await group.next() {
                switch event {
                case .due:
                    guard !Task.isCancelled, let request = next(attempts + 1) else { continue }
                    attempts += 1
                    running += 1
                    group.addTask { [attempts] in await attempt(request, attempts) }
                    if attempts < policy.maximumAttempts { group.addTask { await wait() } }
                case .ended(let result):
                    running -= 1
                    switch result {
                    case .success(let response) where response.head.status.kind == .serverError && running > 0:
                        if spare == nil { spare = response } else { earlier += response.attempts }
                    case .success(let response):
                        return Outcome(result: .success(response), earlier: earlier + (spare?.attempts ?? []))
                    case .failure(let error) where running > 0:
                        earlier += error.attempts
                    case .failure(let error):
                        guard let spare else { return Outcome(result: .failure(error), earlier: earlier) }
                        return Outcome(result: .success(spare), earlier: earlier + error.attempts)
                    }
                }
            }
            return Outcome(result: .failure(TransportError(.cancelled, "The request was cancelled.")))
        }
    }

    private func wait() async -> Event {
        try? await clock.sleepUntilCancelled(for: policy.delay)
        return .due
    }

    private func attempt(_ request: TransportRequest, _ number: Int) async -> Event {
        do {
            return .ended(.success(try await send(request, number)))
        } catch {
            return .ended(.failure(error))
        }
    }
}
