import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

@Suite("Equal requests at once", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct CollapsingTests {
    /// A server that answers once it is told to.
    private struct Gate: Sendable {
        let arrived = Signal()
        let open = Signal()
    }

    private func withGate(
        _ configure: (inout HTTPSession.Configuration) -> Void = { $0.collapsesEqualRequests = true },
        respond: @escaping @Sendable (Int, RecordedRequest) -> MockResponse,
        perform: (CacheFixture, Gate) async throws -> Void
    ) async throws {
        let gate = Gate()
        let count = CallCount()
        try await withCache(configure: configure) {
            $0.on("/a") { request in
                let number = count.next()
                gate.arrived.fire()
                await gate.open.wait()
                return respond(number, request)
            }
        } perform: { cache in
            try await perform(cache, gate)
        }
    }

    /// Waits until so many requests wait for another one.
    private func waiters(_ count: Int, _ cache: CacheFixture) async throws {
        let flights = try #require(cache.session.engine.chain.cache?.flights)
        while flights.waiting < count, !Task.isCancelled { await Task.yield() }
    }

    private func start(_ cache: CacheFixture, _ count: Int) -> [Task<SessionResponse<String>, any Error>] {
        (0..<count).map { _ in Task { try await cache.get("/a") } }
    }

    @Test func oneRequestAnswersAll() async throws {
        try await withGate(respond: { number, _ in .cached("\(number)", "max-age=60") }) { cache, gate in
            let leader = Task { try await cache.get("/a") }
            await gate.arrived.wait()
            let followers = start(cache, 9)
            try await waiters(9, cache)
            gate.open.fire()
            #expect(try await leader.value.cacheOutcome == .miss)
            for follower in followers {
                let response = try await follower.value
                #expect(response.value == "1" && response.cacheOutcome == .hit && response.metrics.isEmpty)
            }
            #expect(cache.sent == 1)
        }
    }

    @Test func withoutTheOptionAllAskTheServer() async throws {
        try await withGate({ _ in }, respond: { number, _ in .cached("\(number)", "max-age=60") }) { cache, gate in
            #expect(cache.session.engine.chain.cache?.flights == nil)
            let all = start(cache, 3)
            while cache.sent < 3, !Task.isCancelled { await Task.yield() }
            gate.open.fire()
            for task in all {
                let response = try await task.value
                #expect(response.cacheOutcome == .miss)
            }
        }
    }

    @Test func aResponseThatIsNotStoredAnswersOnlyItsOwnRequest() async throws {
        try await withGate(respond: { number, _ in .cached("\(number)", "no-store") }) { cache, gate in
            let leader = Task { try await cache.get("/a") }
            await gate.arrived.wait()
            let followers = start(cache, 3)
            try await waiters(3, cache)
            gate.open.fire()
            var values = [try await leader.value.value]
            for follower in followers { values.append(try await follower.value.value) }
            #expect(Set(values) == ["1", "2", "3", "4"])
        }
    }

    /// RFC 9111, section 4.1.
    @Test func aRequestForAnotherVariantIsSentOnItsOwn() async throws {
        try await withGate(respond: { _, request in
            .cached(request.headerFields[.accept] ?? "", "max-age=60", [.vary: "Accept"])
        }) { cache, gate in
            let leader = Task { try await cache.get("/a", [.accept: "text/plain"]) }
            await gate.arrived.wait()
            let same = Task { try await cache.get("/a", [.accept: "text/plain"]) }
            let other = Task { try await cache.get("/a", [.accept: "text/html"]) }
            try await waiters(2, cache)
            gate.open.fire()
            #expect(try await leader.value.value == "text/plain")
            #expect(try await same.value.cacheOutcome == .hit)
            let response = try await other.value
            #expect(response.value == "text/html" && response.cacheOutcome == .miss)
            #expect(cache.sent == 2)
        }
    }

    @Test func aCancelledLeaderHandsOver() async throws {
        try await withGate(respond: { number, _ in .cached("\(number)", "max-age=60") }) { cache, gate in
            let leader = Task { try await cache.get("/a") }
            await gate.arrived.wait()
            let followers = start(cache, 5)
            try await waiters(5, cache)
            leader.cancel()
            let error = await #expect(throws: SessionError.self) { try await leader.value }
            #expect(error?.code == .cancelled)
            // Now one of the five leads.
            try await waiters(4, cache)
            gate.open.fire()
            var outcomes: [CacheStatistics.Outcome?] = []
            for follower in followers { outcomes.append(try await follower.value.cacheOutcome) }
            #expect(outcomes.filter { $0 == .miss }.count == 1 && outcomes.filter { $0 == .hit }.count == 4)
            #expect(cache.sent == 2)
        }
    }

    @Test func aCancelledFollowerEndsAlone() async throws {
        try await withGate(respond: { number, _ in .cached("\(number)", "max-age=60") }) { cache, gate in
            let leader = Task { try await cache.get("/a") }
            await gate.arrived.wait()
            let followers = start(cache, 2)
            try await waiters(2, cache)
            followers[0].cancel()
            let error = await #expect(throws: SessionError.self) { try await followers[0].value }
            #expect(error?.code == .cancelled)
            gate.open.fire()
            #expect(try await leader.value.value == "1")
            #expect(try await followers[1].value.cacheOutcome == .hit)
        }
    }

    /// A limit of a request that waits is its own.
    @Test func aFollowerHasItsOwnDeadline() async throws {
        try await withGate(respond: { number, _ in .cached("\(number)", "max-age=60") }) { cache, gate in
            let leader = Task { try await cache.get("/a") }
            await gate.arrived.wait()
            let error = await #expect(throws: SessionError.self) {
                try await cache.session.get("/a").options { $0.timeout = .milliseconds(20) }.text()
            }
            #expect(error?.code == .timeout)
            gate.open.fire()
            let response = try await leader.value
            #expect(response.value == "1")
        }
    }

    /// Otherwise the limits of one would apply to the other.
    @Test(arguments: [true, false], [true, false])
    func aRequestWithItsOwnLimitsOnTheConnectionIsSentOnItsOwn(isFirst: Bool, isIdle: Bool) async throws {
        try await withGate(respond: { number, _ in .cached("\(number)", "max-age=60") }) { cache, gate in
            let own = RequestOptions {
                if isIdle { $0.idleTimeout = .seconds(3600) } else { $0.connectTimeout = .seconds(3600) }
            }
            let call = cache.session.get("/a")
            let (first, second) = isFirst ? (call.options(own), call) : (call, call.options(own))
            let tasks = [Task { try await first.text() }, Task { try await second.text() }]
            while cache.sent < 2, !Task.isCancelled { await Task.yield() }
            #expect(cache.session.engine.chain.cache?.flights?.waiting == 0)
            gate.open.fire()
            var values: [String] = []
            for task in tasks { values.append(try await task.value) }
            #expect(Set(values) == ["1", "2"])
        }
    }

    @Test func aFailureAffectsOnlyItsRequest() async throws {
        try await withGate(respond: { number, _ in
            number == 1 ? .text("failed", status: .internalServerError) : .cached("\(number)", "max-age=60")
        }) { cache, gate in
            let leader = Task { try await cache.get("/a") }
            await gate.arrived.wait()
            let follower = Task { try await cache.get("/a") }
            try await waiters(1, cache)
            gate.open.fire()
            _ = try? await leader.value
            #expect(try await follower.value.value == "2")
        }
    }

    /// Its reader may be slow.
    @Test func aStreamMakesNoRequestWait() async throws {
        try await withGate(respond: { number, _ in .cached("\(number)", "max-age=60") }) { cache, gate in
            let stream = Task { try await cache.session.get("/a").bytes() }
            await gate.arrived.wait()
            let other = Task { try await cache.get("/a") }
            // The response of the stream is small, and so is stored as soon as it arrives.
            while cache.sent < 2, !Task.isCancelled { await Task.yield() }
            gate.open.fire()
            #expect(try await other.value.cacheOutcome == .miss)
            _ = try await stream.value
            #expect(cache.sent == 2)
        }
    }
}
