import LinnetSession
import Testing

@testable import LinnetBackground

/// The states of a task.
@Suite struct TaskMachineTests {
    private let rules = TaskMachine.Rules(kind: .download, recreations: 3)
    private let error = StoredError(BackgroundError(.transferFailed, "lost", sessionCode: .connectionLost))

    private func machine(_ events: TaskMachine.Event..., kind: BackgroundTask.Kind = .download) -> TaskMachine {
        var machine = TaskMachine()
        for event in events { _ = machine.apply(event, at: 1000, .init(kind: kind, recreations: 3)) }
        return machine
    }

    @Test func aTaskIsStartedAndCompletes() {
        let running = machine(.start)
        #expect(running.state == .running && running.attempts == 1)
        #expect(machine(.start, .succeed).state == .completed)
    }

    @Test func aFailureWaitsForTheTimeOfThePolicy() {
        let waiting = machine(.start, .fail(error, .retry(after: .seconds(2)), hadProgress: false))
        #expect(waiting.state == .waiting && waiting.retryAt == 3000 && waiting.retryDelay == 2000)
        #expect(waiting.error == error && waiting.failures == 1)
        #expect(machine(.start, .fail(error, .doNotRetry, hadProgress: false)).state == .failed)
    }

    @Test func progressForgivesEarlierFailures() {
        let retry = RetryPolicy.Decision.retry(after: .zero)
        let failed = machine(
            .start, .fail(error, retry, hadProgress: false), .start, .fail(error, retry, hadProgress: true))
        #expect(failed.failures == 1 && failed.attempts == 2)
    }

    @Test func aRunningTaskIsPausedWhenItsTransferHasStopped() {
        let asked = machine(.start, .pause)
        #expect(asked.state == .running && asked.wish == .pause)
        let paused = machine(.start, .pause, .interrupt)
        #expect(paused.state == .paused && paused.wish == nil)
        #expect(machine(.start, .pause, .interrupt, .resume).state == .waiting)
    }

    @Test func resumingTakesBackAPause() {
        let running = machine(.start, .pause, .resume)
        #expect(running.state == .running && running.wish == nil)
        #expect(machine(.start, .pause, .resume, .interrupt).state == .waiting)
    }

    @Test func aCompletionWinsOverAWish() {
        #expect(machine(.start, .cancel, .succeed).state == .completed)
        #expect(machine(.start, .pause, .succeed).state == .completed)
    }

    @Test func aCancellationWinsOverAFailureAndAPause() {
        #expect(machine(.start, .cancel, .fail(error, .retry(after: .zero), hadProgress: false)).state == .cancelled)
        #expect(machine(.start, .cancel, .pause, .interrupt).state == .cancelled)
        #expect(machine(.start, .pause, .cancel, .interrupt).state == .cancelled)
        #expect(machine(.cancel).state == .cancelled)
        #expect(machine(.pause, .cancel).state == .cancelled)
    }

    @Test func aPausedTaskKeepsItsWait() {
        let paused = machine(.start, .pause, .fail(error, .retry(after: .seconds(9)), hadProgress: false))
        #expect(paused.state == .paused && paused.retryAt == 10_000)
    }

    @Test func anInterruptedUploadIsCreatedAgainThreeTimes() {
        var upload = TaskMachine()
        let rules = TaskMachine.Rules(kind: .upload, recreations: 3)
        for _ in 0..<3 {
            _ = upload.apply(.start, at: 0, rules)
            _ = upload.apply(.interrupt, at: 0, rules)
            #expect(upload.state == .waiting)
        }
        _ = upload.apply(.start, at: 0, rules)
        _ = upload.apply(.interrupt, at: 0, rules)
        #expect(upload.state == .failed && upload.error?.code == .interrupted)
        _ = upload.apply(.retry, at: 0, rules)
        #expect(upload.state == .waiting && upload.interruptions == 0 && upload.error == nil)
    }

    @Test func aDownloadIsInterruptedAnyNumberOfTimes() {
        var download = TaskMachine()
        for _ in 0..<1000 {
            _ = download.apply(.start, at: 0, rules)
            _ = download.apply(.interrupt, at: 0, rules)
        }
        #expect(download.state == .waiting && download.failures == 0)
    }

    @Test(arguments: BackgroundTask.State.allCases.filter(\.isEnd))
    func onlyRetryLeavesAnEnd(_ end: BackgroundTask.State) {
        var machine = TaskMachine()
        machine.state = end
        let events: [TaskMachine.Event] = [
            .start, .succeed, .fail(error, .retry(after: .zero), hadProgress: true), .interrupt, .expire, .pause,
            .resume,
            .cancel,
        ]
        for event in events {
            let isChanged = machine.apply(event, at: 0, rules)
            #expect(!isChanged)
        }
        let isRetried = machine.apply(.retry, at: 0, rules)
        #expect(isRetried == (end != .completed))
    }

    @Test func aClockThatWasSetBackMakesNoWaitLonger() {
        var waiting = machine(.start, .fail(error, .retry(after: .seconds(2)), hadProgress: false))
        let isLimited = waiting.limitWait(at: 1500)
        #expect(!isLimited)
        // The clock was at 1000 when the wait of 2000 began, and is far in the past now.
        _ = waiting.limitWait(at: -5_000_000)
        #expect(waiting.retryAt == -4_998_000)
    }

    /// Counts and waits stay within their bounds, and the size of a task does not grow with its attempts.
    @Test func aMillionRetriesAreCounted() {
        var policy = BackgroundSession.Configuration().retryPolicy
        policy.limit = .max
        var machine = TaskMachine()
        (machine.attempts, machine.failures) = (999_999, 999_999)
        _ = machine.apply(.start, at: 0, rules)
        let decision = policy.decide(after: machine.failures + 1, errorCode: .connectionLost, head: nil)
        _ = machine.apply(.fail(error, decision, hadProgress: false), at: 0, rules)
        #expect(machine.state == .waiting && machine.failures == 1_000_000 && machine.attempts == 1_000_000)
        #expect((1...600_000).contains(machine.retryDelay ?? 0))
        for count in [1, 2, 63, 64, 1_000_000, Int.max] {
            #expect(policy.backoff.wait(after: count) <= .seconds(600), "\(count)")
        }
    }

    @Test func waitsHaveABound() {
        let waiting = machine(.start, .fail(error, .retry(after: .seconds(Int64.max)), hadProgress: false))
        #expect((waiting.retryAt ?? 0) > 0)
    }
}
