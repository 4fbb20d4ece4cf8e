import FoundationEssentials
import HTTPTypes
import LinnetCompression
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite("The second reader of a body", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct SecondReadTests {
    /// How the transport delivers a body: with the head, or piece by piece.
    enum Arrival: CaseIterable, Sendable {
        case whole, streamed

        func response(
            _ text: String = "1\n2\n", status: HTTPResponse.Status = .ok, _ fields: HTTPFields = [:]
        ) -> StubTransport.Response {
            response(Data(text.utf8), status, fields)
        }

        func response(_ bytes: Data, _ status: HTTPResponse.Status, _ fields: HTTPFields) -> StubTransport.Response {
            if self == .whole { return .status(status, headerFields: fields, body: bytes) }
            let body = StubTransport.Body()
            body.send(bytes)
            body.finish()
            return .stream(body, status: status, headerFields: fields)
        }
    }

    /// The ways to read a body.
    enum Reading: CaseIterable, Sendable {
        case chunks, collect, lines, jsonLines, events

        func read(_ body: HTTPResponseBody) async throws(SessionError) {
            switch self {
            case .chunks: for try await _ in body {}
            case .collect: _ = try await body.collect(upTo: 1 << 20)
            case .lines: for try await _ in body.lines() {}
            case .jsonLines: for try await _ in body.jsonLines() {}
            case .events: for try await _ in body.serverSentEvents() {}
            }
        }
    }

    /// The surfaces that hand out a stream.
    enum Handing: CaseIterable, Sendable {
        case bytes, streamTask, twoResponsesOfOneTask

        func bodies(_ call: HTTPCall) async throws -> [HTTPResponseBody] {
            switch self {
            case .bytes: return [try await call.bytes().body]
            case .streamTask: return [try await call.streamTask().response.body]
            case .twoResponsesOfOneTask:
                let task = call.streamTask()
                return [try await task.response.body, try await task.response.body]
            }
        }
    }

    @Test(arguments: Arrival.allCases, Handing.allCases)
    func aStreamIsReadOnceHoweverItArrives(arrival: Arrival, handing: Handing) async throws {
        let session = try makeClient(StubTransport { _ in arrival.response() })
        for first in Reading.allCases {
            let bodies = try await handing.bodies(session.get("a"))
            try await first.read(bodies[0])
            for second in Reading.allCases {
                let error = await sessionError { try await second.read(bodies[bodies.count - 1]) }
                #expect(error?.code == .bodyHasReader, "\(first), then \(second)")
                #expect(error?.head?.status == .ok && error?.url?.lastPathComponent == "a")
            }
        }
        await session.shutdown()
    }

    @Test(arguments: Arrival.allCases)
    func aSecondReaderDoesNotDisturbTheFirst(arrival: Arrival) async throws {
        let session = try makeClient(StubTransport { _ in arrival.response() })
        let ends = EventRecorder<SessionError?>()
        var hooks = TaskHooks()
        hooks.didComplete = { _, outcome in ends.record(outcome) }
        let response = try await session.get("a").hooks(hooks).bytes()
        var reader = response.body.makeAsyncIterator()
        let error = await sessionError { try await response.body.collect(upTo: 100) }
        #expect(error?.code == .bodyHasReader)
        var bytes = Data()
        while let chunk = try await reader.next() { bytes.append(chunk) }
        #expect(bytes == Data("1\n2\n".utf8))
        try await ends.wait(count: 1)
        #expect(ends.events.compactMap(\.self).isEmpty)
        await session.shutdown()
    }

    /// Reads each response, and returns it as it was.
    private struct ReadingInterceptor: Interceptor {
        let found = EventRecorder<String>()

        func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
            let response = try await next(request)
            found.record(String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self))
            return response
        }
    }

    @Test(arguments: Arrival.allCases, [false, true])
    func aBodyThatAnInterceptorHasReadIsNoStreamAnymore(arrival: Arrival, isCoded: Bool) async throws {
        let coded = try ContentCoding.gzip.encoded(Data("1\n2\n".utf8))
        let session = try makeClient(
            StubTransport { _ in
                isCoded ? arrival.response(coded, .ok, [.contentEncoding: "gzip"]) : arrival.response()
            })
        let interceptor = ReadingInterceptor()
        let call = session.get("a").interceptor(interceptor)
        for handing in Handing.allCases {
            let error = await sessionError { _ = try await handing.bodies(call)[0].collect(upTo: 100) }
            #expect(error?.code == .bodyHasReader, "\(handing)")
        }
        let error = await sessionError { _ = try await call.task().value }
        #expect(error?.code == .bodyHasReader)
        #expect(interceptor.found.events == ["1\n2\n", "1\n2\n", "1\n2\n", "1\n2\n"])
        await session.shutdown()
    }

    @Test(arguments: Arrival.allCases)
    func anErrorPageThatAnInterceptorHasReadIsGone(arrival: Arrival) async throws {
        let session = try makeClient(StubTransport { _ in arrival.response(status: .notFound) })
        let error = await sessionError { _ = try await session.get("a").interceptor(ReadingInterceptor()).data() }
        #expect(error?.code == .bodyHasReader && error?.head?.status == .notFound)
        await session.shutdown()
    }

    @Test func aBodyInMemoryIsReadOften() async throws {
        let session = try makeClient(StubTransport { _ in Arrival.whole.response() })
        let text = try await session.get("a").interceptor(ReadingInterceptor()).text()
        #expect(text == "1\n2\n")
        let body = HTTPResponseBody.whole(Data("1\n2\n".utf8))
        for reading in Reading.allCases + Reading.allCases { try await reading.read(body) }
        await session.shutdown()
    }

    @Test func aBodyOfASequenceIsReadOnce() async throws {
        let body = HTTPResponseBody.streamed(AsyncStream<Data> { $0.finish() })
        for (index, reading) in Reading.allCases.enumerated() {
            let error = await sessionError { try await reading.read(body) }
            #expect(error?.code == (index == 0 ? nil : .bodyHasReader))
        }
    }

    @Test(arguments: Arrival.allCases)
    func aStreamThatAHookTakesIsReadOnce(arrival: Arrival) async throws {
        let session = try makeClient(StubTransport { _ in arrival.response() })
        let codes = EventRecorder<SessionError.Code?>()
        var hooks = TaskHooks()
        hooks.didReceiveResponse = { _, _ in
            .becomeStream { response in
                for _ in 0..<2 {
                    codes.record(
                        await sessionError { _ = try await response.body.collect(upTo: 100) }?.code)
                }
            }
        }
        let error = await sessionError { _ = try await session.get("a").hooks(hooks).data() }
        #expect(error?.code == .takenByHook)
        #expect(codes.events == [nil, .bodyHasReader])
        await session.shutdown()
    }

    /// The recording of the first reader is complete, and no second one spoils it.
    @Test func aSecondReaderDoesNotSpoilWhatTheCacheStores() async throws {
        let bytes = Data(repeating: 0x61, count: 600_000)
        let response = MockResponse(headerFields: [.cacheControl: "max-age=60"], body: .bytes(bytes))
        try await withCache {
            $0.on("/a", response)
        } perform: { cache in
            let response = try await cache.session.get("/a").bytes()
            var reader = response.body.makeAsyncIterator()
            let error = await sessionError { try await response.body.collect(upTo: 1 << 20) }
            #expect(error?.code == .bodyHasReader)
            var count = 0
            while let chunk = try await reader.next() { count += chunk.count }
            #expect(count == bytes.count)
            for _ in 0..<2 {
                let hit = try await cache.session.get("/a").bytes()
                #expect(hit.cacheOutcome == .hit)
                #expect(try await hit.body.collect(upTo: 1 << 20) == bytes)
                let again = await sessionError { try await hit.body.collect(upTo: 1 << 20) }
                #expect(again?.code == .bodyHasReader)
            }
            #expect(cache.sent == 1)
        }
    }
}
