import FoundationEssentials
import HTTPTypes
import LinnetAFNetworking
import LinnetMultipart
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

/// AFHTTPSessionManager's verbs, with its callbacks.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct VerbCallbackTests {
    /// The verbs that read their response as JSON.
    enum Verb: CaseIterable, Sendable {
        case get, post, form, put, patch, delete

        var method: HTTPRequest.Method {
            switch self {
            case .get: .get
            case .post, .form: .post
            case .put: .put
            case .patch: .patch
            case .delete: .delete
            }
        }

        /// Whether the parameters are in the query.
        var isWithoutBody: Bool { self == .get || self == .delete }

        func start(
            _ client: HTTPSession, headers: HTTPFields = [:], progress: (@Sendable (TaskProgress) -> Void)? = nil,
            success: @escaping @Sendable (SessionResponse<JSONValue?>) -> Void = { _ in },
            failure: (@Sendable (SessionError) -> Void)? = nil
        ) -> DataTask<JSONValue?> {
            let parameters: RequestParameters = ["a": "bc"]
            switch self {
            case .get:
                return client.get(
                    "x", parameters: parameters, headers: headers, progress: progress, success: success,
                    failure: failure)
            case .post:
                return client.post(
                    "x", parameters: parameters, headers: headers, progress: progress, success: success,
                    failure: failure)
            case .form:
                return client.post(
                    "x", parameters: parameters, headers: headers,
                    constructingBodyWith: { $0.append(Data("1".utf8), name: "part") }, progress: progress,
                    success: success, failure: failure)
            case .put:
                return client.put(
                    "x", parameters: parameters, headers: headers, progress: progress, success: success,
                    failure: failure)
            case .patch:
                return client.patch(
                    "x", parameters: parameters, headers: headers, progress: progress, success: success,
                    failure: failure)
            case .delete:
                return client.delete(
                    "x", parameters: parameters, headers: headers, progress: progress, success: success,
                    failure: failure)
            }
        }
    }

    /// A client with callbacks that have returned when a task's value is available.
    private func client(
        _ transport: StubTransport, configure: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) throws -> HTTPSession {
        try makeClient(transport) {
            $0.callbackExecutor = .custom { $0() }
            $0.progressInterval = .zero
            configure(&$0)
        }
    }

    /// A serializer with its own fields.
    private var serializer: FormRequestSerializer {
        FormRequestSerializer(headerFields: [.userAgent: "Serializer/1", .acceptLanguage: "de"])
    }

    @Test(arguments: Verb.allCases)
    func headersReplaceTheFieldsOfTheSerializer(verb: Verb) async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try client(transport) { $0.requestSerializer = serializer }
        _ = try await verb.start(client, headers: [.userAgent: "Finch/1", .referer: "http://example.com/"]).value
        let head = try #require(transport.requests.first?.head)
        #expect(head.method == verb.method)
        #expect(head.headerFields[values: .userAgent] == ["Finch/1"])
        #expect(head.headerFields[values: .referer] == ["http://example.com/"])
        #expect(head.headerFields[values: .acceptLanguage] == ["de"])
    }

    @Test func headersReplaceTheFieldsOfTheSerializerForHead() async throws {
        let transport = StubTransport()
        let client = try client(transport) { $0.requestSerializer = serializer }
        _ = try await client.head(
            "x", parameters: ["a": "bc"], headers: [.userAgent: "Finch/1"], success: { _ in }
        ).value
        let head = try #require(transport.requests.first?.head)
        #expect(head.method == .head && head.path == "/api/x?a=bc")
        #expect(head.headerFields[values: .userAgent] == ["Finch/1"])
        #expect(head.headerFields[values: .acceptLanguage] == ["de"])
    }

    @Test(arguments: Verb.allCases)
    func progressHasBothDirectionsAndComesBeforeSuccess(verb: Verb) async throws {
        let transport = StubTransport { _ in .json("[1, 2, 3]") }
        let client = try client(transport)
        let calls = EventRecorder<String>()
        let task = verb.start(
            client, progress: { calls.record("\($0.upload.completed) up, \($0.download.completed) down") },
            success: { _ in calls.record("success") }, failure: { _ in calls.record("failure") })
        _ = try await task.value
        let size = try #require(transport.requests.first?.body.count)
        #expect((size == 0) == verb.isWithoutBody)
        let all = calls.events
        #expect(all.first == "0 up, 0 down" && all.last == "success")
        #expect(all.dropLast().last == "\(size) up, 9 down")
        #expect(all.filter { $0 == "success" || $0 == "failure" } == ["success"])
    }

    @Test(arguments: Verb.allCases)
    func aRefusedStatusCallsFailureOnce(verb: Verb) async throws {
        let client = try client(StubTransport { _ in .json("1", status: .internalServerError) })
        let calls = EventRecorder<String>()
        let task = verb.start(
            client, success: { _ in calls.record("success") },
            failure: { calls.record("failure \($0.head?.status.code ?? 0)") })
        #expect(await failure(of: task)?.code == .unacceptableStatus)
        #expect(calls.events == ["failure 500"])
    }

    @Test func aRefusedStatusCallsFailureOfHead() async throws {
        let client = try client(StubTransport { _ in .status(500) })
        let calls = EventRecorder<String>()
        let task = client.head(
            "x", success: { _ in calls.record("success") },
            failure: { calls.record("failure \($0.head?.status.code ?? 0)") })
        #expect(await failure(of: task)?.code == .unacceptableStatus)
        #expect(calls.events == ["failure 500"])
    }

    /// The content type is not judged: there is no content.
    @Test(arguments: [(404, "success 404"), (200, "failure 200")])
    func headAcceptsTheStatusesOfTheResponseSerializer(status: Int, call: String) async throws {
        let transport = StubTransport { _ in
            .status(HTTPResponse.Status(code: status), headerFields: [.contentType: "text/html"])
        }
        let client = try client(transport) {
            $0.responseSerializer.validation.statusCodes = RangeSet(404..<405)
        }
        let calls = EventRecorder<String>()
        let task = client.head(
            "x", success: { calls.record("success \($0.status.code)") },
            failure: { calls.record("failure \($0.head?.status.code ?? 0)") })
        _ = await failure(of: task)
        #expect(calls.events == [call])
    }
}
