import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ResponseHookTests {
    @Test(arguments: Surface.allCases, Version.allCases)
    func bytesPassTheHookBeforeTheyAreRead(surface: Surface, version: Version) async throws {
        let heads = EventRecorder<HTTPResponse>()
        let data = EventRecorder<Data>()
        let text = "[" + String(repeating: "1,", count: 100_000) + "1]"
        try await withMockClient(
            version,
            configure: {
                $0.hooks.didReceiveResponse = { _, head in
                    heads.record(head)
                    return .allow
                }
                $0.hooks.didReceiveData = { _, chunk in data.record(chunk) }
            },
            routes: {
                $0.on("/a", .redirect(to: "/b"))
                $0.on("/b", .json(text))
            },
            perform: { client, server in
                let response = try await surface.send("a", with: client).get()
                #expect(response.data == Data(text.utf8))
                #expect(heads.events.map(\.status) == [.ok])
                #expect(data.events.reduce(Data(), +) == response.data)
                #expect(response.metrics.last?.responseBodyBytes == Int64(response.data.count))
            })
    }

    @Test(arguments: Surface.allCases)
    func aHookMayCancelTheResponse(surface: Surface) async throws {
        let client = try makeClient(StubTransport { _ in .json("1") }) {
            $0.hooks.didReceiveResponse = { _, _ in .cancel }
        }
        let error = await surface.send("a", with: client).error
        #expect(error?.code == .cancelled)
        #expect(error?.head?.status == .ok)
    }

    @Test(arguments: Surface.allCases)
    func aHookThatThrowsOnDataFailsItsRequestAlone(surface: Surface) async throws {
        struct Oops: Error {}
        let client = try makeClient(StubTransport { _ in .json("1") }) {
            $0.hooks.didReceiveData = { context, _ in
                if context.request.url.path.hasSuffix("bad") { throw Oops() }
            }
        }
        let error = await surface.send("bad", with: client).error
        #expect(error?.code == .hookFailed)
        #expect(error?.underlying is Oops)
        #expect(error?.head?.status == .ok)
        #expect(await surface.send("good", with: client).success?.value == 1)
    }

    @Test(arguments: Surface.allCases)
    func aResponseMayBecomeADownload(surface: Surface) async throws {
        let file = FileManager.default.temporaryDirectory.appending(
            path: "linnet-become-\(surface)-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: file) }
        let finished = EventRecorder<String>()
        try await withMockClient(
            configure: {
                $0.hooks.didReceiveResponse = { _, _ in .becomeDownload(to: file) }
                $0.hooks.didWriteDownload = { _, bytes, progress in
                    finished.record("\(bytes) \(progress.completed) of \(progress.total ?? -1)")
                }
                $0.hooks.didFinishDownload = { _, file in finished.record(file.lastPathComponent) }
                $0.hooks.didComplete = { _, error in finished.record("\(error?.code.description ?? "fine")") }
            }, routes: { $0.on("/a", .text("bytes")) },
            perform: { client, server in
                let error = await surface.send("a", with: client).error
                #expect(error?.code == .takenByHook)
                #expect(error?.metrics.count == 1)
                #expect(try Data(contentsOf: file) == Data("bytes".utf8))
                try await finished.wait(count: 3)
                #expect(finished.events == ["5 5 of 5", file.lastPathComponent, "takenByHook"])
            })
    }

    @Test func aResponseMayBecomeAStream() async throws {
        let body = StubTransport.Body()
        let read = EventRecorder<Data>()
        let client = try makeClient(StubTransport { _ in .stream(body) }) {
            $0.hooks.didReceiveResponse = { _, _ in
                .becomeStream { response in
                    for try await chunk in response.body { read.record(chunk) }
                }
            }
        }
        async let result = Surface.handle.send("a", with: client)
        body.send("one")
        try await read.wait(count: 1)
        body.send("two")
        body.finish()
        #expect(await result.error?.code == .takenByHook)
        #expect(read.events.reduce(Data(), +) == Data("onetwo".utf8))
    }

    @Test func aNewBodyReplacesAConsumedOne() async throws {
        let transport = StubTransport { request in
            switch request.index {
            case 0: .status(307, headerFields: [.location: "/b"])
            case 1: .status(401, headerFields: [.wwwAuthenticate: "Basic realm=r"])
            case 2: .status(503)
            default: .json("1")
            }
        }
        let asked = EventRecorder<String>()
        var configuration = HTTPSession.Configuration()
        configuration.hooks.needsNewBody = { _, request in
            asked.record(request.url.path)
            let bytes = Data("body \(asked.events.count)".utf8)
            return .stream(length: nil, isReplayable: false) { BytesReader(bytes: bytes) }
        }
        configuration.hooks.didReceiveChallenge = { _, _ in .use(try .basic(username: "u", password: "p")) }
        configuration.hooks.willRetry = { _, attempt, decision in
            attempt.head?.status.code == 503 ? .retry(after: .zero) : decision
        }
        let session = try HTTPSession(configuration: configuration, transport: transport)
        let once = HTTPRequestBody.stream(length: nil, isReplayable: false) { OnceReader() }
        _ = try await session.call(makeRequest("a", method: .post, body: once)).response()
        #expect(asked.events == ["/b", "/b", "/a"])
        #expect(
            transport.requests.map { String(decoding: $0.body, as: UTF8.self) } == [
                "once", "body 1", "body 2", "body 3",
            ])
    }

    /// The hook is asked first: what cannot be sent again is no retry, of the events and of the budget.
    @Test func aRetryWithoutABodyIsNone() async throws {
        let transport = StubTransport { _ in .status(503) }
        let decisions = EventRecorder<TaskEvent.Decision>()
        let session = try makeClient(transport) {
            $0.retryPolicy = .limited(to: 3)
            $0.retryPolicy.methods = [.post]
            $0.retryPolicy.backoff.first = .zero
            $0.retryBudget = RetryBudget(share: 1, minimumPerSecond: 0)
            $0.hooks.needsNewBody = { _, _ in nil }
        }
        session.onEvent { if case .decided(let decision) = $0.kind { decisions.record(decision) } }
        let once = HTTPRequestBody.stream(length: nil, isReplayable: false) { OnceReader() }
        for (body, sends) in [(once, 1), (.data(Data("a".utf8)), 4)] {
            let request = try makeRequest("a", method: .post, body: body)
            #expect(await sessionError { try await session.call(request).response() }?.code == .unacceptableStatus)
            #expect(transport.requests.count == sends)
        }
        // Two requests allow two retries.
        #expect(
            try await decisions.wait(count: 3) == [
                .retry(attempt: 2, delay: .zero), .retry(attempt: 3, delay: .zero), .refusedByBudget,
            ])
        await session.shutdown()
    }

    @Test func aRetryAfterAFailedDecodingGetsANewBody() async throws {
        struct Always: RequestRetrier {
            func decide(on attempt: RetryPolicy.Attempt) -> RetryPolicy.Decision { .retry(after: .zero) }
        }
        let transport = StubTransport { $0.index < 2 ? .json("{") : .json("1") }
        let session = try makeClient(transport) {
            $0.retriers = [Always()]
            $0.hooks.needsNewBody = { _, _ in
                .stream(length: nil, isReplayable: false) { BytesReader(bytes: Data("new".utf8)) }
            }
        }
        let once = HTTPRequestBody.stream(length: nil, isReplayable: false) { OnceReader() }
        let request = try makeRequest("a", method: .post, body: once)
        #expect(try await session.call(request).value(as: Int.self) == 1)
        #expect(transport.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["once", "new", "new"])
        await session.shutdown()
    }

    @Test func aHookWithoutABodyKeepsTheError() async throws {
        let transport = StubTransport { _ in .status(307, headerFields: [.location: "/b"]) }
        var hooks = TaskHooks()
        hooks.needsNewBody = { _, _ in nil }
        let once = HTTPRequestBody.stream(length: nil, isReplayable: false) { OnceReader() }
        let error = await #expect(throws: SessionError.self) {
            try await HTTPSession(transport: transport).call(makeRequest("a", method: .post, body: once)).hooks(hooks)
                .response()
        }
        #expect(error?.code == .requestBodyFailed)
    }
}

private struct BytesReader: HTTPRequestBodyReader {
    var bytes: Data?

    mutating func next() async throws -> Data? {
        defer { bytes = nil }
        return bytes
    }
}
