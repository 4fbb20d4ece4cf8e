import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

@Suite("Hedging", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct HedgingTests {
    private static let policy = HedgingPolicy(after: .milliseconds(50))

    /// A session over a transport whose answers take these times of a clock, in the order of the requests.
    private func withSession(
        _ times: [Duration], statuses: [Int] = [], policy: HedgingPolicy? = Self.policy,
        configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        perform: (HTTPSession, StubTransport, ManualClock) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let transport = StubTransport { request in
            try await clock.sleep(for: request.index < times.count ? times[request.index] : .milliseconds(10))
            let status = request.index < statuses.count ? statuses[request.index] : 200
            if status == 0 { throw TransportError(.connectionClosed, "Closed.") }
            return .json("\(request.index)", status: .init(code: status))
        }
        let session = try makeClient(transport) {
            $0.clock = clock
            $0.hedging = policy
            configure(&$0)
        }
        try await perform(session, transport, clock)
        await session.shutdown(.immediate)
    }

    @Test func aLateAnswerIsOvertaken() async throws {
        try await withSession([.seconds(1)]) { session, transport, clock in
            async let text = session.get("x").text()
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(50))
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(10))
            #expect(try await text == "1")
            #expect(transport.requests.count == 2)
            #expect(clock.now.offset == .milliseconds(60))
            // The loser is cancelled.
            #expect(clock.sleepers == 0)
        }
    }

    @Test func anAnswerInTimeIsNotHedged() async throws {
        try await withSession([.milliseconds(50)], policy: HedgingPolicy(after: .milliseconds(51))) {
            session, transport, clock in
            async let text = session.get("x").text()
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(50))
            #expect(try await text == "0")
            #expect(transport.requests.count == 1)
        }
    }

    @Test func theFirstAnswerCanStillWin() async throws {
        try await withSession([.milliseconds(100), .seconds(1)]) { session, transport, clock in
            async let text = session.get("x").text()
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(50))
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(50))
            #expect(try await text == "0")
            #expect(transport.requests.count == 2)
        }
    }

    /// 0 stands for a failure of the connection.
    @Test(arguments: [([500, 200], "1"), ([0, 200], "1"), ([200, 0], "0"), ([503, 0], nil), ([0, 500], nil)])
    func aFailureDoesNotEndTheOther(statuses: [Int], text: String?) async throws {
        try await withSession([.milliseconds(100), .milliseconds(60)], statuses: statuses) { session, _, clock in
            async let response = session.get("x").response()
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(50))
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(50))
            if text == "0" {
                #expect(try await String(decoding: response.value, as: UTF8.self) == text)
                return
            }
            clock.advance(by: .milliseconds(10))
            do {
                #expect(try await text.map { Data($0.utf8) } == response.value)
            } catch {
                #expect(text == nil && (error as? SessionError)?.code == .unacceptableStatus)
            }
        }
    }

    @Test func allAttemptsFailWithTheLastOne() async throws {
        try await withSession([.milliseconds(100), .milliseconds(60)], statuses: [0, 0]) { session, _, clock in
            async let error = sessionError { try await session.get("x").text() }
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(50))
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(60))
            #expect(await error?.code == .connectionLost)
        }
    }

    @Test func thereAreAtMostAsManyAttempts() async throws {
        let policy = HedgingPolicy(after: .milliseconds(50), maximumAttempts: 3)
        try await withSession(Array(repeating: .seconds(1), count: 9), policy: policy) { session, transport, clock in
            async let text = session.get("x").text()
            for sleepers in [2, 3, 3] {
                try await clock.waitForSleepers(count: sleepers)
                clock.advance(by: .milliseconds(50))
            }
            clock.advance(to: .init(offset: .seconds(1)))
            #expect(try await text == "0")
            #expect(transport.requests.count == 3)
        }
    }

    /// A request that may not be performed twice is sent once: its only sleeper is its answer.
    @Test(arguments: [(HTTPRequest.Method.post, false, 1), (.post, true, 2), (.put, false, 2), (.patch, false, 1)])
    func onlyIdempotentRequestsAreHedged(method: HTTPRequest.Method, hasKey: Bool, count: Int) async throws {
        try await withSession([.seconds(1), .seconds(1)]) { session, transport, clock in
            var options = RequestOptions()
            options.sendsIdempotencyKey = hasKey
            async let text = session.call(makeRequest(method: method)).body(json: ["a": 1]).options(options).text()
            try await clock.waitForSleepers(count: count)
            clock.advance(by: .milliseconds(50))
            if count == 2 { try await clock.waitForSleepers(count: 2) }
            clock.advance(by: .seconds(1))
            _ = try await text
            #expect(transport.requests.count == count)
            #expect(Set(transport.requests.map { $0.head.headerFields[.init("Idempotency-Key")!] }).count == 1)
            #expect(transport.requests.allSatisfy { $0.body == Data(#"{"a":1}"#.utf8) })
        }
    }

    @Test func aBodyThatCanBeReadOnceIsSentOnce() async throws {
        try await withSession([.seconds(1)]) { session, transport, clock in
            let body = HTTPRequestBody.stream(length: nil, isReplayable: false) { NoBytes() }
            async let text = session.call(makeRequest(method: .put)).body(body).text()
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(1))
            #expect(try await text == "0")
            #expect(transport.requests.count == 1)
        }
    }

    @Test func theBudgetLimitsHedges() async throws {
        try await withSession([.seconds(1)]) {
            $0.retryBudget = RetryBudget(share: 0, minimumPerSecond: 0)
        } perform: { session, transport, clock in
            let decisions = EventRecorder<TaskEvent.Decision>()
            session.onEvent { if case .decided(let decision) = $0.kind { decisions.record(decision) } }
            async let text = session.get("x").text()
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(50))
            try await decisions.wait(count: 1)
            clock.advance(by: .seconds(1))
            #expect(try await text == "0")
            #expect(transport.requests.count == 1)
            #expect(decisions.events == [.refusedByBudget])
        }
    }

    @Test func aCancelledRequestCancelsAllAttempts() async throws {
        try await withSession([.seconds(1), .seconds(1)]) { session, transport, clock in
            let sending = Task { await sessionError { try await session.get("x").text() } }
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(50))
            try await clock.waitForSleepers(count: 2)
            sending.cancel()
            #expect(await sending.value?.code == .cancelled)
            #expect(clock.sleepers == 0 && transport.requests.count == 2)
        }
    }

    /// The loser is no failure of its origin.
    @Test func aCircuitBreakerCountsOneOutcome() async throws {
        let breaker = CircuitBreaker {
            $0.minimumRequests = 1
            $0.failureShare = 0.01
        }
        try await withSession([.seconds(1)]) {
            $0.circuitBreaker = breaker
        } perform: { session, _, clock in
            async let text = session.get("x").text()
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(50))
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(10))
            #expect(try await text == "1")
            #expect(try breaker.state(of: #require(URL(string: "http://example.com/"))) == .closed)
        }
    }

    @Test func theProbeOfACircuitIsNotHedged() async throws {
        let breaker = CircuitBreaker {
            $0.minimumRequests = 1
            $0.openDuration = .nanoseconds(1)
        }
        try await withSession([.milliseconds(10), .seconds(1)], statuses: [500]) {
            $0.circuitBreaker = breaker
        } perform: { session, transport, clock in
            async let error = sessionError { try await session.get("x").text() }
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(10))
            #expect(await error?.code == .unacceptableStatus)
            async let text = session.get("x").text()
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(50))
            clock.advance(by: .seconds(1))
            #expect(try await text == "1")
            #expect(transport.requests.count == 2)
        }
    }

    @Test(arguments: Surface.allCases)
    func hedgesAreReportedOnEverySurface(surface: Surface) async throws {
        try await withSession([.seconds(1)]) { session, _, clock in
            let decisions = EventRecorder<TaskEvent.Decision>()
            session.onEvent { if case .decided(let decision) = $0.kind { decisions.record(decision) } }
            async let result = surface.send("x", with: session)
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(50))
            try await clock.waitForSleepers(count: 2)
            clock.advance(by: .milliseconds(10))
            #expect(await result.error == nil)
            #expect(try await decisions.wait(count: 1) == [.hedge(attempt: 2)])
        }
    }

    @Test(arguments: [
        HedgingPolicy(after: .seconds(-1)), .init(after: .zero, maximumAttempts: 0),
        .init(after: .zero, maximumAttempts: 6),
    ])
    func invalidPoliciesAreRefused(policy: HedgingPolicy) async throws {
        #expect {
            try HTTPSession { $0.hedging = policy }
        } throws: { ($0 as? SessionError)?.code == .invalidConfiguration }
        let session = try makeClient()
        let error = await sessionError { try await session.get("x").hedging(policy).text() }
        #expect(error?.code == .invalidConfiguration)
        await session.shutdown()
    }

    /// A streamed response: the head that comes first counts, and the other one's connection is given up.
    @Test(arguments: Version.allCases) func aStreamIsHedgedOverConnections(version: Version) async throws {
        let gate = Signal()
        let visits = Mutex(0)
        try await withMockClient(version) {
            $0.hedging = HedgingPolicy(after: .zero)
        } routes: {
            $0.on("/a") { _ in
                if visits.withLock({
                    $0 += 1; return $0
                }) == 1 {
                    await gate.wait()
                }
                return .text("abc")
            }
        } perform: { session, server in
            let response = try await session.get("/a").bytes()
            #expect(try await response.body.collect(upTo: 10) == Data("abc".utf8))
            gate.fire()
            #expect(server.recordedRequests.count == 2)
        }
    }

    /// A server that answers every fiftieth request after a second, and others after 10 ms, by a given clock.
    @Test func the99thPercentileIsCutBelowHalf() async throws {
        func percentile(_ policy: HedgingPolicy?) async throws -> (latency: Duration, sent: Int) {
            var latencies: [Duration] = []
            var sent = 0
            let clock = ManualClock()
            let arrivals = Mutex(0)
            let transport = StubTransport { request in
                let number = arrivals.withLock {
                    $0 += 1; return $0
                }
                try await clock.sleep(for: number.isMultiple(of: 50) ? .seconds(1) : .milliseconds(10))
                return .status(200)
            }
            let session = try makeClient(transport) {
                $0.clock = clock
                $0.hedging = policy
            }
            for _ in 0..<500 {
                let start = clock.now
                async let response = session.get("x").response()
                while clock.sleepers < (policy == nil ? 1 : 2) { await Task.yield() }
                let isSlow = arrivals.withLock { $0.isMultiple(of: 50) }
                if isSlow, policy != nil {
                    clock.advance(by: .milliseconds(50))
                    try await clock.waitForSleepers(count: 2)
                }
                clock.advance(by: isSlow && policy == nil ? .seconds(1) : .milliseconds(10))
                _ = try await response
                latencies.append(start.duration(to: clock.now))
            }
            sent = transport.requests.count
            await session.shutdown()
            return (latencies.sorted()[494], sent)
        }
        let plain = try await percentile(nil)
        let hedged = try await percentile(Self.policy)
        #expect(plain.latency == .seconds(1) && plain.sent == 500)
        #expect(hedged.latency == .milliseconds(60))
        #expect(hedged.sent <= 515)
    }
}

private struct NoBytes: HTTPRequestBodyReader {
    mutating func next() -> Data? { nil }
}
