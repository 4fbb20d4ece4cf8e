import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct SettingsTests {
    private static func settings() throws -> HTTPSession.Settings {
        var settings = HTTPSession.Settings()
        settings.identifier = "timeline"
        settings.baseURL = URL(string: "https://example.com/v1")
        var serializer = JSONRequestSerializer()
        serializer.headerFields[.accept] = "application/json"
        settings.requestSerializer = .json(serializer)
        settings.responseSerializer.validation = ResponseValidation(statusCodes: 200..<400)
        settings.redirectLimit = 3
        settings.retryLimit = 2
        settings.maximumConnectionsPerOrigin = 4
        settings.securityPolicy = try SecurityPolicyDocument(
            json: Data(
                #"{"version": 1, "rules": [{"hosts": ["example.com"], "pins": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]}]}"#
                    .utf8))
        return settings
    }

    @Test func theySurviveAFile() throws {
        let settings = try Self.settings()
        let read = try JSONDecoder().decode(HTTPSession.Settings.self, from: JSONEncoder().encode(settings))
        #expect(read.identifier == settings.identifier)
        #expect(read.baseURL == settings.baseURL)
        #expect(read.requestSerializer == settings.requestSerializer)
        #expect(read.responseSerializer == settings.responseSerializer)
        #expect(read.securityPolicy == settings.securityPolicy)
        #expect([read.redirectLimit, read.retryLimit, read.maximumConnectionsPerOrigin] == [3, 2, 4])
    }

    @Test func theyMakeAConfiguration() async throws {
        let settings = try Self.settings()
        let configuration = try HTTPSession.Configuration(settings)
        #expect(configuration.requestSerializer is JSONRequestSerializer)
        #expect(configuration.redirectPolicy == .follow(limit: 3))
        #expect(configuration.retryPolicy == .limited(to: 2))
        #expect(configuration.securityPolicy.isPinning(host: "example.com"))
        let client = try HTTPSession(settings: settings) { $0.maximumConnections = 1 }
        #expect(client.baseURL?.absoluteString == "https://example.com/v1/")
        await client.shutdown()
    }

    @Test func aPolicyThatPinsNeedsHTTPS() throws {
        var settings = try Self.settings()
        settings.baseURL = URL(string: "http://example.com")
        let fixed = settings
        #expect(throws: SessionError.self) { try HTTPSession(settings: fixed) }
    }

    @Test func aCopyIsASessionOfItsOwn() async throws {
        try await withMockClient(configure: { $0.headerFields = [.userAgent: "Finch"] }) {
            $0.on("/a", .json("1"))
        } perform: { client, server in
            let copy = try client.copy()
            await client.shutdown()
            let response = try await copy.get("a").response(JSONResponseSerializer())
            #expect(response.value == 1)
            #expect(copy.baseURL == client.baseURL)
            #expect(server.recordedRequests.last?.headerFields[.userAgent] != nil)
            await copy.shutdown()
        }
        #expect(throws: SessionError.self) { try makeClient().copy() }
    }

    @Test func aResponsesValueIsMapped() async throws {
        struct Oops: Error {}
        let response = try await makeClient(StubTransport { _ in .json("41") }).get("a").response(
            JSONResponseSerializer())
        let mapped = response.map { "\(String(describing: $0))" }
        #expect(mapped.value.contains("41"))
        #expect(mapped.head == response.head)
        #expect(mapped.data == response.data)
        #expect(throws: Oops.self) { try response.map { _ throws(Oops) -> Int in throw Oops() } }
    }

    @Test func aVerbTakesHooks() async throws {
        let transport = StubTransport { $0.index == 0 ? .status(302, headerFields: [.location: "/b"]) : .json("1") }
        var hooks = TaskHooks()
        hooks.willRedirect = { _, _, request in
            var request = request
            request.headerFields[.accept] = "hooked"
            return .follow(request)
        }
        let client = try makeClient(transport)
        let response = try await client.call(.get, "a").hooks(hooks).response(JSONResponseSerializer())
        #expect(response.value == 1)
        #expect(transport.requests[1].head.headerFields[.accept] == "hooked")
    }
}
