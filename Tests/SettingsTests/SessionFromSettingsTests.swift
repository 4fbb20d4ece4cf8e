import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetSerialization
import LinnetSession
import LinnetSettings
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct SessionFromSettingsTests {
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
}
