import CommandSupport
import FoundationEssentials
import Glibc
import Testing
import WatchdogSupport

/// The watchdog that ends a process whose tests hang.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct WatchdogTests {
    private func activity(_ milliseconds: UInt64, hasChildren: Bool = false) -> linnet_activity {
        linnet_activity(cpu_nanoseconds: milliseconds * 1_000_000, has_children: hasChildren)
    }

    @Test func aProcessWithoutActivityIsStuck() {
        #expect(linnet_is_stuck(activity(500), activity(500)))
        #expect(linnet_is_stuck(activity(500), activity(519)))
        #expect(!linnet_is_stuck(activity(500), activity(520)))
        #expect(!linnet_is_stuck(activity(500), activity(9_000)))
    }

    @Test func aProcessThatWaitsForAnotherIsNotStuck() {
        #expect(!linnet_is_stuck(activity(500, hasChildren: true), activity(500)))
        #expect(!linnet_is_stuck(activity(500), activity(500, hasChildren: true)))
    }

    @Test func workAndChildProcessesAreDetected() async throws {
        let before = linnet_activity_now()
        var sum: UInt64 = 0
        while linnet_activity_now().cpu_nanoseconds < before.cpu_nanoseconds + 30_000_000 { sum &+= 1 }
        #expect(sum > 0 && !linnet_is_stuck(before, linnet_activity_now()))
        let pipe = FileManager.default.temporaryDirectory.appending(path: "linnet-pipe-\(UUID().uuidString)").path
        try #require(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }
        async let other = Command.run(["cat", pipe])
        while !linnet_activity_now().has_children, !Task.isCancelled { await Task.yield() }
        // The child runs until the pipe was opened and closed.
        close(open(pipe, O_WRONLY))
        #expect(try await other.status == 0)
    }
}
