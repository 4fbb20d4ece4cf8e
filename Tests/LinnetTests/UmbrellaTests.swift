import FoundationEssentials
import Linnet
import LinnetTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct UmbrellaTests {
    @Test func oneImportIsEnoughForARequest() async throws {
        let client = try HTTPSession(
            baseURL: URL(string: "http://example.com/api"),
            transport: StubTransport { _ in
                .json(#"{"name":"Ada"}"#)
            })
        var options = RequestOptions()
        options.timeout = .seconds(5)
        let response = try await client.get("people/1", ["full": true]).headers([.accept: "application/json"]).options(
            options
        ).response(JSONResponseSerializer())
        #expect(response.value?["name"]?.string == "Ada")
        #expect(response.status == .ok)
        #expect(response.metrics.first?.isPinned == false)
        await client.shutdown(.immediate)
    }

    @Test func oneImportIsEnoughToConfigure() throws {
        let configuration = HTTPSession.Configuration.self
        var settings = configuration.init()
        settings.timeouts.request = .seconds(10)
        settings.tls.minimumVersion = .tls13
        settings.securityPolicy = .systemTrust
        #expect(settings.timeouts.request == .seconds(10))
    }

    @Test func oneImportIsEnoughForPoliciesAndSettingsInFiles() throws {
        var configuration = HTTPSession.Configuration()
        configuration.timeouts.request = .seconds(10)
        configuration.securityPolicy = try SecurityPolicyFile(SecurityPolicyDocument(otherHosts: .refuse)).makePolicy()
        let copy = try HTTPSession.Settings(json: HTTPSession.Settings(configuration).json()).configuration
        #expect(copy.timeouts.request == .seconds(10))
        #expect(!copy.securityPolicy.allowsCleartext(to: "example.com"))
    }
}
