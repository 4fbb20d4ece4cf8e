import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

/// Retries after a connection that breaks in the body of a response.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct BodyRetryTests {
    private static let large = makeBytes(1_000_000)

    /// The response breaks in the middle for so many requests of a route.
    private static func broken(_ response: MockResponse, times: Int = 1, after bytes: Int = 20)
        -> @Sendable (RecordedRequest) -> MockResponse
    {
        let requests = EventRecorder<Void>()
        return { _ in
            requests.record(())
            guard requests.events.count <= times else { return response }
            return response.with(MockServer.Fault(.close, at: .responseBody(after: bytes)))
        }
    }

    private static let json = MockResponse.json("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]")

    private func withClient<Result>(
        _ version: Version = .http1, retries: Int = 1, route: @escaping @Sendable (RecordedRequest) -> MockResponse,
        configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        perform: (HTTPSession, MockServer) async throws -> Result
    ) async throws -> Result {
        try await withMockClient(version) {
            $0.retryPolicy = .limited(to: retries)
            $0.retryPolicy.backoff.first = .zero
            configure(&$0)
        } routes: {
            $0.on("/a", respond: route)
        } perform: { client, server in
            try await perform(client, server)
        }
    }

    @Test(arguments: Surface.allCases, Version.allCases)
    func aBodyThatBreaksIsRequestedAgain(surface: Surface, version: Version) async throws {
        try await withClient(version, route: Self.broken(Self.json)) { client, server in
            let response = try await surface.send("a", with: client).get()
            #expect(response.value?[14] == 15)
            #expect(response.metrics.count == 2)
            #expect(server.recordedRequests.count == 2)
        }
    }

    @Test(arguments: Surface.allCases)
    func theLimitEndsIt(surface: Surface) async throws {
        try await withClient(retries: 2, route: Self.broken(Self.json, times: 3)) { client, server in
            let error = await surface.send("a", with: client).error
            #expect(error?.code == .connectionLost)
            #expect(error?.metrics.count == 3)
            #expect(server.recordedRequests.count == 3)
        }
    }

    @Test(arguments: Surface.allCases)
    func whatMustNotBeRepeatedIsNot(surface: Surface) async throws {
        try await withClient(route: Self.broken(Self.json)) { client, server in
            #expect(await surface.send("a", method: .post, with: client).error?.code == .connectionLost)
            #expect(server.recordedRequests.count == 1)
        }
    }

    @Test func aCallHasAPolicyOfItsOwn() async throws {
        try await withClient(route: Self.broken(Self.json, times: 2)) { client, server in
            let never = client.get("a").retry(.never).jsonTask()
            never.resume()
            #expect(await failure(of: never)?.code == .connectionLost)
            let once = client.get("a").retry(.limited(to: 1)).jsonTask()
            once.resume()
            let response = try await once.value
            #expect(response.value?[0] == 1)
            #expect(server.recordedRequests.count == 3)
        }
    }

    @Test func progressNeverGoesBack() async throws {
        let response = MockResponse(body: .bytes(Self.large))
        try await withClient(retries: 2, route: Self.broken(response, times: 2, after: 600_000)) { client, _ in
            let progress = EventRecorder<TransferProgress>()
            let task = client.get("a").task()
            task.onProgress { progress.record($0.download) }
            task.resume()
            let received = try await task.value
            #expect(received.value == Self.large)
            let completed = progress.events.map(\.completed)
            #expect(completed == completed.sorted())
            #expect(task.progress.download == TransferProgress(completed: 1_000_000, total: 1_000_000))
        }
    }

    @Test func retriersAndTheHookDecide() async throws {
        struct Retrier: RequestRetrier {
            let attempts = EventRecorder<RetryPolicy.Attempt>()

            func decide(on attempt: RetryPolicy.Attempt) -> RetryPolicy.Decision {
                attempts.record(attempt)
                return attempt.number < 3 ? .retry(after: .zero) : .doNotRetry
            }
        }
        let (retrier, hooked) = (Retrier(), EventRecorder<RetryPolicy.Decision>())
        try await withClient(retries: 0, route: Self.broken(Self.json, times: 3)) {
            $0.retriers = [retrier]
            $0.hooks.willRetry = { _, _, decision in
                hooked.record(decision)
                return decision
            }
        } perform: { client, server in
            let task = client.get("a").jsonTask()
            task.resume()
            #expect(await failure(of: task)?.code == .connectionLost)
            #expect(server.recordedRequests.count == 3)
        }
        #expect(retrier.attempts.events.map(\.number) == [1, 2, 3])
        #expect(retrier.attempts.events.allSatisfy { $0.head?.status == .ok && $0.error?.code == .connectionLost })
        #expect(hooked.events == [.retry(after: .zero), .retry(after: .zero), .doNotRetry])
    }

    /// A hook that reads the response sees those of both attempts.
    @Test(arguments: Surface.allCases)
    func hooksSeeEachAttempt(surface: Surface) async throws {
        let heads = EventRecorder<HTTPResponse.Status>()
        try await withClient(route: Self.broken(Self.json)) {
            $0.hooks.didReceiveResponse = { _, head in
                heads.record(head.status)
                return .allow
            }
        } perform: { client, _ in
            let result = await surface.send("a", with: client)
            let response = try result.get()
            #expect(response.value?[0] == 1)
        }
        #expect(heads.events == [.ok, .ok])
    }

    @Test func aStreamIsNotRequestedAgain() async throws {
        let response = MockResponse(body: .bytes(Self.large))
        try await withClient(route: Self.broken(response, after: 600_000)) { client, server in
            let task = client.get("a").streamTask()
            task.resume()
            var received = 0
            do throws(SessionError) {
                var chunks = try await task.response.body.makeAsyncIterator()
                while let chunk = try await chunks.next() { received += chunk.count }
                Issue.record("the body was whole")
            } catch {
                #expect(error.code == .connectionLost)
            }
            #expect(received == 600_000)
            #expect(server.recordedRequests.count == 1)
        }
    }

    // MARK: Downloads

    /// Sends a request for a file by a call, or by a handle.
    enum Download: CaseIterable {
        case call, task

        func run(
            _ call: HTTPCall, to file: URL, _ options: DownloadOptions = .init()
        ) async -> Result<SessionResponse<URL>, SessionError> {
            await Result { () async throws(SessionError) in
                guard self == .task else { return try await call.download(to: file, options: options) }
                let task = call.downloadTask(to: file, options: options)
                task.resume()
                return try await task.value
            }
        }
    }

    @Test(arguments: Download.allCases)
    func aDownloadBeginsAnew(download: Download) async throws {
        let response = MockResponse(headerFields: [.eTag: "\"v1\""], body: .bytes(Self.large))
        try await withClient(route: Self.broken(response, after: 600_000)) { client, server in
            try await withScratchFolder { folder in
                let result = await download.run(client.get("a"), to: folder["file"])
                let response = try result.get()
                #expect(response.metrics.count == 2)
                #expect(try Data(contentsOf: folder["file"]) == Self.large)
                #expect(folder.names == ["file"])
                #expect(server.recordedRequests.map { $0.headerFields[.range] } == [nil, nil])
            }
        }
    }

    @Test(arguments: Download.allCases)
    func aDownloadContinuesThePartThatItKeeps(download: Download) async throws {
        let source = RangeServer(Self.large)
        source.change { $0.fault = (.close, 400_000) }
        try await withClient(retries: 5, route: { source.respond(to: $0) }) { client, server in
            try await withScratchFolder { folder in
                let options = DownloadOptions { $0.keepsPart = true }
                let result = await download.run(client.get("a"), to: folder["file"], options)
                let response = try result.get()
                #expect(response.metrics.count == server.recordedRequests.count)
                #expect(try Data(contentsOf: folder["file"]) == Self.large)
                #expect(folder.names == ["file"])
                let ranges = server.recordedRequests.map { $0.headerFields[.range] }
                #expect(ranges.first == .some(nil) && ranges.count >= 2 && ranges.dropFirst().allSatisfy { $0 != nil })
            }
        }
    }

    /// The second attempt ends before it has a response, and the error still leads to the part of the first one.
    @Test(arguments: Download.allCases)
    func theLastErrorHasThePartOfAnEarlierAttempt(download: Download) async throws {
        let source = RangeServer(Self.large)
        source.change { $0.fault = (.close, 400_000) }
        let route: @Sendable (RecordedRequest) -> MockResponse = { request in
            guard request.headerFields[.range] != nil else { return source.respond(to: request) }
            return MockResponse().with(MockServer.Fault(.reset, at: .responseHead))
        }
        try await withClient(route: route) { client, server in
            try await withScratchFolder { folder in
                let options = DownloadOptions { $0.keepsPart = true }
                let error = await download.run(client.get("a"), to: folder["file"], options).error
                #expect(error?.code == .connectionLost)
                let data = try #require(error?.resumeData)
                #expect(folder.names == [data.partialFile.lastPathComponent])
                #expect(try Data(contentsOf: data.partialFile) == Self.large.prefix(Int(data.receivedBytes)))
                #expect(server.recordedRequests.count >= 2)
            }
        }
    }

    /// The download is between two attempts, and its part in no hands but its own.
    @Test(arguments: [true, false])
    func aCancelledWaitKeepsThePartOrLeavesNothing(keepsPart: Bool) async throws {
        let source = RangeServer(Self.large)
        source.change { $0.fault = (.close, 400_000) }
        let isWaiting = Signal()
        try await withClient(route: { source.respond(to: $0) }) {
            $0.retryPolicy.backoff.first = .seconds(600)
            $0.hooks.willRetry = { _, _, decision in
                isWaiting.fire()
                return decision
            }
        } perform: { client, _ in
            try await withScratchFolder { folder in
                let options = DownloadOptions { $0.keepsPart = true }
                let task = client.get("a").downloadTask(to: folder["file"], options: options)
                task.resume()
                await isWaiting.wait()
                if keepsPart { task.cancel(producingResumeData: { _ in }) } else { task.cancel() }
                let error = await failure(of: task)
                #expect(error?.code == .cancelled)
                guard keepsPart else {
                    #expect(error?.resumeData == nil)
                    #expect(folder.names.isEmpty)
                    return
                }
                let data = try #require(error?.resumeData)
                #expect(folder.names == [data.partialFile.lastPathComponent])
            }
        }
    }
}
