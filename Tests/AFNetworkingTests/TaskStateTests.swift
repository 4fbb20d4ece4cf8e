import Foundation
import LinnetAFNetworking
import LinnetTesting
import Testing

@MainActor
@Suite(.timeLimit(.minutes(5)))
struct TaskStateTests {
    @Test func theStatesAreBusyWhileTheirTaskRuns() async throws {
        let release = Signal()
        let manager = makeManager(
            "http://example.com/",
            StubTransport { _ in
                await release.wait()
                return .json("{}")
            })
        let ended = EventRecorder<Void>()
        let task = manager.get("x", success: { _, _ in ended.record(()) })
        let (refresh, activity) = (RefreshState(), ActivityState())
        refresh.setRefreshingWithStateOf(task)
        activity.setAnimatingWithStateOf(task)
        #expect(refresh.isRefreshing && activity.isAnimating)
        refresh.setRefreshingWithStateOf(nil)
        activity.setAnimatingWithStateOf(nil)
        #expect(!refresh.isRefreshing && !activity.isAnimating)
        release.fire()
        try await ended.wait(count: 1)
    }

    @Test func theBarsShowTheBytesOfATask() async throws {
        let manager = makeManager("http://example.com/", StubTransport { _ in .json("[1]") })
        let ended = EventRecorder<Void>()
        let task = manager.post("x", parameters: ["a": 1], success: { _, _ in ended.record(()) })
        try await ended.wait(count: 1)
        let (sent, received) = (TransferProgressState(), TransferProgressState())
        sent.setProgressWithUploadProgressOf(task, animated: true)
        received.setProgressWithDownloadProgressOf(task, animated: false)
        #expect(sent.progress.completed == 3 && received.progress.completed == 3)
    }
}
