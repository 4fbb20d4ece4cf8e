import FoundationEssentials
import HTTPTypes
import LinnetMultipart
import LinnetSecurity
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTPSessionTests {
    @Test func theAsyncVerbsSendTheirMethods() async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport)
        #expect(try await client.get("x").json() == 1)
        #expect(try await client.post("x", ["a": 1]).json() == 1)
        #expect(try await client.put("x").json() == 1)
        #expect(try await client.patch("x").json() == 1)
        #expect(try await client.delete("x").json() == 1)
        #expect(try await client.get("x").value(as: Int.self) == 1)
        #expect(try await client.get("x").response(StringResponseSerializer()).value == "1")
        _ = try await client.head("x").response()
        #expect(transport.requests.map(\.head.method) == [.get, .post, .put, .patch, .delete, .get, .get, .head])
        #expect(transport.requests[1].body == Data("a=1".utf8))
        #expect(transport.requests[1].head.headerFields[.contentType] == "application/x-www-form-urlencoded")
    }

    /// The session's own credentials are for the base URL's origin.
    @Test(arguments: [
        ("x", true), ("/other", true), ("http://127.0.0.1/api/x", true), ("HTTP://127.0.0.1:80/x", true),
        ("http://127.0.0.1:81/api/x", false), ("https://127.0.0.1/api/x", false), ("//example.com/api/x", false),
        ("http://127.0.0.1.example.com/api/", false), ("http://127.0.0.1@example.com/", false),
    ])
    func credentialsStayAtTheBaseURL(path: String, areSent: Bool) throws {
        var configuration = HTTPSession.Configuration()
        var serializer = FormRequestSerializer()
        try serializer.setBearerAuthorization(token: "secret")
        serializer.headerFields[.accept] = "text/plain"
        configuration.requestSerializer = serializer
        let client = try HTTPSession(
            baseURL: URL(string: "http://127.0.0.1/api"), configuration: configuration,
            transport: StubTransport { _ in .json("1") })
        let fields = try client.call(.get, path).request().headerFields
        #expect((fields[.authorization] == "Bearer secret") == areSent)
        #expect(fields[values: .authorization].count == (areSent ? 1 : 0))
        #expect(fields[.accept] == "text/plain")
        let own = try client.call(.get, path).headers([.authorization: "Bearer own"]).request().headerFields
        #expect(own[values: .authorization] == ["Bearer own"])
        let given = try client.call(.get, path).requestSerializer(serializer).request().headerFields
        #expect(given[.authorization] == "Bearer secret")
        var parts = MultipartForm()
        parts.append(Data("1".utf8), name: "a")
        let form = try client.call(.post, path).body(form: parts).request().headerFields
        #expect(form[values: .authorization].count == (areSent ? 1 : 0))
    }

    @Test func parametersGoIntoTheQuery() async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport)
        _ = try await client.get("x", ["q": "a b"]).response(JSONResponseSerializer())
        #expect(transport.requests.first?.head.path == "/api/x?q=a%20b")
    }

    @Test func ownHeadersReplaceEvenTheContentType() async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport) { $0.requestSerializer = JSONRequestSerializer() }
        _ = try await client.post("x", ["a": 1]).headers([.contentType: "application/vnd.x+json"]).response(
            JSONResponseSerializer())
        let request = try #require(transport.requests.first)
        #expect(request.head.headerFields[values: .contentType] == ["application/vnd.x+json"])
        #expect(request.body == Data(#"{"a":1}"#.utf8))
    }

    @Test func aRequestMayHaveASerializerOfItsOwn() async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport)
        _ = try await client.call(.post, "x", ["a": 1]).requestSerializer(JSONRequestSerializer()).response()
        #expect(transport.requests.first?.body == Data(#"{"a":1}"#.utf8))
    }

    @Test func multipartFormsAreStreamed() async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport)
        var form = MultipartForm()
        form.append(Data("Ada".utf8), name: "author")
        _ = try await client.post("x").body(form: form).response(JSONResponseSerializer())
        var other = MultipartForm()
        try other.append(["year": 1843])
        other.append(Data("Ada".utf8), name: "author")
        _ = try await client.call(.put, "x").body(form: other).response()
        let (first, second) = (transport.requests[0], transport.requests[1])
        #expect(first.head.headerFields[.contentType] == form.contentType)
        #expect(first.head.headerFields[.userAgent] != nil)
        #expect(first.body.count == form.contentLength.map(Int.init))
        #expect(second.head.method == .put)
        let text = String(decoding: second.body, as: UTF8.self)
        let year = try #require(text.firstRange(of: "1843"))
        let author = try #require(text.firstRange(of: "Ada"))
        #expect(year.lowerBound < author.lowerBound)
    }

    @Test func anEmptyFormCannotBeSent() async throws {
        let client = try makeClient()
        let empty = await #expect(throws: SessionError.self) {
            try await client.post("x").body(form: MultipartForm()).response(JSONResponseSerializer())
        }
        #expect(empty?.code == .encodingFailed)
    }

    @Test func sessionsCanShareConnections() async throws {
        let transport = StubTransport { _ in .json("1") }
        let one = try makeClient(base: "http://one.example", transport)
        let two = try HTTPSession(baseURL: URL(string: "http://two.example"), sharing: one)
        _ = try await one.get("x").response(JSONResponseSerializer())
        _ = try await two.get("x").response(JSONResponseSerializer())
        #expect(transport.requests.map(\.head.authority) == ["one.example", "two.example"])
    }

    @Test func pinningNeedsABaseURLWithHTTPS() throws {
        let pin = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        let policy = try SecurityPolicy.publicKeyPins([pin])
        let error = #expect(throws: SessionError.self) {
            try makeClient(base: "http://example.com") { $0.securityPolicy = policy }
        }
        #expect(error?.code == .invalidConfiguration)
        let secure = try makeClient(base: "https://example.com") { $0.securityPolicy = policy }
        #expect(secure.securityPolicy.identity == policy.identity)
        let client = try makeClient(base: "http://example.com")
        #expect(throws: SessionError.self) { try client.replaceSecurityPolicy(policy) }
    }

    @Test func withoutABaseURLAPolicyThatPinsRefusesClearText() async throws {
        let policy = try SecurityPolicy.publicKeyPins([
            PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        ])
        let session = try HTTPSession { $0.securityPolicy = policy }
        let error = await #expect(throws: SessionError.self) {
            try await session.get("http://127.0.0.1:9/").response()
        }
        #expect(error?.code == .trustRefused)
        await session.shutdown()
    }

    @Test func aTransportGetsThePolicyAndTheIdentities() async throws {
        let policy = SecurityPolicy.everyHost(.systemTrust)
        let stub = StubTransport()
        let client = try makeClient(base: "https://example.com", stub) { $0.securityPolicy = policy }
        #expect(stub.securityPolicy?.identity == policy.identity)
        #expect(stub.clientIdentities == nil)
        try client.replaceSecurityPolicy(.systemTrust)
        #expect(stub.securityPolicy?.identity == SecurityPolicy.systemTrust.identity)
        let choosing = StubTransport()
        _ = try makeClient(base: "https://example.com", choosing) {
            $0.clientIdentities = ClientIdentityPolicy.none.asking { _, proposed in proposed }
        }
        #expect(choosing.clientIdentities != nil)
        // The default leaves the transport its own.
        let other = StubTransport()
        _ = try makeClient(base: "https://example.com", other)
        #expect(other.securityPolicy == nil)
    }

    /// A policy without enforcement would be worse than none.
    @Test func aTransportThatCannotApplyThePolicyIsRefused() throws {
        let policy = SecurityPolicy.everyHost(.systemTrust)
        var configuration = HTTPSession.Configuration()
        configuration.securityPolicy = policy
        let given = configuration
        let error = #expect(throws: SessionError.self) {
            try HTTPSession(configuration: given, transport: WithoutPolicies())
        }
        #expect(error?.code == .invalidConfiguration)
        let client = try HTTPSession(transport: WithoutPolicies())
        let later = #expect(throws: SessionError.self) { try client.replaceSecurityPolicy(policy) }
        #expect(later?.code == .invalidConfiguration)
        let hooked = #expect(throws: SessionError.self) {
            try makeClient { $0.sessionHooks.didReceiveServerTrust = { _, decision in decision } }
        }
        #expect(hooked?.code == .invalidConfiguration)
    }

    @Test func aPolicyThatASharedSessionDoesNotHaveIsRefused() throws {
        let policy = SecurityPolicy.everyHost(.systemTrust)
        var configuration = HTTPSession.Configuration()
        configuration.securityPolicy = policy
        let given = configuration
        let one = try makeClient(base: "https://one.example")
        let error = #expect(throws: SessionError.self) { try HTTPSession(configuration: given, sharing: one) }
        #expect(error?.code == .invalidConfiguration)
        let two = try HTTPSession(configuration: given, transport: StubTransport())
        #expect(try HTTPSession(configuration: given, sharing: two).securityPolicy.identity == policy.identity)
        #expect(try HTTPSession(sharing: two).securityPolicy.identity == policy.identity)
        let replacement = SecurityPolicy.everyHost(.systemTrust)
        try two.replaceSecurityPolicy(replacement)
        let three = try HTTPSession(configuration: two.configuration, sharing: two)
        #expect(three.securityPolicy.identity == replacement.identity)
        #expect(throws: SessionError.self) { try HTTPSession(configuration: given, sharing: two) }
    }
}

/// A transport of a user's that knows nothing of TLS.
private struct WithoutPolicies: Transport {
    func send(
        _ request: TransportRequest, observer: (any TransportObserver)?
    ) async throws(TransportError) -> TransportResponse {
        throw TransportError(.connectionFailed, "There is no connection.")
    }

    func shutdown(_ mode: ShutdownMode) async {}
}
