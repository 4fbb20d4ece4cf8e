import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct RedirectCredentialTests {
    private static let secrets: HTTPFields = [
        .authorization: "Bearer secret", .cookie: "a=b", .proxyAuthorization: "Basic cHJveHk=", .accept: "x/y",
    ]

    @Test(arguments: [
        ("/b", true), ("http://example.com/b", true), ("http://EXAMPLE.com:80/b", true),
        ("http://example.com:8080/b", false), ("https://example.com/b", false), ("http://www.example.com/b", false),
        ("http://example.com@evil.example/b", false), ("//evil.example/b", false),
    ])
    func credentialsStayAtTheirOrigin(location: String, keeps: Bool) async throws {
        let transport = StubTransport { request in
            request.index == 0 ? .status(302, headerFields: [.location: location]) : .json("1")
        }
        var request = try makeRequest("a")
        request.headerFields = Self.secrets
        let names = [
            "api-key", "X-API-Key", "X-Auth-Token", "x-csrf-token", "Private-Token", "X-Amz-Security-Token",
            "x-vault-token",
            "X-Goog-Api-Key", "Ocp-Apim-Subscription-Key", "X-House-Key",
        ]
        let tokens = try names.map {
            try #require(HTTPField.Name($0))
        }
        for name in tokens { request.headerFields[name] = "secret" }
        // A program's own secret.
        var configuration = HTTPSession.Configuration()
        configuration.redaction.fieldNames = [try #require(HTTPField.Name("x-house-key"))]
        let session = try HTTPSession(configuration: configuration, transport: transport)
        _ = try await session.call(request).response()
        let fields = transport.requests[1].head.headerFields
        for name in tokens { #expect(fields[name] == (keeps ? "secret" : nil)) }
        #expect(fields[.authorization] == (keeps ? "Bearer secret" : nil))
        #expect(fields[.cookie] == (keeps ? "a=b" : nil))
        #expect(fields[.proxyAuthorization] == nil)
        #expect(fields[.accept] == "x/y")
    }

    @Test func credentialsDoNotReturnAfterADetourOverAnotherOrigin() async throws {
        let transport = StubTransport { request in
            switch request.index {
            case 0: .status(302, headerFields: [.location: "http://other.example/b"])
            case 1: .status(302, headerFields: [.location: "http://example.com/c"])
            default: .json("1")
            }
        }
        var request = try makeRequest("a")
        request.headerFields = Self.secrets
        _ = try await HTTPSession(transport: transport).call(request).response()
        #expect(transport.requests.map { $0.head.headerFields[.authorization] } == ["Bearer secret", nil, nil])
    }

    @Test(arguments: [
        ("/b", "Basic dTpw"), ("http://example.com/b", "Basic dTpw"), ("http://other.example/b", nil),
        ("http://x:y@example.com/b", "Basic dTpw"), ("http://x:y@other.example/b", nil),
        ("//x:y@example.com/b", "Basic dTpw"), ("//x:y@other.example/b", nil),
    ])
    func userInformationIsTheCallersAlone(location: String, expected: String?) async throws {
        let transport = StubTransport { request in
            request.index == 0 ? .status(302, headerFields: [.location: location]) : .json("1")
        }
        let url = try #require(URL(string: "http://u:p@example.com/a"))
        let response = try await HTTPSession(transport: transport).call(SessionRequest(url: url)).response()
        #expect(transport.requests.map { $0.head.headerFields[.authorization] } == ["Basic dTpw", expected])
        #expect(response.redirects.map { "\($0.url)\($0.target)".contains("@") } == [false])
    }

    @Test func aHookThatLeadsElsewhereTakesNoCredentialsAlong() async throws {
        let transport = StubTransport { request in
            request.index == 0 ? .status(302, headerFields: [.location: "/b"]) : .json("1")
        }
        var hooks = TaskHooks()
        hooks.willRedirect = { _, _, request in
            var request = request
            request.url = try #require(URL(string: "http://other.example/b"))
            return .follow(request)
        }
        var request = try makeRequest("a")
        request.headerFields = Self.secrets
        _ = try await HTTPSession(transport: transport).call(request).hooks(hooks).response()
        #expect(transport.requests[1].head.authority == "other.example")
        #expect(transport.requests[1].head.headerFields[.authorization] == nil)
    }

    /// The user name and the password of a URL belong to its origin, also if a hook changes only the host.
    @Test func aHookThatChangesTheHostTakesNoUserInformationAlong() async throws {
        let transport = StubTransport { request in
            request.index == 0 ? .status(302, headerFields: [.location: "/b"]) : .json("1")
        }
        var hooks = TaskHooks()
        hooks.willRedirect = { _, _, request in
            var request = request
            var components = try #require(URLComponents(url: request.url, resolvingAgainstBaseURL: false))
            #expect(components.user == "u")
            components.host = "other.example"
            request.url = try #require(components.url)
            return .follow(request)
        }
        let request = SessionRequest(url: try #require(URL(string: "http://u:p@example.com/a")))
        _ = try await HTTPSession(transport: transport).call(request).hooks(hooks).response()
        #expect(transport.requests[0].head.headerFields[.authorization] != nil)
        #expect(transport.requests[1].head.authority == "other.example")
        #expect(transport.requests[1].head.headerFields[.authorization] == nil)
    }

    @Test func theHostThatARedirectLeadsToIsJudgedByItsOwnRule() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity()
        let stranger = try TestPKI.selfSigned()
        try await withMockServer(.text("pinned away"), tls: identity) { other in
            let location = try other.url("/b").absoluteString
            var configuration = MockServer.Configuration()
            configuration.hostName = "localhost"
            try await withMockServer(.redirect(to: location), tls: identity, configuration: configuration) { server in
                let anchors = try TrustAnchors.certificates([pki.root])
                let pins = try StandardTrustEvaluator.pins([stranger.pin], anchors: anchors)
                let session = try HTTPSession {
                    $0.securityPolicy = try SecurityPolicy(
                        rules: [HostRule("127.0.0.1", pins)], otherHosts: .systemTrust(anchors: anchors))
                }
                let error = await #expect(throws: SessionError.self) {
                    try await session.call(SessionRequest(url: server.url("/a"))).response()
                }
                await session.shutdown()
                #expect(error?.code == .trustRefused)
                #expect(error?.trustRefusal?.host == "127.0.0.1")
                #expect(error?.redirects.count == 1)
                #expect(other.recordedRequests.isEmpty)
            }
        }
    }
}
