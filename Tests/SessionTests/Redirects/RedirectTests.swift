import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct RedirectTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var status: Int
        var method: HTTPRequest.Method
        var becomes: HTTPRequest.Method

        var testDescription: String { "\(status) after \(method)" }
    }

    static let cases: [Case] = [
        .init(status: 301, method: .get, becomes: .get), .init(status: 301, method: .head, becomes: .head),
        .init(status: 301, method: .post, becomes: .get), .init(status: 301, method: .put, becomes: .put),
        .init(status: 302, method: .post, becomes: .get), .init(status: 302, method: .delete, becomes: .delete),
        .init(status: 302, method: .patch, becomes: .patch), .init(status: 303, method: .get, becomes: .get),
        .init(status: 303, method: .head, becomes: .head), .init(status: 303, method: .post, becomes: .get),
        .init(status: 303, method: .put, becomes: .get), .init(status: 307, method: .post, becomes: .post),
        .init(status: 307, method: .get, becomes: .get), .init(status: 308, method: .post, becomes: .post),
        .init(status: 308, method: .put, becomes: .put),
    ]

    @Test(arguments: cases, Version.allCases)
    func methodAndBodyFollowTheStatus(testCase: Case, version: Version) async throws {
        try await withMockClient(version) {
            $0.on("/from", .redirect(to: "/to", status: .init(code: testCase.status)))
            $0.on("/to", .text("here"))
        } perform: { client, server in
            let hasBody = testCase.method != .get && testCase.method != .head
            let request = SessionRequest(
                url: try server.url("/from"), method: testCase.method,
                headerFields: hasBody ? [.contentType: "text/x", .contentLanguage: "en", .accept: "a/b"] : [:],
                body: hasBody ? .data(Data("body".utf8)) : nil)
            let response = try await client.call(request).response()
            #expect(response.url == (try server.url("/to")))
            #expect(response.redirects.map(\.status.code) == [testCase.status])
            #expect(response.redirects.map(\.target.path) == ["/to"])
            #expect(response.metrics.count == 2)
            let second = server.recordedRequests[1]
            #expect(second.method == testCase.becomes)
            let keepsBody = hasBody && testCase.becomes != .get
            #expect(second.bodyText == (keepsBody ? "body" : ""))
            #expect(second.headerFields[.contentType] == (keepsBody ? "text/x" : nil))
            #expect(second.headerFields[.contentLanguage] == (keepsBody ? "en" : nil))
            #expect(second.headerFields[.accept] == (hasBody ? "a/b" : nil))
            #expect(server.acceptedConnections == 1)
        }
    }

    @Test(arguments: Surface.allCases)
    func everySurfaceFollows(surface: Surface) async throws {
        try await withMockClient {
            $0.on("/a", .redirect(to: "b"))
            $0.on("/b", .redirect(to: "?x=1", status: .permanentRedirect))
            $0.on("/c", .json("1"))
            $0.on("/b/", .json("1"))
        } perform: { client, server in
            let error = await surface.send("a", with: client).error
            // "/b?x=1" is "/b" again, for ever.
            #expect(error?.code == .tooManyRedirects)
            #expect(error?.redirects.count == 20)
            #expect(error?.metrics.count == 21)
            #expect(error?.head?.status == .permanentRedirect)
            #expect(server.recordedRequests.count == 21)
        }
    }

    @Test func downloadsAndStreamsFollow() async throws {
        try await withMockClient {
            $0.on("/a", .redirect(to: "/b"))
            $0.on("/b", .text("bytes"))
        } perform: { client, server in
            let request = SessionRequest(url: try server.url("/a"))
            let streamed = try await client.call(request).bytes()
            #expect(try await streamed.body.collect(upTo: 10) == Data("bytes".utf8))
            #expect(streamed.redirects.count == 1)
            #expect(streamed.metrics.count == 2)
            let file = FileManager.default.temporaryDirectory.appending(path: "linnet-redirect-\(server.port)")
            defer { try? FileManager.default.removeItem(at: file) }
            let saved = try await client.call(request).download(to: file)
            #expect(try Data(contentsOf: saved.value) == Data("bytes".utf8))
            #expect(saved.redirects.map(\.target.path) == ["/b"])
        }
    }

    @Test(arguments: [
        ("/x/y", "z", "/x/z"), ("/x/y", "../z?q=1", "/z?q=1"), ("/x/y", "  /z  ", "/z"),
        ("/x/y", "/ä b", "/%C3%A4%20b"),
        ("/x/y", "?k=v", "/x/y?k=v"), ("/x/y", "/a?x[]=1&y=%20", "/a?x%5B%5D=1&y=%20"),
        ("/x/y", "/100%?q=%zz", "/100%25?q=%25zz"),
    ])
    func locationsAreResolved(path: String, location: String, expected: String) async throws {
        let transport = StubTransport { request in
            request.index == 0 ? .status(302, headerFields: [.location: location]) : .json("1")
        }
        let session = try HTTPSession(transport: transport)
        _ = try await session.call(makeRequest(String(path.dropFirst()))).response()
        #expect(transport.requests[1].head.path == expected)
    }

    @Test func theFragmentIsInherited() async throws {
        let transport = StubTransport { request in
            switch request.index {
            case 0: .status(302, headerFields: [.location: "/b"])
            case 1: .status(302, headerFields: [.location: "/c#own"])
            default: .json("1")
            }
        }
        let response = try await HTTPSession(transport: transport).call(makeRequest("a#part")).response()
        #expect(response.redirects.map(\.target.fragment) == ["part", "own"])
        #expect(response.url.fragment == "own")
    }

    @Test(arguments: [
        "ftp://example.com/", "file:///etc/passwd", "javascript:alert(1)", "http:///x", "https://", "http:g",
    ])
    func otherSchemesAreRefused(location: String) async throws {
        let transport = StubTransport { _ in .status(302, headerFields: [.location: location]) }
        let error = await #expect(throws: SessionError.self) {
            try await HTTPSession(transport: transport).call(makeRequest()).response()
        }
        #expect(error?.code == .redirectRefused)
        #expect(error?.head?.status == .found)
        #expect(transport.requests.count == 1)
    }

    /// Other readers of these URLs see another host than the one behind the last at sign.
    @Test(arguments: [
        "http://good.example\\@evil.example/", "http://good.example%5C@x@evil.example/",
        "//good.example@ada@evil.example/b",
        "http://ada:pass@word@evil.example/",
    ])
    func userInformationThatLooksLikeAHostIsRefused(location: String) async throws {
        let transport = StubTransport { _ in .status(302, headerFields: [.location: location]) }
        let error = await #expect(throws: SessionError.self) {
            try await HTTPSession(transport: transport).call(makeRequest()).response()
        }
        #expect(error?.code == .redirectRefused)
        #expect(transport.requests.count == 1)
    }

    @Test func httpsDoesNotLeadToHTTP() async throws {
        let transport = StubTransport { _ in .status(302, headerFields: [.location: "http://example.com/"]) }
        let url = try #require(URL(string: "https://example.com/"))
        let error = await #expect(throws: SessionError.self) {
            try await HTTPSession(transport: transport).call(SessionRequest(url: url)).response()
        }
        #expect(error?.code == .redirectRefused)
        #expect(transport.requests.count == 1)
    }

    @Test func twoLocationsAreRefusedAndNoneIsTheResponse() async throws {
        var fields: HTTPFields = [.location: "/a"]
        fields.append(HTTPField(name: .location, value: "/b"))
        let two = fields
        let transport = StubTransport { request in .status(302, headerFields: request.index == 0 ? two : [:]) }
        let session = try HTTPSession(transport: transport)
        let first = await #expect(throws: SessionError.self) { try await session.call(makeRequest()).response() }
        #expect(first?.code == .redirectRefused)
        let second = await #expect(throws: SessionError.self) { try await session.call(makeRequest()).response() }
        #expect(second?.code == .unacceptableStatus)
        #expect(second?.head?.status == .found)
    }

    @Test func theLimitCountsRedirects() async throws {
        let transport = StubTransport { request in
            request.index < 3 ? .status(302, headerFields: [.location: "/\(request.index)"]) : .json("1")
        }
        let session = try HTTPSession(
            configuration: configuration { $0.redirectPolicy = .follow(limit: 3) }, transport: transport)
        #expect(try await session.call(makeRequest()).response().redirects.count == 3)
        let strict = StubTransport { _ in .status(302, headerFields: [.location: "/again"]) }
        let two = try HTTPSession(
            configuration: configuration { $0.redirectPolicy = .follow(limit: 2) }, transport: strict)
        let error = await #expect(throws: SessionError.self) { try await two.call(makeRequest()).response() }
        #expect(error?.code == .tooManyRedirects)
        #expect(strict.requests.count == 3)
    }

    @Test func noRedirectIsFollowedIfThePolicyForbidsIt() async throws {
        let transport = StubTransport { _ in .status(302, headerFields: [.location: "/a"]) }
        let session = try HTTPSession(
            configuration: configuration { $0.redirectPolicy = .doNotFollow }, transport: transport)
        let error = await #expect(throws: SessionError.self) { try await session.call(makeRequest()).response() }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.head?.headerFields[.location] == "/a")
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [
        ("/a", true), ("http://example.com:80/a", true), ("http://example.com:81/a", false),
        ("https://example.com/a", false), ("http://sub.example.com/a", false),
    ])
    func aPolicyMayStayAtTheOrigin(location: String, isFollowed: Bool) async throws {
        let transport = StubTransport { request in
            request.index == 0 ? .status(302, headerFields: [.location: location]) : .json("1")
        }
        let session = try HTTPSession(
            configuration: configuration { $0.redirectPolicy = .sameOrigin() }, transport: transport)
        let result = await Result { () async throws(SessionError) in
            try await session.call(SessionRequest(url: URL(filePath: "/")).with("http://example.com/")).response()
        }
        #expect(result.error?.code == (isFollowed ? nil : .redirectRefused))
        #expect(transport.requests.count == (isFollowed ? 2 : 1))
    }

    @Test func aBodyThatCannotBeSentAgainIsATypedError() async throws {
        let transport = StubTransport { _ in .status(307, headerFields: [.location: "/b"]) }
        let body = HTTPRequestBody.stream(
            length: nil, isReplayable: false, replayObstacle: "the part \"log\" is a stream"
        ) {
            OnceReader()
        }
        let error = await #expect(throws: SessionError.self) {
            try await HTTPSession(transport: transport).call(makeRequest("a", method: .post, body: body)).response()
        }
        #expect(error?.code == .requestBodyFailed)
        #expect(error?.message.contains("\"log\"") == true)
        #expect(error?.head?.status == .temporaryRedirect)
        #expect(transport.requests.count == 1)
    }

    @Test func aStreamThatIsNotNeededAgainDoesNotMatter() async throws {
        let transport = StubTransport { request in
            request.index == 0 ? .status(303, headerFields: [.location: "/b"]) : .json("1")
        }
        let body = HTTPRequestBody.stream(length: nil, isReplayable: false) { OnceReader() }
        _ = try await HTTPSession(transport: transport).call(makeRequest("a", method: .post, body: body)).response()
        #expect(transport.requests.map(\.body) == [Data("once".utf8), Data()])
    }

    @Test(arguments: Version.allCases)
    func aLargeBodyOfARedirectIsNotReadToItsEnd(version: Version) async throws {
        var large = MockResponse.redirect(to: "/b")
        large.body = .bytes(Data(repeating: 0x61, count: 8 * 1024 * 1024))
        let response = large
        try await withMockClient(version) {
            $0.on("/a", response)
            $0.on("/b", .text("here"))
        } perform: { client, server in
            let response = try await client.call(SessionRequest(url: try server.url("/a"))).response()
            #expect(response.value == Data("here".utf8))
            #expect(response.metrics[0].responseBodyBytes < 4 * 1024 * 1024)
        }
    }

    @Test func aSmallBodyOfARedirectKeepsTheConnection() async throws {
        var small = MockResponse.redirect(to: "/b")
        small.body = .bytes(Data(repeating: 0x61, count: 20_000))
        small.throttle = .init(bytes: 4_000, pause: .milliseconds(1))
        let response = small
        try await withMockClient {
            $0.on("/a", response)
            $0.on("/b", .text("here"))
        } perform: { client, server in
            _ = try await client.call(SessionRequest(url: try server.url("/a"))).response()
            #expect(server.acceptedConnections == 1)
        }
    }
}

private func configuration(_ configure: (inout HTTPSession.Configuration) -> Void) -> HTTPSession.Configuration {
    var configuration = HTTPSession.Configuration()
    configure(&configuration)
    return configuration
}

extension SessionRequest {
    fileprivate func with(_ text: String) -> SessionRequest {
        var request = self
        if let url = URL(string: text) { request.url = url }
        return request
    }
}

/// Gives one chunk.
struct OnceReader: HTTPRequestBodyReader {
    private var chunk: Data? = Data("once".utf8)

    mutating func next() async throws -> Data? {
        defer { chunk = nil }
        return chunk
    }
}
