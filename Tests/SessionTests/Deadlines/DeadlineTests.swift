import Dispatch
import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Testing

@testable import LinnetSession

/// A call ends at its deadline and at its cancellation, whatever user code runs in it.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct DeadlineTests {
    @Test(arguments: StubbornPlace.allCases, Surface.allCases)
    func aCallEndsAtItsDeadline(place: StubbornPlace, surface: Surface) async throws {
        let code = StubbornCode()
        let client = try place.makeClient(code)
        let error = await send(place.call(of: client, code).timeout(.milliseconds(20)), surface)
        #expect(error?.code == .timeout && error?.timeout == .request)
        // The code may have had no time to begin.
        if code.hasEntered.hasFired {
            #expect(!code.hasLeft.hasFired)
            await code.end(isTold: place.isTold)
        }
        await client.shutdown()
    }

    /// The server sends nothing after the head.
    @Test func aSilentServerEndsACallAtItsIdleTimeout() async throws {
        let silent = MockResponse(body: .text("hello"), faults: [.init(.stall, at: .responseBody(after: 2))])
        try await withMockServer(silent) { server in
            let client = try HTTPSession(baseURL: server.url) { $0.timeouts.idleRead = .seconds(600) }
            let call = client.get("a").options { $0.idleTimeout = .milliseconds(50) }
            let error = await sessionError { try await call.data() }
            #expect(error?.code == .timeout && error?.timeout == .idleRead)
            await client.shutdown(.immediate)
        }
    }

    @Test(arguments: StubbornPlace.allCases, Surface.allCases)
    func aCallEndsWhenItIsCancelled(place: StubbornPlace, surface: Surface) async throws {
        let code = StubbornCode()
        let client = try place.makeClient(code)
        let call = place.call(of: client, code)
        let error: SessionError?
        switch surface {
        case .async:
            let caller = Task { await send(call, surface) }
            await code.hasEntered.wait()
            caller.cancel()
            error = await caller.value
        case .handle, .callbacks:
            let task = call.task()
            let ended = EventRecorder<SessionError?>()
            task.onCompletion { ended.record($0.error) }
            task.resume()
            await code.hasEntered.wait()
            task.cancel()
            error = surface == .handle ? await failure(of: task) : try await ended.wait(count: 1)[0]
        }
        #expect(error?.code == .cancelled)
        #expect(!code.hasLeft.hasFired)
        await code.end(isTold: place.isTold)
        // It does not wait for the code either.
        await client.shutdown()
    }

    /// The retrier is asked once more after the response could not be decoded, when no attempt runs.
    @Test(arguments: [Surface.async, .handle])
    func aCallEndsWhileARetrierJudgesABody(surface: Surface) async throws {
        struct BodyRetrier: RequestRetrier {
            let code: StubbornCode

            func decide(on attempt: RetryPolicy.Attempt) async -> RetryPolicy.Decision {
                if attempt.error?.code == .decodingFailed { await code.run() }
                return .doNotRetry
            }
        }
        let code = StubbornCode()
        let client = try makeClient(StubTransport { _ in .json("{") }) { $0.retriers = [BodyRetrier(code: code)] }
        let call = client.get("x").timeout(.seconds(1))
        let error =
            surface == .async
            ? await sessionError { try await call.value(as: [Int].self) } : await failure(of: call.task(as: [Int].self))
        #expect(error?.code == .timeout && error?.timeout == .request)
        if code.hasEntered.hasFired {
            #expect(!code.hasLeft.hasFired)
            await code.end()
        }
        await client.shutdown()
    }

    /// The function blocks its thread.
    @Test func aDownloadEndsWhileItsDestinationIsChosen() async throws {
        let (hasEntered, release) = (Signal(), DispatchSemaphore(value: 0))
        let client = try makeClient(StubTransport { _ in .json("1") })
        let task = client.get("x").downloadTask { file, _ in
            hasEntered.fire()
            release.wait()
            return file
        }
        task.resume()
        await hasEntered.wait()
        task.cancel()
        #expect(await failure(of: task)?.code == .cancelled)
        release.signal()
        await client.shutdown()
    }

    /// A store of the user's is told what is outdated, also on behalf of a request that is cancelled.
    @Test func entriesAreRemovedForACancelledRequestToo() async throws {
        let store = StubbornStore(code: StubbornCode())
        let url = try #require(URL(string: "http://example.com/a"))
        let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"])
        let request = HTTPRequest(method: .get, scheme: "http", authority: "example.com", path: "/a")
        let entry = StoredResponse(
            id: .init(rawValue: 1), key: try #require(CacheKey(url)), head: head,
            variant: try #require(StoredResponse.Variant(of: head, to: request)), requestTime: Date(),
            responseTime: Date(), bodySize: 1)
        let writer = try await store.beginEntry(entry, replacing: [])
        try await writer.append(Data([1]))
        _ = try await writer.commit(asFirstOf: nil)
        #expect(await store.statistics().count == 1)
        let users = UsersCacheStore.wrapping(store)
        try await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await users.removeAll()
        }.value
        while await store.statistics().count > 0 { await Task.yield() }
    }

    /// The code's late result is released with all that it retains.
    @Test func aResponseThatComesLateIsReleased() async throws {
        let (code, body) = (StubbornCode(), StubTransport.Body())
        let client = try makeClient(StubTransport { _ in .stream(body) }) {
            $0.interceptors = [
                ClosureInterceptor { request, next in
                    let response = try await next(request)
                    await code.run()
                    return response
                }
            ]
        }
        let caller = Task { try await client.get("x").bytes() }
        await code.hasEntered.wait()
        caller.cancel()
        await #expect(throws: SessionError.self) { try await caller.value }
        await code.end()
        await body.waitForAbandonment()
        await client.shutdown()
    }

    /// Nothing is sent for a call that has ended.
    @Test func anInterceptorThatComesBackLateSendsNothing() async throws {
        let (code, transport, late) = (StubbornCode(), StubTransport(), EventRecorder<SessionError.Code?>())
        let client = try makeClient(transport) {
            $0.interceptors = [
                ClosureInterceptor { request, next in
                    await code.run()
                    // Its task is not cancelled.
                    let outcome = await Task {
                        await Result { () async throws(SessionError) in try await next(request) }
                    }.value
                    late.record(outcome.error?.code)
                    return try outcome.get()
                }
            ]
        }
        let error = await #expect(throws: SessionError.self) {
            try await client.get("x").timeout(.milliseconds(20)).data()
        }
        #expect(error?.timeout == .request)
        await code.hasEntered.wait()
        await code.end()
        #expect(try await late.wait(count: 1) == [.cancelled])
        #expect(transport.requests.isEmpty)
        await client.shutdown()
    }

    /// An interceptor that heeds cancellation does not hide the metrics of the request.
    @Test func theErrorHasTheAttemptsBelowAnInterceptor() async throws {
        try await withMockClient { configuration in
            configuration.interceptors = [ClosureInterceptor { request, next in try await next(request) }]
        } routes: {
            $0.on(.get, "/x") { _ in
                await Signal().wait()
                return MockResponse()
            }
        } perform: { client, server in
            let caller = Task { try await client.get("x").response() }
            _ = try await server.nextRequest()
            caller.cancel()
            let error = await #expect(throws: SessionError.self) { try await caller.value }
            #expect(error?.code == .cancelled)
            #expect(error?.metrics.count == 1)
        }
    }

    private func send(_ call: HTTPCall, _ surface: Surface) async -> SessionError? {
        switch surface {
        case .async: await Result { () async throws(SessionError) in try await call.data() }.error
        case .handle: await failure(of: call.task())
        case .callbacks:
            await withCheckedContinuation { continuation in
                let task = call.task()
                task.onCompletion { continuation.resume(returning: $0.error) }
                task.resume()
            }
        }
    }
}
