import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct StreamTaskTests {
    @Test func theBodyIsReadWhileItArrives() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body, headerFields: [.server: "s"]) })
        let task = try session.call(makeRequest()).streamTask()
        #expect(task.kind == .stream)
        task.resume()
        let response = try await task.response
        #expect(response.head.headerFields[.server] == "s")
        var chunks = response.body.makeAsyncIterator()
        body.send("a")
        #expect(try await chunks.next() == Data("a".utf8))
        body.send("b")
        #expect(try await chunks.next() == Data("b".utf8))
        body.finish()
        #expect(try await chunks.next() == nil)
        #expect(try await task.value.head.status == .ok)
        #expect(task.progress.download.completed == 2)
    }

    @Test func aFailureReachesTheReaderAndTheTask() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let task = try session.call(makeRequest()).streamTask()
        task.resume()
        let response = try await task.response
        body.send("a")
        body.fail(TransportError(.readTimeout, "Too slow."))
        let error = await #expect(throws: SessionError.self) { try await response.body.collect(upTo: 10) }
        #expect(error?.timeout == .idleRead)
        #expect(error?.head?.status == .ok)
        #expect(await Result { () async throws(SessionError) in try await task.value }.error?.code == .timeout)
    }

    @Test func aFailureBeforeTheHeadReachesItsReader() async throws {
        let session = try HTTPSession(transport: StubTransport { _ in throw TransportError(.connectionFailed, "No.") })
        let task = try session.call(makeRequest()).streamTask()
        task.resume()
        let error = await #expect(throws: SessionError.self) { try await task.response }
        #expect(error?.code == .connectionFailed)
    }

    @Test func cancellingReachesTheReader() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let task = try session.call(makeRequest()).streamTask()
        task.resume()
        let response = try await task.response
        var chunks = response.body.makeAsyncIterator()
        body.send("a")
        #expect(try await chunks.next() == Data("a".utf8))
        task.cancel()
        await body.waitForAbandonment()
        let error = await Result { () async throws(SessionError) in try await chunks.next() }.error
        #expect(error?.code == .cancelled)
    }

    @Test func aSecondReaderFailsAndTheFirstGoesOn() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let task = try session.call(makeRequest()).streamTask()
        task.resume()
        let response = try await task.response
        let outcomes = AsyncStream<Result<Data?, SessionError>>.makeStream()
        for _ in 0..<2 {
            Task {
                var chunks = response.body.makeAsyncIterator()
                outcomes.continuation.yield(
                    await Result { () async throws(SessionError) in try await chunks.next() })
            }
        }
        var iterator = outcomes.stream.makeAsyncIterator()
        #expect(await iterator.next()?.error?.code == .bodyHasReader)
        body.send("a")
        #expect(try await iterator.next()?.get() == Data("a".utf8))
        task.cancel()
    }

    @Test func cancellingBeforeTheStartReachesTheReaderOfTheHead() async throws {
        // Asking starts the task, which may happen before it is cancelled.
        let session = try HTTPSession(
            transport: StubTransport { _ in
                try await ManualClock().sleep(for: .seconds(1))
                return .status(.ok)
            })
        let task = try session.call(makeRequest()).streamTask()
        let asking = Task { await Result { () async throws(SessionError) in try await task.response } }
        task.cancel()
        #expect(await asking.value.error?.code == .cancelled)
    }

    /// The response is still there, and the network silent.
    @Test func cancellingAReadCancelsTheTask() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let task = try session.call(makeRequest()).streamTask()
        let response = try await task.response
        body.send("a")
        let (reads, read) = AsyncStream<Void>.makeStream()
        let reader = Task {
            for try await _ in response.body { read.yield() }
        }
        for await _ in reads { break }
        reader.cancel()
        let outcome = await Result { () async throws(SessionError) in try await task.value }
        #expect(outcome.error?.code == .cancelled)
        await #expect(throws: SessionError.self) { try await reader.value }
        _ = response
    }

    @Test func leavingBeforeTheEndCancelsTheTask() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let task = try session.call(makeRequest()).streamTask()
        task.resume()
        body.send("a")
        func readOne() async throws {
            for try await _ in try await task.response.body { break }
        }
        try await readOne()
        await body.waitForAbandonment()
        #expect(await Result { () async throws(SessionError) in try await task.value }.error?.code == .cancelled)
        let error = await #expect(throws: SessionError.self) { try await task.response }
        #expect(error?.code == .cancelled)
    }

    @Test func suspendingHoldsTheChunksBack() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let task = try session.call(makeRequest()).streamTask()
        task.resume()
        let response = try await task.response
        let taken = EventRecorder<Int>()
        let reading = Task {
            for try await chunk in response.body { taken.record(chunk.count) }
        }
        body.send("a")
        try await taken.wait(count: 1)
        task.suspend()
        let isHeldBack = body.fill()
        #expect(isHeldBack)
        #expect(task.state == .suspended)
        // One chunk may have been asked for before.
        #expect(taken.events.count <= 2)
        task.resume()
        await body.waitForDemand()
        body.finish()
        try await reading.value
        #expect(taken.events.reduce(0, +) > 1 << 20)
    }

    @Test func theVerbMakesItsRequest() async throws {
        let transport = StubTransport { _ in .status(200, body: Data("x".utf8)) }
        let client = try makeClient(transport)
        let task = client.call(.get, "a", ["q": 1]).streamTask()
        task.resume()
        #expect(try await task.response.body.collect(upTo: 10) == Data("x".utf8))
        #expect(transport.requests.first?.head.path == "/api/a?q=1")
    }

    @Test func aWholeBodyHasItsTrailers() async throws {
        let sum = try #require(HTTPField.Name("x-sum"))
        let response = MockResponse(body: .text("all"), trailers: [sum: "1"])
        try await withMockServer(response) { server in
            let session = try HTTPSession()
            for _ in 0..<20 {
                let response = try await session.call(SessionRequest(url: server.url("/"))).bytes()
                #expect(try await response.body.collect(upTo: 10) == Data("all".utf8))
                #expect(response.trailers?[sum] == "1")
            }
            let task = try session.call(SessionRequest(url: server.url("/"))).streamTask()
            task.resume()
            let streamed = try await task.response
            #expect(try await streamed.body.collect(upTo: 10) == Data("all".utf8))
            #expect(streamed.trailers?[sum] == "1")
            await session.shutdown()
        }
    }
}
