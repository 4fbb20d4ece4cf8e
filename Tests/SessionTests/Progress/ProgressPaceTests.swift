import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ProgressPaceTests {
    private func makeSession(_ body: StubTransport.Body, interval: Duration, length: Int? = nil) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration()
        configuration.progressInterval = interval
        var fields = HTTPFields()
        fields[.contentLength] = length.map { String($0) }
        return try HTTPSession(
            configuration: configuration,
            transport: StubTransport { [fields] _ in
                .stream(body, headerFields: fields)
            })
    }

    @Test(arguments: [.seconds(3600), .seconds(Int64.max)] as [Duration])
    func progressIsReportedAtMostOncePerInterval(interval: Duration) async throws {
        let body = StubTransport.Body()
        let session = try makeSession(body, interval: interval, length: 100)
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        let told = EventRecorder<TransferProgress>()
        task.onProgress { told.record($0.download) }
        task.resume()
        for count in 1...100 {
            body.send("a")
            while task.progress.download.completed < count, !Task.isCancelled { await Task.yield() }
        }
        body.finish()
        _ = try await task.value
        let all = try await told.wait { $0.last?.isFinished == true }
        // The initial progress, the first change, and the end: the changes in between came within the hour.
        #expect(all.count <= 3)
        #expect(all.last == TransferProgress(completed: 100, total: 100))
        #expect(all.filter(\.isFinished).count == 1)
    }

    @Test func anEarlyChangeIsReportedLater() async throws {
        let body = StubTransport.Body()
        let session = try makeSession(body, interval: .milliseconds(20))
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        let told = EventRecorder<Int64>()
        task.onProgress { told.record($0.download.completed) }
        task.resume()
        for _ in 1...10 { body.send("a") }
        // Nothing else happens that could have it told.
        try await told.wait { $0.last == 10 }
        body.send("b")
        try await told.wait { $0.last == 11 }
        body.finish()
        _ = try await task.value
        let events = told.events
        #expect(events == events.sorted())
    }

    @Test func withoutAnIntervalEachChangeIsReported() async throws {
        let body = StubTransport.Body()
        let session = try makeSession(body, interval: .zero)
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        let told = EventRecorder<Int64>()
        task.onProgress { told.record($0.download.completed) }
        task.resume()
        for count in 1...20 {
            body.send("a")
            try await told.wait { $0.last == Int64(count) }
        }
        body.finish()
        _ = try await task.value
        #expect(Set(told.events) == Set(0...20))
    }

    @Test func throughputIsNilAtTheEnd() async throws {
        let body = StubTransport.Body()
        let session = try makeSession(body, interval: .zero)
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        task.resume()
        body.send("a")
        body.finish()
        _ = try await task.value
        #expect(task.progress.download.bytesPerSecond == nil)
        #expect(task.progress.download.estimatedTimeRemaining == nil)
    }

    // MARK: Throughput, with made-up times

    private let start = ContinuousClock.now

    private func rate(_ samples: [(milliseconds: Int, bytes: Int64)], at milliseconds: Int) -> Double? {
        var rate = TransferRate()
        for sample in samples { rate.note(sample.bytes, at: start + .milliseconds(sample.milliseconds)) }
        return rate.bytesPerSecond(at: start + .milliseconds(milliseconds))
    }

    @Test func throughputIsMeasuredOverTheLastSeconds() {
        #expect(rate([], at: 1000) == nil)
        #expect(rate([(0, 100)], at: 1000) == nil)
        #expect(rate([(0, 100), (100, 200)], at: 150) == nil)
        #expect(rate([(0, 0), (500, 500), (1000, 1000)], at: 1000) == 1000)
        // Bytes before the start of the measurement do not count.
        #expect(rate([(0, 1_000_000), (1000, 1_001_000)], at: 1000) == 1000)
        // It falls while nothing comes.
        #expect(rate([(0, 0), (1000, 1000)], at: 2000) == 500)
        // Slow at first, ten times as fast since: only the last three seconds count.
        var steady: [(milliseconds: Int, bytes: Int64)] = []
        var bytes: Int64 = 0
        for step in 0...100 {
            steady.append((step * 100, bytes))
            bytes += step < 50 ? 100 : 1000
        }
        #expect(rate(steady, at: 10_000) == 10_000)
    }

    @Test func oneTimerWaitsForTheRestOfAnInterval() {
        var pace = ProgressPace(interval: .seconds(1))
        var steps: [String] = []
        for milliseconds in [0, 250, 500, 1000] {
            let step = pace.step(at: start + .milliseconds(milliseconds))
            if milliseconds == 0 { pace.didTell(TaskProgress(), at: start) }
            steps.append("\(step)")
        }
        #expect(steps == ["tell", "wait(\(Duration.milliseconds(750)))", "none", "tell"])
    }

    @Test func aPauseIsNotPartOfTheThroughput() {
        var pace = ProgressPace(interval: .zero)
        let (none, one) = (TaskProgress(), counted(1000))
        pace.changed(from: one, to: none, at: start)
        pace.changed(from: none, to: one, at: start + .seconds(1))
        let before = pace.measured(one, at: start + .seconds(1))
        #expect([before.upload.bytesPerSecond, before.download.bytesPerSecond] == [1000, 1000])
        pace.pause()
        let after = pace.measured(one, at: start + .seconds(2))
        #expect([after.upload.bytesPerSecond, after.download.bytesPerSecond] == [nil, nil])
    }

    private func counted(_ count: Int64) -> TaskProgress {
        var progress = TaskProgress()
        progress.upload.completed = count
        progress.download.completed = count
        return progress
    }

    @Test func manySmallChunksAreMeasuredToo() {
        let samples = (0...4000).map { (milliseconds: $0, bytes: Int64($0) * 5) }
        let measured = rate(samples, at: 4000) ?? 0
        #expect(abs(measured - 5000) < 50)
    }

    @Test func theRemainingTimeFollowsFromTheThroughput() {
        let progress = TransferProgress(completed: 250, total: 1000, bytesPerSecond: 50)
        #expect(progress.estimatedTimeRemaining == .seconds(15))
        #expect(TransferProgress(completed: 250, total: nil, bytesPerSecond: 50).estimatedTimeRemaining == nil)
        #expect(TransferProgress(completed: 250, total: 1000, bytesPerSecond: 0).estimatedTimeRemaining == nil)
        #expect(TransferProgress(completed: 250, total: 1000).estimatedTimeRemaining == nil)
        #expect(TransferProgress(completed: 0, total: .max, bytesPerSecond: 0.001).estimatedTimeRemaining == nil)
    }

    @Test func aResumedTransferBeginsWhereItWas() {
        var machine = TaskStateMachine()
        _ = machine.resume()
        var hasChanged = machine.willReceive(total: 100, from: 40)
        #expect(hasChanged)
        #expect(machine.progress.download == TransferProgress(completed: 40, total: 100))
        hasChanged = machine.didReceive(10)
        #expect(machine.progress.download.completed == 50)
        // From the start again: nothing goes back.
        _ = machine.willReceive(total: 60)
        _ = machine.didReceive(20)
        #expect(machine.progress.download == TransferProgress(completed: 50, total: 60))
        _ = machine.didReceive(40)
        #expect(machine.progress.download == TransferProgress(completed: 60, total: 60))
    }
}
