import FoundationEssentials
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetUIState
import Testing

/// Waits until a condition holds. The time limit of the suite bounds the wait.
@MainActor
func until(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}

@MainActor
@Suite("Activity indicator", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct NetworkActivityIndicatorTests {
    private let clock = ManualClock()

    private func indicator() -> NetworkActivityIndicator {
        NetworkActivityIndicator(isEnabled: true, clock: clock)
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
}

@MainActor
@Suite("Refresh state", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct RefreshStateTests {
    @Test func itFollowsATaskFromItsStartToItsEnd() async throws {
        let release = Signal()
        try await withMockServer { _ in
            await release.wait()
            return .text("done")
        } perform: { server in
            let session = try HTTPSession()
            let refresh = RefreshState()
            let task = session.call(SessionRequest(url: server.url)).task(DataResponseSerializer())
            refresh.follow(task)
            #expect(!refresh.isRefreshing)
            task.resume()
            await until { refresh.isRefreshing }
            task.suspend()
            await until { !refresh.isRefreshing }
            task.resume()
            await until { refresh.isRefreshing }
            release.fire()
            _ = try await task.value
            await until { !refresh.isRefreshing }
            await session.shutdown()
        }
    }

    @Test func aRunningTaskIsFollowedImmediatelyAndCanBeReleased() async throws {
        try await withMockServer { _ in
            MockResponse(faults: [.init(.stall, at: .responseHead)])
        } perform: { server in
            let session = try HTTPSession()
            let refresh = RefreshState()
            let task = session.call(SessionRequest(url: server.url)).task(DataResponseSerializer())
            task.resume()
            refresh.follow(task)
            #expect(refresh.isRefreshing)
            let other = session.call(SessionRequest(url: server.url)).task(DataResponseSerializer())
            refresh.follow(other)
            #expect(!refresh.isRefreshing)
            refresh.follow(task)
            refresh.follow(nil)
            #expect(!refresh.isRefreshing)
            await session.shutdown(.immediate)
        }
    }
}
