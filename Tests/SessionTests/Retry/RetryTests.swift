import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct RetryTests {
    /// A clock that ends waits at once, and records them.
    private struct ImmediateClock: Clock {
        let waits = EventRecorder<Duration>()
        var now: ContinuousClock.Instant { ContinuousClock.now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            waits.record(.zero)
            try Task.checkCancellation()
        }
    }

    private static func limited(to limit: Int) -> RetryPolicy {
        var policy = RetryPolicy.limited(to: limit)
        policy.backoff.jitter = 0
        return policy
    }

    @Test(arguments: Surface.allCases)
    func nothingIsTriedAgainByDefault(surface: Surface) async throws {
        let transport = StubTransport { _ in .status(503) }
        let client = try makeClient(transport)
        #expect(await surface.send("a", with: client).error?.head?.status == .serviceUnavailable)
        #expect(transport.requests.count == 1)
    }

    /// The rest of the first response comes when the retry was decided. Its connection serves the retry.
    @Test func theBodyOfAnAttemptIsReadBeforeTheNext() async throws {
        let (isDecided, requests) = (Signal(), EventRecorder<Void>())
        try await withMockClient {
            $0.retryPolicy = Self.limited(to: 1)
            $0.retryPolicy.backoff.first = .zero
            $0.hooks.willRetry = { _, _, decision in
                isDecided.fire()
                return decision
            }
        } routes: {
            $0.on("/a") { _ in
                requests.record(())
                guard requests.events.count == 1 else { return .json("1") }
                let pieces = [Data(count: 10_000), Data(count: 10_000)]
                let body = MockResponse.Body.stream(GatedPieces(pieces: pieces, gate: isDecided), length: 20_000)
                // A retry that did not wait for the rest would come before it, on another connection.
                return MockResponse(status: .serviceUnavailable, body: body).with(
                    MockServer.Fault(.delay(.milliseconds(50)), at: .responseBody(after: 15_000)))
            }
        } perform: { client, server in
            let response = try await client.get("a").response()
            #expect(response.metrics.map(\.isReusedConnection) == [false, true])
            #expect(response.metrics.first?.responseBodyBytes == 20_000)
            #expect(server.acceptedConnections == 1)
        }
    }

    @Test(arguments: Surface.allCases)
    func attemptsAreMadeUpToTheLimit(surface: Surface) async throws {
        let clock = ImmediateClock()
        let transport = StubTransport { request in
            switch request.index {
            case 0: .status(503)
            case 1: throw TransportError(.connectionFailed, "No.")
            case 2: .json("1")
            default: .status(500)
            }
        }
        let client = try makeClient(transport) {
            $0.retryPolicy = Self.limited(to: 2)
            $0.clock = clock
        }
        let response = try await surface.send("a", with: client).get()
        #expect(response.value == 1)
        #expect(response.metrics.count == 2)
        #expect(clock.waits.events.count == 2)
        let error = await surface.send("a", with: client).error
        #expect(error?.head?.status == .internalServerError)
        #expect(transport.requests.count == 6)
    }

    /// The rest of a short response is read before the next attempt, which finds its connection free.
    @Test func anAttemptUsesThePreviousOnesConnection() async throws {
        let refusal = MockResponse(
            status: .serviceUnavailable, body: .bytes(Data(count: 40_000)),
            throttle: .init(bytes: 10_000, pause: .milliseconds(5)))
        try await withMockServer { request in
            request.exchangeIndex == 0 ? refusal : .text("ok")
        } perform: { server in
            let session = try HTTPSession(baseURL: server.url) {
                $0.retryPolicy = Self.limited(to: 1)
                $0.clock = ImmediateClock()
            }
            let response = try await session.get("a").response(StringResponseSerializer())
            #expect(response.value == "ok")
            await session.shutdown()
            #expect(server.acceptedConnections == 1)
            #expect(server.recordedRequests.map(\.exchangeIndex) == [0, 1])
        }
    }

    @Test func theClockMeasuresTheWait() async throws {
        let clock = ManualClock()
        let transport = StubTransport { $0.index == 0 ? .status(503, headerFields: [.retryAfter: "7"]) : .json("1") }
        let client = try makeClient(transport) {
            $0.retryPolicy = Self.limited(to: 1)
            $0.clock = clock
        }
        async let response = client.get("a").response(JSONResponseSerializer())
        try await clock.waitForSleepers(count: 1)
        #expect(transport.requests.count == 1)
        #expect(clock.nextDeadline?.offset == .seconds(7))
        clock.advance(by: .seconds(7))
        #expect(try await response.value == 1)
    }

    /// The continuous clock itself ends the process where it is asked for more.
    @Test func anEndlessRetryAfterIsLimitedToACentury() async throws {
        let clock = ManualClock()
        let client = try makeClient(StubTransport { _ in .status(503, headerFields: [.retryAfter: "\(Int64.max)"]) }) {
            $0.retryPolicy = Self.limited(to: 1)
            $0.retryPolicy.maximumRetryAfter = .seconds(Int64.max)
            $0.clock = clock
        }
        let task = Task { await Surface.async.send("a", with: client) }
        try await clock.waitForSleepers(count: 1)
        #expect(clock.nextDeadline?.offset == .seconds(100 * 365 * 86_400))
        task.cancel()
        #expect(await task.value.error?.code == .cancelled)
    }

    @Test(arguments: Surface.allCases)
    func cancellationEndsTheWait(surface: Surface) async throws {
        let clock = ManualClock()
        let client = try makeClient(StubTransport { _ in .status(503) }) {
            $0.retryPolicy = Self.limited(to: 1)
            $0.clock = clock
        }
        let task = Task { await surface.send("a", with: client) }
        try await clock.waitForSleepers(count: 1)
        if surface == .async { task.cancel() } else { client.cancelAll() }
        #expect(await task.value.error?.code == .cancelled)
    }

    @Test func noAttemptBeginsAfterTheTimeout() async throws {
        let transport = StubTransport { _ in .status(503) }
        let client = try makeClient(transport) {
            $0.retryPolicy = Self.limited(to: 1)
            $0.retryPolicy.backoff.first = .seconds(20)
        }
        var options = RequestOptions()
        options.timeout = .seconds(10)
        let error = await Surface.async.send("a", options: options, with: client).error
        #expect(error?.head?.status == .serviceUnavailable)
        #expect(transport.requests.count == 1)
    }

    @Test func aBodyThatCannotBeReplayedIsNotSentAgain() async throws {
        let transport = StubTransport { _ in .status(503) }
        var configuration = HTTPSession.Configuration()
        configuration.retryPolicy = Self.limited(to: 2)
        configuration.clock = ImmediateClock()
        let session = try HTTPSession(configuration: configuration, transport: transport)
        let once = HTTPRequestBody.stream(length: nil, isReplayable: false) { OnceReader() }
        _ = try? await session.call(makeRequest("a", method: .put, body: once)).response()
        #expect(transport.requests.count == 1)
        let again = HTTPRequestBody.stream(length: nil, isReplayable: true) { OnceReader() }
        _ = try? await session.call(makeRequest("a", method: .put, body: again)).response()
        #expect(
            transport.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["once", "once", "once", "once"])
    }

    @Test func retriersAreAskedBeforeThePolicyAndAdaptersSeeEachAttempt() async throws {
        struct Counting: RequestAdapter {
            let calls = EventRecorder<String>()

            func adapt(_ request: SessionRequest) async throws -> SessionRequest {
                calls.record(request.url.path)
                var request = request
                request.headerFields[.userAgent] = "attempt \(calls.events.count)"
                return request
            }
        }
        struct OnTeapot: RequestRetrier {
            func decide(on attempt: RetryPolicy.Attempt) async throws -> RetryPolicy.Decision {
                attempt.head?.status.code == 418 && attempt.number < 3 ? .retry(after: .zero) : .doNotRetry
            }
        }
        let transport = StubTransport { request in
            switch request.index {
            case 0, 2: .status(418)
            case 1: .status(302, headerFields: [.location: "/moved"])
            case 3: .json("1")
            default: .status(418)
            }
        }
        let adapter = Counting()
        let client = try makeClient(transport) {
            $0.retriers = [OnTeapot()]
            $0.requestAdapters = [adapter]
        }
        #expect(try await client.post("a").json() == 1)
        // The redirect is a part of the second attempt.
        #expect(adapter.calls.events.count == 3)
        #expect(
            transport.requests.map { $0.head.headerFields[.userAgent] } == [
                "attempt 1", "attempt 2", "attempt 2", "attempt 3",
            ])
    }

    @Test func theHookHasTheLastWord() async throws {
        let decisions = EventRecorder<RetryPolicy.Decision>()
        let transport = StubTransport { $0.index < 2 ? .status(404) : .json("1") }
        let client = try makeClient(transport) {
            $0.hooks.willRetry = { _, attempt, decision in
                decisions.record(decision)
                return attempt.head?.status.code == 404 ? .retry(after: .zero) : decision
            }
        }
        #expect(try await client.get("a").json() == 1)
        // It is not asked about the answer.
        #expect(decisions.events == [.doNotRetry, .doNotRetry])
    }

    /// A retrier that decides by the number alone does not repeat an answer.
    @Test func retriersAreAskedAboutFailures() async throws {
        struct Always: RequestRetrier {
            let judgesResponses: Bool

            func decide(on attempt: RetryPolicy.Attempt) -> RetryPolicy.Decision {
                attempt.number < 4 ? .retry(after: .zero) : .doNotRetry
            }
        }
        for (status, judges, count) in [
            (200, false, 1), (202, false, 1), (200, true, 4), (202, true, 4), (400, false, 4), (503, false, 4),
        ] {
            let transport = StubTransport { _ in .status(.init(code: status)) }
            let client = try makeClient(transport) { $0.retriers = [Always(judgesResponses: judges)] }
            _ = await sessionError { try await client.get("a").data() }
            #expect(transport.requests.count == count)
            await client.shutdown(.immediate)
        }
    }

    /// A status that is no error, but that the validation of the call refuses, is a failure.
    @Test(arguments: [true, false]) func aRefusedStatusIsAFailure(judges: Bool) async throws {
        struct Twice: RequestRetrier {
            let judgesResponses: Bool
            let seen = EventRecorder<SessionError.Code?>()

            func decide(on attempt: RetryPolicy.Attempt) -> RetryPolicy.Decision {
                seen.record(attempt.error?.code)
                return attempt.number < 2 ? .retry(after: .zero) : .doNotRetry
            }
        }
        let transport = StubTransport { _ in .status(202) }
        let retrier = Twice(judgesResponses: judges)
        let client = try makeClient(transport) { $0.retriers = [retrier] }
        let validation = ResponseValidation(statusCodes: RangeSet(200..<202))
        let error = await sessionError {
            try await client.get("a").response(DataResponseSerializer(validation: validation))
        }
        #expect(error?.code == .unacceptableStatus && error?.metrics.count == 2)
        #expect(transport.requests.count == 2)
        // One that judges responses was asked before the validation.
        #expect(retrier.seen.events == (judges ? [nil, nil] : [.unacceptableStatus, .unacceptableStatus]))
    }

    @Test(arguments: Version.allCases)
    func overTheWire(version: Version) async throws {
        let seen = EventRecorder<Void>()
        try await withMockClient(version) {
            $0.retryPolicy = Self.limited(to: 2)
            $0.clock = ImmediateClock()
        } routes: {
            $0.on("/a") { _ in
                seen.record(())
                return seen.events.count < 3 ? .text("busy", status: .serviceUnavailable) : .json("1")
            }
        } perform: { client, server in
            let response = try await client.get("a").response(JSONResponseSerializer())
            #expect(response.value == 1)
            #expect(server.recordedRequests.count == 3)
            #expect(server.acceptedConnections == 1)
        }
    }

    // MARK: Idempotency-Key

    @Test func aRequestWithAKeyIsRetriedWithTheSameKey() async throws {
        let transport = StubTransport { _ in .status(503) }
        let client = try makeClient(transport) {
            $0.retryPolicy = Self.limited(to: 2)
            $0.clock = ImmediateClock()
        }
        for _ in 0..<2 {
            let call = client.post("a", ["b": 1]).options { $0.sendsIdempotencyKey = true }
            _ = await #expect(throws: SessionError.self) { try await call.data() }
        }
        let keys = transport.requests.map { $0.head.headerFields[Self.key] ?? "none" }
        #expect(keys.count == 6 && Set(keys.prefix(3)).count == 1 && Set(keys.suffix(3)).count == 1)
        #expect(Set(keys).count == 2)
        #expect(keys.allSatisfy { $0.count == 38 && $0.first == "\"" && $0.last == "\"" })
    }

    @Test func aKeyOfTheCallersIsKept() async throws {
        let transport = StubTransport { _ in .status(503) }
        let client = try makeClient(transport) {
            $0.retryPolicy = Self.limited(to: 1)
            $0.clock = ImmediateClock()
        }
        _ = await #expect(throws: SessionError.self) {
            try await client.post("a").header(Self.key, "mine").options { $0.sendsIdempotencyKey = true }.data()
        }
        _ = await #expect(throws: SessionError.self) { try await client.post("a").data() }
        #expect(transport.requests.map { $0.head.headerFields[Self.key] } == ["mine", "mine", nil])
    }

    private static let key = HTTPField.Name("Idempotency-Key") ?? .range
}
