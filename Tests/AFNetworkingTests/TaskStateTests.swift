import LinnetAFNetworking
import LinnetTesting
import Testing

@MainActor
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct TaskStateTests {
    @Test func theStatesFollowATask() async throws {
        let client = try makeClient(StubTransport { _ in .json("[1]") })
        let task = client.post("x").body(.data(makeBytes(10))).jsonTask()
        let (refresh, activity, sent, received) =
            (RefreshState(), ActivityState(), TransferProgressState(), TransferProgressState())
        refresh.setRefreshingWithStateOf(task)
        activity.setAnimatingWithStateOf(task)
        #expect(!refresh.isRefreshing && !activity.isAnimating)
        _ = try await task.value
        sent.setProgressWithUploadProgressOf(task, animated: true)
        received.setProgressWithDownloadProgressOf(task, animated: false)
        #expect(sent.progress.completed == 10 && received.progress.completed == 3)
        await client.shutdown()
    }

    @Test func theStatesAreBusyWhileTheirTaskRuns() async throws {
        let release = Signal()
        let client = try makeClient(
            StubTransport { _ in
                await release.wait()
                return .json("1")
            })
        let task = client.get("x").jsonTask()
        task.resume()
        let (refresh, activity) = (RefreshState(), ActivityState())
        refresh.setRefreshingWithStateOf(task)
        activity.setAnimatingWithStateOf(task)
        #expect(refresh.isRefreshing && activity.isAnimating)
        refresh.setRefreshingWithStateOf(nil)
        activity.setAnimatingWithStateOf(nil)
        #expect(!refresh.isRefreshing && !activity.isAnimating)
        release.fire()
        _ = try await task.value
        await client.shutdown()
    }
}
