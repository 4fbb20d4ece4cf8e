import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ProgressTests {
    @Test func downloadsCountTheirBytesAndEndAtOne() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(
            transport: StubTransport { _ in .stream(body, headerFields: [.contentLength: "6"]) })
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        let recorder = EventRecorder<TransferProgress>()
        task.onProgress { recorder.record($0.download) }
        task.resume()
        body.send("abc")
        try await recorder.wait { $0.contains(TransferProgress(completed: 3, total: 6)) }
        body.send("def")
        body.finish()
        #expect(try await task.value.value == Data("abcdef".utf8))
        let all = try await recorder.wait { $0.last?.fraction == 1 }
        #expect(all.map(\.completed) == all.map(\.completed).sorted())
        #expect(all.filter { $0.fraction == 1 }.count == 1)
    }

    @Test func unknownTotalsStillCountAndFinishOnce() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        let recorder = EventRecorder<TransferProgress>()
        task.onProgress { recorder.record($0.download) }
        task.resume()
        body.send("abc")
        try await recorder.wait { $0.contains(TransferProgress(completed: 3)) }
        body.finish()
        _ = try await task.value
        let all = try await recorder.wait { $0.last?.isFinished == true }
        #expect(all.last == TransferProgress(completed: 3, total: 3))
        #expect(all.filter(\.isFinished).count == 1)
    }

    @Test(arguments: [10, 65_536, 200_000])
    func uploadsCountTheBytesThatTheSocketAccepted(size: Int) async throws {
        let transport = StubTransport { _ in .status(200) }
        let session = try HTTPSession(transport: transport)
        let bytes = Data(repeating: 7, count: size)
        let task = try session.call(makeRequest(method: .post)).body(.data(bytes)).task(DataResponseSerializer())
        #expect(task.kind == .upload)
        let recorder = EventRecorder<TransferProgress>()
        task.onProgress { recorder.record($0.upload) }
        task.resume()
        _ = try await task.value
        let all = try await recorder.wait { $0.last?.isFinished == true && ($0.last?.completed ?? 0) > 0 }
        #expect(all.last == TransferProgress(completed: Int64(size), total: Int64(size)))
        #expect(all.map(\.completed) == all.map(\.completed).sorted())
        #expect(transport.requests.first?.body == bytes)
    }

    @Test func aRequestWithoutABodyHasNothingToUpload() async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .status(204) })
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        task.resume()
        _ = try await task.value
        #expect(task.progress.upload == TransferProgress(completed: 0, total: 0))
        #expect(task.progress.download.isFinished)
    }

    @Test func lateObserversGetTheFinalProgress() async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .status(200, body: Data("abc".utf8)) })
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        task.resume()
        _ = try await task.value
        let recorder = EventRecorder<TransferProgress>()
        task.onProgress { recorder.record($0.download) }
        #expect(try await recorder.wait(count: 1) == [TransferProgress(completed: 3, total: 3)])
        var seen: [TransferProgress] = []
        for await progress in task.progressUpdates { seen.append(progress.download) }
        #expect(seen == [TransferProgress(completed: 3, total: 3)])
    }

    @Test func aCancelledObservationHearsNoMore() async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .status(200, body: Data("abc".utf8)) })
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        let recorder = EventRecorder<TaskState>()
        let observation = task.onStateChange { recorder.record($0) }
        try await recorder.wait(count: 1)
        observation.cancel()
        let ends = EventRecorder<Bool>()
        task.onCompletion { _ in ends.record(true) }
        task.resume()
        // The executor is serial: reports to the cancelled observer would have come before.
        try await ends.wait(count: 1)
        #expect(recorder.events == [.suspended])
    }
}
