import FoundationEssentials
import Linnet
import Testing

/// The requests that httpbin receives, with each verb and surface.
@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct HTTPBinEchoTests {
    private static let parameters: RequestParameters = [
        "text": "Grüße & mehr = 100 % + ?#/",
        "count": 3,
        "active": true,
        "tags": ["one", "two"],
        "user": ["name": "Ada"],
        "🐦": "hänfling",
    ]
    private static let echoed: JSONValue = [
        "text": "Grüße & mehr = 100 % + ?#/", "count": "3", "active": "1", "tags[]": ["one", "two"],
        "user[name]": "Ada", "🐦": "hänfling",
    ]

    @Test(arguments: Verb.allCases, Surface.allCases)
    func parametersArriveAsArgumentsOrForm(verb: Verb, surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let response = try await surface.send(
                verb, verb.rawValue, on: session, parameters: Self.parameters)
            #expect(response.status == .ok)
            #expect(response.value?[verb.hasQuery ? "args" : "form"] == Self.echoed)
            #expect(response.value?[verb.hasQuery ? "form" : "args"] ?? [:] == [:])
            let contentType = response.value?["headers"]?["Content-Type"]
            #expect(contentType == (verb.hasQuery ? nil : "application/x-www-form-urlencoded"))
        }
    }

    @Test(arguments: Verb.allCases, Surface.allCases)
    func parametersArriveAsJSON(verb: Verb, surface: Surface) async throws {
        try await Server.httpbin.withSession {
            $0.requestSerializer = JSONRequestSerializer()
        } run: { session in
            let response = try await surface.send(
                verb, verb.rawValue, on: session, parameters: Self.parameters)
            if verb.hasQuery {
                #expect(response.value?["args"] == Self.echoed)
            } else {
                #expect(
                    response.value?["json"] == [
                        "text": "Grüße & mehr = 100 % + ?#/", "count": 3, "active": true, "tags": ["one", "two"],
                        "user": ["name": "Ada"], "🐦": "hänfling",
                    ])
                #expect(response.value?["form"] == [:])
                #expect(response.value?["headers"]?["Content-Type"] == "application/json")
            }
        }
    }

    @Test(arguments: Verb.allCases, Surface.allCases)
    func aRequestsHeaderFieldsReplaceDefaultsAndKeepOthers(verb: Verb, surface: Surface) async throws {
        try await Server.httpbin.withSession {
            $0.headerFields = [.xMarker: "session", .cacheControl: "no-store"]
        } run: { session in
            let response = try await surface.send(
                verb, "anything/a/b", on: session, headers: [.xMarker: "call", .userAgent: "Wren/1.0"])
            let headers = response.value?["headers"]
            #expect(headers?["X-Marker"] == "call")
            #expect(headers?["Cache-Control"] == "no-store")
            #expect(headers?["User-Agent"] == "Wren/1.0")
            #expect(headers?["Accept-Language"] != nil)
            #expect(response.value?["method"] == .string(verb.method.rawValue))
            let url = response.value?["url"]?.string
            #expect(url?.hasSuffix("/anything/a/b") == true)
        }
    }

    @Test(arguments: Surface.allCases)
    func headSendsItsParametersInTheQuery(surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let head = try await surface.head("response-headers", on: session, parameters: ["X-Marker": "from query"])
            #expect(head.status == .ok)
            #expect(head.value.isEmpty)
            #expect(head.head.headerFields[.xMarker] == "from query")
        }
    }

    @Test(arguments: [Verb.post, .put, .patch], Surface.allCases)
    func withoutParametersTheBodyIsEmpty(verb: Verb, surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let response = try await surface.send(verb, verb.rawValue, on: session)
            #expect(response.value?["data"] == "")
            #expect(response.value?["form"] == [:])
            #expect(response.value?["headers"]?["Content-Length"] == "0")
        }
    }

    @Test func aMethodWithoutAVerbFunctionCanBeSent() async throws {
        try await Server.httpbin.withSession { session in
            let method = try #require(HTTPRequest.Method("TRACE"))
            let response = try await session.call(method, "anything").response(JSONResponseSerializer())
            #expect(response.value?["method"] == "TRACE")
        }
    }

    @Test func aSessionsDefaultUserAgentNamesTheLibrary() async throws {
        try await Server.httpbin.withSession { session in
            let agent = try await session.get("user-agent").json()?["user-agent"]?.string
            #expect(agent?.contains("Linnet/") == true)
        }
    }

    @Test func aBodyOfUnknownLengthArrivesChunked() async throws {
        try await Server.httpbin.withSession { session in
            var request = SessionRequest(url: try session.url(for: "post"), method: .post)
            request.headerFields[.contentType] = "text/plain"
            request.body = .stream(length: nil, isReplayable: true) { Words(left: ["one ", "", "two ", "three"]) }
            let response = try await session.call(request).response(JSONResponseSerializer())
            #expect(response.value?["data"] == "one two three")
            #expect(response.value?["headers"]?["Transfer-Encoding"] == "chunked")
        }
    }
}

private struct Words: HTTPRequestBodyReader {
    var left: [String]

    mutating func next() async throws -> Data? {
        left.isEmpty ? nil : Data(left.removeFirst().utf8)
    }
}
