import FoundationEssentials
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetUIState
import Testing

/// Waits until a condition holds. The time limit of the suite bounds the wait.
@MainActor
func until(_ condition: () -> Bool) async {
    while !condition(), !Task.isCancelled { await Task.yield() }
}

@MainActor
@Suite("Activity indicator", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct NetworkActivityIndicatorTests {
    private let clock = ManualClock()

    private func indicator() -> NetworkActivityIndicator {
        NetworkActivityIndicator(isEnabled: true, following: [], clock: clock)
    }

    @Test func theDefaultsEqualAFNetworkings() {
        let indicator = NetworkActivityIndicator()
        #expect(!indicator.isEnabled)
        #expect(indicator.activationDelay == .seconds(1))
        #expect(indicator.completionDelay == .milliseconds(170))
        #expect(indicator.state == .notActive && !indicator.isVisible)
    }

    @Test func theDelaysApply() async throws {
        let indicator = indicator()
        var changes: [Bool] = []
        indicator.onVisibilityChange = { changes.append($0) }
        indicator.incrementActivityCount()
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(999))
        #expect(!indicator.isVisible)
        clock.advance(by: .milliseconds(1))
        await until { indicator.isVisible }
        #expect(indicator.state == .active)
        indicator.decrementActivityCount()
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(169))
        #expect(indicator.state == .delayingEnd && indicator.isVisible)
        clock.advance(by: .milliseconds(1))
        await until { !indicator.isVisible }
        #expect(changes == [true, false])
    }

    /// Other clocks terminate the process for an instant beyond those that they can measure.
    @Test func immenseDelaysAreCenturies() async throws {
        let century = Duration.seconds(Int64(100 * 365 * 86_400))
        let indicator = indicator()
        indicator.activationDelay = .seconds(Int64.max)
        indicator.completionDelay = .seconds(Int64.max)
        indicator.incrementActivityCount()
        try await clock.waitForSleepers(count: 1)
        #expect(clock.nextDeadline?.offset == century)
        clock.advance(by: century)
        await until { indicator.isVisible }
        indicator.decrementActivityCount()
        try await clock.waitForSleepers(count: 1)
        #expect(clock.nextDeadline?.offset == century + century)
    }

    @Test func theCountDoesNotGoBelowZero() async {
        let indicator = indicator()
        indicator.decrementActivityCount()
        indicator.incrementActivityCount()
        await until { indicator.activityCount == 1 }
        #expect(indicator.state == .delayingStart)
    }

    @Test func aSessionsRequestCountsWhileItRuns() async throws {
        let arrived = Signal()
        let release = Signal()
        try await withMockServer { _ in
            arrived.fire()
            await release.wait()
            return .text("done")
        } perform: { server in
            let indicator = indicator()
            let session = try HTTPSession()
            indicator.follow(session)
            let task = session.call(SessionRequest(url: server.url)).task(DataResponseSerializer())
            task.resume()
            await arrived.wait()
            await until { indicator.activityCount == 1 }
            task.suspend()
            await until { indicator.activityCount == 0 }
            task.resume()
            await until { indicator.activityCount == 1 }
            release.fire()
            _ = try await task.value
            await until { indicator.activityCount == 0 }
            await session.shutdown()
        }
    }

    @Test func suspendingThenCancellingDecrementsOnce() async throws {
        try await withMockServer { _ in
            MockResponse(faults: [.init(.stall, at: .responseHead)])
        } perform: { server in
            let indicator = indicator()
            let session = try HTTPSession()
            indicator.follow(session)
            indicator.incrementActivityCount()
            let task = session.call(SessionRequest(url: server.url)).task(DataResponseSerializer())
            task.resume()
            await until { indicator.activityCount == 2 }
            task.suspend()
            task.cancel()
            await until { indicator.activityCount == 1 }
            await session.shutdown(.immediate)
            #expect(indicator.activityCount == 1)
        }
    }

    /// Other tests may run at the same time, so only the part of this test is compared.
    @Test func everySessionOfTheProcessCountsByDefault() async throws {
        let server = PictureServer()
        let sessions = try (0..<2).map { _ in try HTTPSession(transport: server.transport) }
        let indicator = NetworkActivityIndicator()
        let tasks = try sessions.map {
            $0.call(SessionRequest(url: try #require(URL(string: "http://stub.test/x")))).task()
        }
        for task in tasks { task.resume() }
        await until { indicator.activityCount >= 2 }
        let request = sessions[0].call(SessionRequest(url: try #require(URL(string: "http://stub.test/y"))))
        async let third = request.response()
        try await server.waitForRequests(3)
        await until { indicator.activityCount >= 3 }
        server.open()
        _ = try await third
        for session in sessions { await session.shutdown() }
        // A request that is counted for ever would keep this from ending.
        await until { indicator.activityCount == 0 }
    }

    @Test func aHandleThatAlreadyRunsCountsAtOnce() async throws {
        let server = PictureServer()
        let session = try HTTPSession(transport: server.transport)
        let (running, waiting, ended) = try (
            handle(session, "running"), handle(session, "waiting"), handle(session, "ended")
        )
        running.resume()
        ended.resume()
        try await server.waitForRequests(2)
        server.answer("ended")
        _ = try await ended.value
        let indicator = NetworkActivityIndicator(following: [session])
        await until { indicator.activityCount == 1 }
        waiting.resume()
        await until { indicator.activityCount == 2 }
        indicator.unfollow(session)
        await until { indicator.activityCount == 0 }
        indicator.follow(session)
        indicator.follow(session)
        await until { indicator.activityCount == 2 }
        server.open()
        await session.shutdown()
        await until { indicator.activityCount == 0 }
    }

    @Test func twoOverlappingRequestsAreShownAsOne() async throws {
        let indicator = indicator()
        var changes: [Bool] = []
        indicator.onVisibilityChange = { changes.append($0) }
        var states = indicator.states.makeAsyncIterator()
        #expect(await states.next() == .notActive)
        indicator.incrementActivityCount()
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(900))
        indicator.incrementActivityCount()
        indicator.decrementActivityCount()
        await until { indicator.activityCount == 1 }
        clock.advance(by: .milliseconds(100))
        await until { indicator.isVisible }
        #expect(await states.next() == .active)
        indicator.decrementActivityCount()
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .milliseconds(170))
        await until { !indicator.isVisible }
        #expect(changes == [true, false])
    }

    private func handle(_ session: HTTPSession, _ path: String) throws -> DataTask<Data> {
        session.call(SessionRequest(url: try #require(URL(string: "http://stub.test/\(path)")))).task()
    }

    /// Random histories of two sessions: whatever happens to their requests, the count is the number of running ones.
    @Test(arguments: 0..<12)
    func theCountIsRightAfterRandomHistories(_ round: UInt64) async throws {
        let seed = 0xAC71 + round
        var random = SplitMix(seed: seed)
        let server = PictureServer()
        let sessions = try (0..<2).map { _ in try HTTPSession(transport: server.transport) }
        let indicator = NetworkActivityIndicator(following: [])
        var isFollowed = [false, false]
        var tasks: [(session: Int, path: String, task: DataTask<Data>)] = []

        func expected() -> Int {
            tasks.count { isFollowed[$0.session] && [.running, .cancelling].contains($0.task.state) }
        }
        for step in 0..<150 {
            let chosen = tasks.randomElement(using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4:
                let session = Int.random(in: 0..<2, using: &random)
                tasks.append((session, "\(step)", try handle(sessions[session], "\(step)")))
            case 4..<7: chosen?.task.resume()
            case 7: chosen?.task.suspend()
            case 8: chosen?.task.cancel()
            case 9: if let chosen { server.answer(chosen.path) }
            case 10:
                let session = Int.random(in: 0..<2, using: &random)
                isFollowed[session].toggle()
                if isFollowed[session] {
                    indicator.follow(sessions[session])
                } else {
                    indicator.unfollow(sessions[session])
                }
            default:
                chosen?.task.suspend()
                chosen?.task.cancel()
            }
            if step % 10 == 0 { await until { indicator.activityCount == expected() } }
        }
        await until { indicator.activityCount == expected() }
        // Invalidation ends the remaining requests, started or not.
        sessions[0].startShutdown(.immediate)
        await sessions[1].shutdown(.immediate)
        await until { indicator.activityCount == 0 && tasks.allSatisfy { $0.task.state == .completed } }
        #expect(indicator.activityCount == expected(), "seed \(seed)")
        server.open()
        await sessions[0].shutdown(.immediate)
    }
}
