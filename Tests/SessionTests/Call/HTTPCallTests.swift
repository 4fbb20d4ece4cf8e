import FoundationEssentials
import HTTPTypes
import LinnetMultipart
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct HTTPCallTests {
    struct Post: Codable, Sendable, Equatable {
        var title: String
        var date: Date
    }

    enum Order: String, ParameterConvertible { case newest, oldest }

    @Test func aCallSendsNothingUntilItIsAwaitedAndCanBeSentAgain() async throws {
        let transport = StubTransport { _ in .json("1") }
        let call = try makeClient(transport).get("x", ["page": 2])
        #expect(transport.requests.isEmpty)
        #expect(try await call.json() == 1)
        #expect(try await call.value(as: Int.self) == 1)
        #expect(try await call.text() == "1")
        #expect(try await call.data() == Data("1".utf8))
        #expect(try await call.response(as: Int.self).status == .ok)
        #expect(transport.requests.map(\.head.path) == Array(repeating: "/api/x?page=2", count: 5))
    }

    @Test func variablesOfAnyTypeThatCanBeAParameterAreWritten() async throws {
        let transport = StubTransport { _ in .json("1") }
        let (page, text, tags, isOpen, none) = (2, "a b", ["x", "y"], true, String?.none)
        _ = try await makeClient(transport).get(
            "x", ["page": page, "q": text, "tags": tags, "open": isOpen, "order": Order.oldest, "z": none]
        ).response()
        #expect(
            transport.requests.first?.head.path
                == "/api/x?open=1&order=oldest&page=2&q=a%20b&tags%5B%5D=x&tags%5B%5D=y")
    }

    @Test func anEncodableIsAQueryOrAForm() async throws {
        struct Query: Encodable, Sendable { var page: Int }
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport)
        try await client.get("x").parameters(Query(page: 3)).response()
        try await client.post("x").parameters(Query(page: 3)).response()
        #expect(transport.requests[0].head.path == "/api/x?page=3")
        #expect(transport.requests[1].body == Data("page=3".utf8))
    }

    @Test func anUnencodableValueFailsWhenTheCallIsSent() async throws {
        struct Broken: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws { throw CocoaError(.fileReadCorruptFile) }
        }
        let client = try makeClient()
        for call in [client.get("x").parameters(Broken()), client.post("x", json: Broken())] {
            let error = await #expect(throws: SessionError.self) { try await call.response() }
            #expect(error?.code == .encodingFailed)
        }
    }

    @Test func jsonIsPostedAndReadBack() async throws {
        let transport = StubTransport { request in .json(String(decoding: request.body, as: UTF8.self)) }
        let post = Post(title: "A linnet", date: Date(timeIntervalSince1970: 86_400))
        let read = try await makeClient(transport).post("x", json: post).value(as: Post.self)
        #expect(read == post)
        let request = try #require(transport.requests.first)
        #expect(request.head.headerFields[.contentType] == "application/json")
        #expect(request.head.headerFields[.accept] == "application/json")
    }

    @Test func aCallsOwnFieldsWin() async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport) { $0.headerFields[.userAgent] = "Finch/1" }
        try await client.get("x").response()
        try await client.get("x").header(.userAgent, "Own/1").header(.accept, "text/csv").response()
        #expect(transport.requests.map(\.head.headerFields[.userAgent]) == ["Finch/1", "Own/1"])
        #expect(transport.requests[1].head.headerFields[values: .accept] == ["text/csv"])
    }

    @Test func aSetHeaderAppliesToLaterCallsAtTheBaseURLsOrigin() async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport)
        try await client.get("x").response()
        client.setHeader(.authorization, "Bearer t")
        try await client.get("x").response()
        try await client.get("http://other.example/x").response()
        client.setHeader(.authorization, nil)
        try await client.get("x").response()
        #expect(transport.requests.map(\.head.headerFields[.authorization]) == [nil, "Bearer t", nil, nil])
    }

    @Test func aJSONBodyKeepsTheSessionsAndTheSerializersFields() async throws {
        let transport = StubTransport { _ in .json("1") }
        var serializer = FormRequestSerializer()
        serializer.settings.headerFields[.userAgent] = "Serializer/1"
        let plain = try makeClient(transport) { $0.requestSerializer = serializer }
        try await plain.post("x", json: 1).response()
        let configured = try makeClient(transport) { $0.headerFields[.userAgent] = "Finch/1" }
        try await configured.post("x", json: 1).response()
        #expect(transport.requests.map(\.head.headerFields[.userAgent]) == ["Serializer/1", "Finch/1"])
    }

    /// Calls that read the response as JSON accept JSON, unless another field decides.
    @Test func theSessionsAndTheSerializersAcceptFieldsHoldForJSON() async throws {
        let transport = StubTransport { _ in .json("1") }
        let api = "application/vnd.api+json"
        var serializer = FormRequestSerializer()
        serializer.headerFields[.accept] = api
        let clients = [
            try makeClient(transport) { $0.requestSerializer = serializer },
            try makeClient(transport) { $0.headerFields[.accept] = api },
            try makeClient(transport),
        ]
        clients[2].setHeader(.accept, api)
        for client in clients {
            #expect(try await client.get("x").json() == 1)
            #expect(try await client.get("x").value(as: Int.self) == 1)
            #expect(try await client.get("x").task(as: Int.self).value.value == 1)
            #expect(try await client.get("x").header(.accept, "own/*").json() == 1)
        }
        let accepted = transport.requests.map { $0.head.headerFields[values: .accept] }
        let ofEach: [[String]] = [[api], [api], [api], ["own/*"]]
        #expect(accepted == ofEach + ofEach + ofEach)
    }

    @Test func aGivenRequestAcceptsJSONByDefault() async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport)
        var request = try makeRequest()
        #expect(try await client.call(request).json() == 1)
        request.headerFields[.accept] = "own/*"
        #expect(try await client.call(request).json() == 1)
        client.setHeader(.accept, "session/*")
        #expect(try await client.call(try makeRequest()).json() == 1)
        let accepted = transport.requests.map { $0.head.headerFields[values: .accept] }
        #expect(accepted == [["application/json"], ["own/*"], ["session/*"]])
    }

    /// Servers refuse requests without a User-Agent.
    @Test func aGivenRequestNamesItsSender() async throws {
        let transport = StubTransport()
        var serializer = FormRequestSerializer()
        serializer.headerFields[.authorization] = "secret"
        let client = try makeClient(transport) { $0.requestSerializer = serializer }
        var request = try makeRequest()
        try await client.call(request).response()
        request.headerFields[.userAgent] = "Own/1"
        try await client.call(request).response()
        let fields = transport.requests.map(\.head.headerFields)
        let defaults = FormRequestSerializer.defaultHeaderFields
        #expect(fields.first?[.userAgent] == defaults[.userAgent])
        #expect(fields.first?[.acceptLanguage] == defaults[.acceptLanguage])
        #expect(fields.last?[values: .userAgent] == ["Own/1"])
        #expect(fields.allSatisfy { $0[.authorization] == nil })
    }

    @Test func aJSONBodyHasTheContentTypeThatTheSessionOrItsSerializerSets() async throws {
        let transport = StubTransport { _ in .json("1") }
        let api = "application/vnd.api+json"
        var serializer = JSONRequestSerializer()
        serializer.headerFields[.contentType] = api
        var form = FormRequestSerializer()
        form.headerFields[.contentType] = "application/x-www-form-urlencoded; charset=utf-8"
        let bySerializer = try makeClient(transport) { $0.requestSerializer = serializer }
        try await bySerializer.post("x", json: 1).response()
        let bySession = try makeClient(transport) { $0.headerFields[.contentType] = api }
        try await bySession.post("x", json: 1).response()
        try await makeClient(transport).post("x", json: 1).requestSerializer(serializer).response()
        try await bySession.post("x", json: 1).header(.contentType, "own/json").response()
        // The content type of forms does not apply to JSON.
        try await makeClient(transport) { $0.requestSerializer = form }.post("x", json: 1).response()
        try await makeClient(transport).post("x", json: 1).response()
        let types = transport.requests.map { $0.head.headerFields[values: .contentType] }
        #expect(types == [[api], [api], [api], ["own/json"], ["application/json"], ["application/json"]])
    }

    @Test(arguments: ["a\r\nb: c", "a\u{0}", "a\nb"])
    func anInvalidFieldValueFailsTheCall(value: String) async throws {
        let transport = StubTransport()
        let call = try makeClient(transport).get("x").header(.userAgent, value).body(json: 1)
        let error = await #expect(throws: SessionError.self) { try await call.response() }
        #expect(error?.code == .invalidRequest)
        #expect(transport.requests.isEmpty)
        try await makeClient(transport).get("x").header(.userAgent, " blanks around ").response()
        #expect(transport.requests.map(\.head.headerFields[.userAgent]) == ["blanks around"])
    }

    @Test func aRemovedFileOfAFormIsAFileFailure() async throws {
        try await withScratchFolder { folder in
            try folder.write("part", to: "part.txt")
            var form = MultipartForm()
            try form.append(fileAt: folder["part.txt"], name: "a")
            try FileManager.default.removeItem(at: folder["part.txt"])
            let call = try makeClient().post("x", form: form)
            let error = await #expect(throws: SessionError.self) { try await call.response() }
            #expect(error?.code == .fileFailed)
            #expect(error?.fileFailure?.path == folder["part.txt"].path)
        }
    }

    @Test func aCopyHasTheSetHeaders() async throws {
        let client = try HTTPSession(baseURL: URL(string: "http://localhost"))
        client.setHeader(.accept, "text/csv")
        let copy = try client.copy()
        #expect(copy.headerFields[.accept] == "text/csv")
        await client.shutdown()
        await copy.shutdown()
    }

    @Test func serverSentEventsHaveTheCallsHooks() async throws {
        let calls = EventRecorder<Int>()
        let client = try makeClient(StubTransport { _ in .status(204) })
        let hooks = TaskHooks {
            $0.didReceiveResponse = { _, head in
                calls.record(head.status.code)
                return .allow
            }
        }
        for try await _ in client.get("x").hooks(hooks).serverSentEvents() {}
        #expect(calls.events == [204])
    }

    @Test func anErrorPageOfAnyLengthIsAnUnacceptableStatus() async throws {
        let page = Data(repeating: 0x61, count: 1_500_000)
        let client = try makeClient(StubTransport { _ in .status(500, body: page) })
        let error = await #expect(throws: SessionError.self) { for try await _ in client.get("x").lines() {} }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.body?.count == 1024 * 1024)
    }

    @Test func anEmptyPathIsTheBaseURL() async throws {
        for (base, path) in [("http://h", "/"), ("http://h/", "/"), ("http://h/api", "/api/")] {
            let transport = StubTransport { _ in .json("1") }
            try await makeClient(base: base, transport).get("").response()
            #expect(transport.requests.first?.head.path == path)
        }
    }

    @Test func awaitingTheValueStartsAHandle() async throws {
        let task = try makeClient(StubTransport { _ in .json("1") }).get("x").task(as: Int.self)
        #expect(task.state == .suspended)
        #expect(try await task.value.value == 1)
    }

    @Test func aStreamThatCanBeReadOnceFailsTheSecondTime() async throws {
        let transport = StubTransport { _ in .json("1") }
        let body = HTTPRequestBody.chunks(
            AsyncStream {
                $0.yield(Data("a".utf8)); $0.finish()
            }, length: nil, isReplayable: false)
        let call = try makeClient(transport).call(.put, "x").body(body)
        try await call.response()
        let error = await #expect(throws: SessionError.self) { try await call.response() }
        #expect(error?.code == .requestBodyFailed)
    }

    @Test func anErrorPageIsNotReadAsLines() async throws {
        let client = try makeClient(
            StubTransport { _ in .status(410, headerFields: [.contentType: "text/plain"], body: Data("gone".utf8)) })
        let error = await #expect(throws: SessionError.self) { for try await _ in client.get("x").lines() {} }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.body == Data("gone".utf8))
        let ended = await #expect(throws: SessionError.self) {
            for try await _ in client.get("x").jsonLines(of: Int.self) {}
        }
        #expect(ended?.code == .unacceptableStatus)
    }

    @Test func eachReaderReadsTheLinesAnew() async throws {
        let lines = try makeClient(StubTransport { _ in .status(200, body: Data("1\n2\n".utf8)) }).get("x").jsonLines(
            of: Int.self)
        for _ in 0..<2 {
            var read: [Int] = []
            for try await value in lines { read.append(value) }
            #expect(read == [1, 2])
        }
    }

    @Test func aTimeoutInterruptsAnInterceptor() async throws {
        let client = try makeClient {
            $0.interceptors = [
                ClosureInterceptor { _, _ in
                    try await ContinuousClock().sleep(for: .seconds(3600))
                    throw CancellationError()
                }
            ]
        }
        let error = await #expect(throws: SessionError.self) {
            try await client.get("x").timeout(.milliseconds(50)).response()
        }
        #expect(error?.code == .timeout)
        #expect(error?.timeout == .request)
    }

    @Test func aCallCanDisableTheSessionsTimeout() async throws {
        let client = try makeClient(StubTransport { _ in .json("1") }) {
            $0.timeouts.request = .zero
            // The timeout of a chain with interceptors is a separate task.
            $0.interceptors = [ClosureInterceptor { request, next in try await next(request) }]
        }
        let error = await #expect(throws: SessionError.self) { try await client.get("x").response() }
        #expect(error?.timeout == .request)
        let call = client.get("x").timeout(.seconds(Int64.max)).options {
            $0.idleTimeout = .seconds(Int64.max)
            $0.connectTimeout = .seconds(Int64.max)
        }
        #expect(try await call.json() == 1)
        #expect(try await call.task().value.status == .ok)
    }

    @Test func aHookFollowsRedirectsThatTheSessionDoesNot() async throws {
        let transport = StubTransport { request in
            request.index % 2 == 0 ? .status(302, headerFields: [.location: "/b"]) : .json("1")
        }
        let client = try makeClient(transport) { $0.redirectPolicy = .doNotFollow }
        let follows = TaskHooks { $0.willRedirect = { _, _, request in .follow(request) } }
        #expect(try await client.get("a").hooks(follows).json() == 1)
        let error = await #expect(throws: SessionError.self) { try await client.get("a").response() }
        #expect(error?.head?.status == .found)
    }

    @Test func sessionEventsAreBounded() async throws {
        let client = try makeClient(StubTransport { _ in .json("1") })
        let events = client.events
        for _ in 0..<5_100 { try await client.get("x").response() }
        #expect(events.droppedCount >= 200)
        var count = 0
        for await _ in events {
            count += 1
            if count == 10_000 { break }
        }
        #expect(count == 10_000)
    }
}
