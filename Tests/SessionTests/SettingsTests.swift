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
    @Test func settingsFromAFileMakeASession() async throws {
        let settings = try HTTPSession.Settings(
            json: Data(
                #"""
                {
                  "identifier": "timeline",
                  "baseURL": "https://example.com/v1",
                  "requestSerializer": { "json": { "options": { "sortsKeys": true } } },
                  "responseSerializer": { "removesNullValues": true },
                  "timeouts": { "request": 1.5, "idleRead": null },
                  "retryPolicy": { "limit": 2 },
                  "eventLoops": { "dedicated": 1 },
                  "headerFields": [{ "name": "User-Agent", "value": "Finch/1" }],
                  "securityPolicy": {
                    "version": 1,
                    "rules": [
                      { "hosts": ["example.com"], "pins": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="] }
                    ]
                  }
                }
                """#.utf8))
        #expect(settings.identifier == "timeline")
        let session = try HTTPSession(settings: settings) { $0.pool.connections = 1 }
        let configuration = session.configuration
        #expect(session.baseURL?.absoluteString == "https://example.com/v1/")
        #expect((configuration.requestSerializer as? JSONRequestSerializer)?.options.sortsKeys == true)
        #expect(configuration.responseSerializer == JSONResponseSerializer(removesNullValues: true))
        #expect(configuration.timeouts.request == .milliseconds(1500))
        #expect(configuration.timeouts.idleRead == nil)
        #expect(configuration.timeouts.connect == TransportTimeouts.default.connect)
        #expect(configuration.retryPolicy == .limited(to: 2))
        #expect(configuration.headerFields == [.userAgent: "Finch/1"])
        #expect(configuration.securityPolicy.isPinning(host: "example.com"))
        #expect(configuration.pool.connections == 1)
        await session.shutdown()
    }

    @Test func aPolicyThatPinsNeedsHTTPS() throws {
        let pin = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        var configuration = HTTPSession.Configuration()
        configuration.securityPolicy = try .publicKeyPins([pin])
        let settings = try HTTPSession.Settings(configuration, baseURL: URL(string: "http://example.com"))
        let error = #expect(throws: SessionError.self) { try HTTPSession(settings: settings) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func aCopyIsASeparateSession() async throws {
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
