internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport

extension Engine {
    @inline(never)
    func sendHedged(
        _ walk: inout ChainWalk, _ flight: inout Flight, _ policy: HedgingPolicy
    ) async throws(SessionError) {
        let (chain, sent) = (chain, flight)
        try await transportLink.send(&walk, &flight, timeouts, hedging: policy, by: clock) { number in
            // The probe of a circuit that is half open is one request, and no other one goes to an origin that fails.
            guard chain.circuitBreaker?.state(of: sent.request.url) ?? .closed == .closed else { return false }
            guard chain.retryLedger?.takeRetry() ?? true else {
                sent.report(.refusedByBudget)
                return false
            }
            chain.log?.hedging(sent, number)
            sent.report(.hedge(attempt: number))
            return true
        }
    }

    // Not inlined: its temporary values would be part of the frame of a request that waits.
    @inline(never)
    func perform(_ action: ChainWalk.Action, _ walk: inout ChainWalk, _ flight: inout Flight) async {
        switch action {
        case .end, .send: break
        case .read(let response):
            walk.read(await whole(response), &flight)
        case .ask(let question):
            let step = flight.instruments?.begin(question.name)
            do {
                flight.answer = try await answer(to: question, flight)
            } catch {
                walk.fail(error, &flight)
            }
            step?.end(flight.request)
        case .again(let request, let wait, let otherwise):
            await sendAgain(&walk, &flight, request, after: wait, otherwise: otherwise)
        case .retry(let attempt, let wait):
            await sendAgain(&walk, &flight, attempt.request, after: wait, otherwise: .proceed, retrying: attempt)
        }
    }

    /// Performs a step of a link, and ends it at the deadline unless a timer around the request does.
    func timed<Value: Sendable>(
        _ flight: Flight, _ step: @escaping @Sendable () async throws(SessionError) -> Value
    ) async throws(SessionError) -> Value {
        guard !flight.isTimed, let deadline = flight.deadline else { return try await step() }
        return try await ending(by: deadline, flight.request.url, step)
    }

    private func answer(to question: ChainQuestion, _ flight: Flight) async throws(SessionError) -> ChainAnswer {
        // A store in memory answers at once, and a task group for each answer would cost noticeably more.
        if case .cache(let work, let task) = question, !work.link.mayTakeTime, !task.waits {
            return .cache(try await work.perform(task, by: self, flight))
        }
        return try await timed(flight) { () async throws(SessionError) in
            do {
                return try await self.ask(question, flight)
            } catch {
                throw SessionError(thrown: error, url: flight.request.url)
            }
        }
    }

    private func ask(_ question: ChainQuestion, _ flight: Flight) async throws -> ChainAnswer {
        switch question {
        case .adapted(let adapters):
            return .adapted(
                try await untilCancelled {
                    var request = flight.request
                    for adapter in adapters { request = try await adapter.adapt(request) }
                    return request
                })
        case .retry(let attempt, let retriers, let policy):
            return .retry(try await retriers.decide(on: attempt, policy, flight.hooks))
        case .redirect(let redirect, let proposal):
            return .redirect(try await flight.hooks?.willRedirect(redirect, proposal))
        case .challenge(let attempt):
            return .challenge(try await flight.hooks?.didReceiveChallenge(attempt))
        case .bodyHash(let algorithm):
            return .bodyHash(try await flight.request.bodyHash(algorithm))
        case .signature(let signer, let request):
            return .signed(request.applying(try await signer.fields(of: request), to: flight.request))
        case .renewal(let source, let version):
            try await source.renew(after: version, for: flight.request.url)
            return .renewed
        case .network(let watch, let condition, let limit, let isFirst):
            if isFirst { flight.hooks?.isWaitingForConnectivity() }
            return .network(await watch.wait(until: condition, for: limit, clock: clock))
        case .permit(let limiter, let origin):
            // Requests of other sessions, which this one's end does not stop, can have all places.
            return .permit(
                try await running.wait(flight.request.url) { () async throws(SessionError) in
                    try await limiter.permit(for: origin, flight.request.url)
                })
        case .cache(let work, let task):
            return .cache(try await work.perform(task, by: self, flight))
        }
    }

