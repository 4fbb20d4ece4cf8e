import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct SuspensionTests {
    @Test func suspendingStopsReadingAndResumingContinues() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        let recorder = EventRecorder<Int64>()
        task.onProgress { recorder.record($0.download.completed) }
        task.resume()
        body.send("a")
        try await recorder.wait { $0.last == 1 }
        task.suspend()
        #expect(task.state == .suspended)
        // One chunk may have been asked for before; the next stays with the connection.
        body.send("b")
        let isHeldBack = body.fill()
        #expect(isHeldBack)
        #expect(task.state == .suspended)
        #expect(task.progress.download.completed < 1 << 20)
        task.resume()
        await body.waitForDemand()
        body.finish()
        #expect(try await task.value.value.count > 1 << 20)
    }

    @Test func suspendingStopsMakingTheRequestsBody() async throws {
        let made = EventRecorder<Int>()
        let firstTaken = Signal()
        let goOn = Signal()
        let body = HTTPRequestBody.stream(length: nil, isReplayable: false) {
            CountingReader { index in
                made.record(index)
                if index == 1 {
                    firstTaken.fire()
                    await goOn.wait()
                }
                return index <= 3 ? Data("x".utf8) : nil
            }
        }
        let transport = StubTransport { _ in .status(200) }
        let session = try HTTPSession(transport: transport)
        let task = try session.call(makeRequest(method: .put)).body(body).task(DataResponseSerializer())
        let uploaded = EventRecorder<Int64>()
        task.onProgress { uploaded.record($0.upload.completed) }
        task.resume()
        await firstTaken.wait()
        task.suspend()
        goOn.fire()
        try await uploaded.wait { $0.last == 1 }
        #expect(made.events == [1])
        task.resume()
        _ = try await task.value
        #expect(made.events == [1, 2, 3, 4])
        #expect(transport.requests.first?.body == Data("xxx".utf8))
    }

    @Test func suspendingBeforeTheStartChangesNothing() async throws {
        let session = try HTTPSession(transport: StubTransport())
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        let recorder = EventRecorder<TaskState>()
        task.onStateChange { recorder.record($0) }
        task.suspend()
        task.resume()
        task.resume()
        _ = try await task.value
        #expect(try await recorder.wait(count: 3) == [.suspended, .running, .completed])
    }

    @Test func aSuspendedTaskStillFails() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        let recorder = EventRecorder<Int64>()
        task.onProgress { recorder.record($0.download.completed) }
        task.resume()
        body.send("a")
        try await recorder.wait { $0.last == 1 }
        task.suspend()
        await session.shutdown(.immediate)
        let result = await Result { () async throws(SessionError) in try await task.value }
        #expect(result.error?.code == .shutDown)
    }

    /// Over a socket, where no timer around the request ends it.
    @Test func aSuspendedTaskEndsAtItsDeadline() async throws {
        let source = PausingSource()
        try await withMockServer(handler: { _ in MockResponse(body: .stream(source)) }) { server in
            let session = try HTTPSession()
            let task = try session.call(SessionRequest(url: server.url("/"))).timeout(.milliseconds(500)).task()
            task.onProgress { [weak task] in if $0.download.completed > 0 { task?.suspend() } }
            task.resume()
            let result = await Result { () async throws(SessionError) in try await task.value }
            #expect(result.error?.code == .timeout && result.error?.timeout == .request)
            #expect(result.error?.head?.status == .ok)
            source.goOn.fire()
            await session.shutdown()
        }
    }

    /// A short body arrives in one piece, and is not the end of a suspended task either.
    @Test func aShortResponseWaitsForASuspendedTask() async throws {
        let (isSuspended, hasAnswered) = (Signal(), Signal())
        let handler: MockServer.Handler = { request in
            if request.path == "/short" {
                await isSuspended.wait()
                hasAnswered.fire()
            }
            return .text("short")
        }
        try await withMockServer(handler: handler) { server in
            let session = try HTTPSession()
            let task = try session.call(SessionRequest(url: server.url("/short"))).task()
            task.resume()
            task.suspend()
            isSuspended.fire()
            await hasAnswered.wait()
            for _ in 0..<20 { _ = try await session.call(SessionRequest(url: server.url("/other"))).response() }
            #expect(task.state == .suspended && task.result == nil && task.progress.download.completed == 0)
            task.resume()
            #expect(try await task.value.value == Data("short".utf8))
            #expect(task.progress.download == TransferProgress(completed: 5, total: 5))
            await session.shutdown()
        }
    }
}

/// Makes one piece, and nothing more until it may go on.
private struct PausingSource: AsyncSequence, Sendable {
    struct AsyncIterator: AsyncIteratorProtocol {
        let goOn: Signal
        var hasBegun = false

        mutating func next() async -> Data? {
            guard hasBegun else {
                hasBegun = true
                return Data(repeating: 0x61, count: 1024)
            }
            await goOn.wait()
            return nil
        }
    }

    let goOn = Signal()

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(goOn: goOn) }
}

extension StubTransport.Body {
    /// Sends pieces of 1 MiB until a connection would read no further; false when the reader takes them all.
    func fill() -> Bool {
        (0..<64).contains { _ in !send(Data(repeating: 0, count: 1 << 20)) }
    }
}

private struct CountingReader: HTTPRequestBodyReader {
    let produce: @Sendable (Int) async -> Data?
    private var count = 0

    init(_ produce: @escaping @Sendable (Int) async -> Data?) {
        self.produce = produce
    }

    mutating func next() async throws -> Data? {
        count += 1
        return await produce(count)
    }
}