    /// - Parameter attempt: The attempt that is followed by another one; nil for a repetition that is no retry.
    private func sendAgain(
        _ walk: inout ChainWalk, _ current: inout Flight, _ request: SessionRequest, after wait: Duration,
        otherwise: ChainStep.Otherwise, retrying attempt: RetryPolicy.Attempt? = nil
    ) async {
        let flight = current
        do throws(SessionError) {
            // Before the response is read to its end: if the request cannot be sent again, the response may still go
            // up.
            guard
                let request = try await timed(
                    flight, { () async throws(SessionError) in try await flight.readable(request) })
            else {
                guard otherwise == .fail else { return walk.leave(&current) }
                throw SessionError.bodyNotReplayable(of: request)
            }
            // A retry that has no body is none, and takes nothing from the budget.
            if let attempt, !takeRetry(after: attempt, flight, in: wait) { return walk.leave(&current) }
            let attempts = await walk.outcome?.attempts(before: flight.deadline) ?? []
            if wait > .zero {
                let step = flight.instruments?.begin("pause before retry")
                try await timed(flight) { () async throws(SessionError) in
                    try await self.pause(for: wait, after: attempts, request.url)
                }
                step?.end(request)
            }
            walk.sendAgain(request, after: attempts, &current)
        } catch {
            if case .success(let response)? = walk.outcome { return walk.fail(error.adding(response), &current) }
            walk.fail(error, &current)
        }
    }

    /// Takes another attempt from the budget, and reports it or its refusal.
    func takeRetry(after attempt: RetryPolicy.Attempt, _ flight: Flight, in wait: Duration) -> Bool {
        guard chain.retryLedger?.takeRetry() ?? true else {
            chain.log?.notRetrying(attempt, flight)
            flight.report(.refusedByBudget)
            return false
        }
        chain.log?.retrying(attempt, flight, after: wait)
        flight.report(.retry(attempt: attempt.number + 1, delay: wait))
        return true
    }

    /// Returns the response with its body read. Like for any whole body, a failure fails the request.
    private func whole(_ response: StreamedResponse) async -> Flight.Outcome {
        await Result { () async throws(SessionError) in
            var response = response
            let bytes = try await collect(response)
            response.attempts = response.metrics
            response.body = .whole(bytes, response.body.completion)
            return response
        }
    }
}

extension Flight.Outcome {
    /// The metrics of the attempts of an unused outcome. Reads the unused response to its end, so that its connection
    /// can be reused.
    fileprivate func attempts(before deadline: Tick?) async -> [TransportMetrics] {
        switch self {
        case .success(let response):
            await response.body.drain(before: deadline)
            return response.metrics
        case .failure(let error):
            return error.metrics
        }
    }
}

extension Flight {
    /// The request with a body that can be read: its own, or one that a hook provides; nil if there is none.
    func readable(_ request: SessionRequest) async throws(SessionError) -> SessionRequest? {
        guard let body = request.body, !body.canBeRead else { return request }
        guard let new = try await hooks?.newBody(for: request) else { return nil }
        var request = request
        request.body = new
        return request
    }
}

extension [any RequestRetrier] {
    /// The decision on an attempt: by the first retrier that wants another one, or else by the policy; then by the
    /// hook.
    func decide(
        on attempt: RetryPolicy.Attempt, _ policy: RetryPolicy?, _ hooks: RequestHooks?
    ) async throws -> RetryPolicy.Decision {
        let decision = try await decide(on: attempt, policy)
        // A hook decides on failures, and on what others would retry.
        guard let hooks, decision != .doNotRetry || attempt.head?.isFailure ?? true || attempt.error != nil else {
            return decision
        }
        return try await hooks.willRetry(attempt, decision)
    }

    private func decide(on attempt: RetryPolicy.Attempt, _ policy: RetryPolicy?) async throws -> RetryPolicy.Decision {
        if !isEmpty {
            let decision = try await untilCancelled {
                for retrier in self {
                    let decision = try await retrier.decide(on: attempt)
                    if decision != .doNotRetry { return decision }
                }
                return RetryPolicy.Decision.doNotRetry
            }
            if decision != .doNotRetry { return decision }
        }
        return policy?.decide(on: attempt) ?? .doNotRetry
    }
}
