#if Configuration
import Configuration
import FoundationEssentials
import LinnetJSON
import LinnetSession
import LinnetSettings
import LinnetTransport
import Testing

@testable import LinnetConfiguration

@Suite("Settings from a configuration")
struct ConfigurationTests {
    private func settings(_ variables: [String: String]) throws(SessionError) -> HTTPSession.Settings {
        let provider = EnvironmentVariablesProvider(environmentVariables: variables)
        return try HTTPSession.Settings(reading: ConfigReader(provider: provider).scoped(to: "http"))
    }

    @Test func theEnvironmentIsRead() throws {
        let settings = try settings([
            "HTTP_BASE_URL": "https://api.example/v1/", "HTTP_TIMEOUTS_REQUEST": "30.5",
            "HTTP_TIMEOUTS_IDLE_READ": "none", "HTTP_POOL_CONNECTIONS_PER_ORIGIN": "4",
            "HTTP_RETRY_POLICY_LIMIT": "2", "HTTP_RETRY_POLICY_STATUS_CODES": "502,503",
            "HTTP_WAITS_FOR_CONNECTIVITY": "true", "HTTP_TLS_MINIMUM_VERSION": "1.3",
            "HTTP_PROXIES_HTTPS": "http://proxy.example:8080", "HTTP_PROXIES_EXCEPT": "a.example,b.example",
            "HTTP_EVENT_LOOPS_DEDICATED": "2", "OTHER_TIMEOUTS_CONNECT": "1",
        ])
        let configuration = settings.configuration
        #expect(settings.baseURL?.absoluteString == "https://api.example/v1/")
        #expect(configuration.timeouts.request == .milliseconds(30_500))
        #expect(configuration.timeouts.idleRead == nil)
        #expect(configuration.timeouts.connect == .seconds(10))
        #expect(configuration.pool.connectionsPerOrigin == 4)
        #expect(configuration.retryPolicy.limit == 2)
        #expect(configuration.retryPolicy.statusCodes == [502, 503])
        #expect(configuration.waitsForConnectivity)
        #expect(configuration.tls.minimumVersion == .tls13)
        if case .dedicated(let threads) = configuration.eventLoops { #expect(threads == 2) } else { Issue.record() }
    }

    @Test func anEmptyConfigurationHasTheDefaults() throws {
        let (read, usual) = (try settings([:]), try HTTPSession.Settings())
        #expect(try read.json() == usual.json())
    }

    @Test(arguments: [
        ["HTTP_TIMEOUTS_REQUEST": "soon"], ["HTTP_POOL_CONNECTIONS": "1.5"], ["HTTP_WAITS_FOR_CONNECTIVITY": "maybe"],
        ["HTTP_TLS_MINIMUM_VERSION": "1.1"], ["HTTP_HTTP_VERSIONS": "3"], ["HTTP_EVENT_LOOPS_DEDICATED": "0"],
        ["HTTP_SECURITY_POLICY": "/nonexistent/policy.json"], ["HTTP_RETRY_POLICY_STATUS_CODES": "a,b"],
        ["HTTP_PROXIES": "environment", "HTTP_PROXIES_HTTP": "http://proxy.example"],
        ["HTTP_TIMEOUTS_REQUEST": "1e999"], ["HTTP_RETRY_POLICY_BACKOFF_FACTOR": "nan"],
    ])
    func aBadValueIsAnError(variables: [String: String]) {
        do {
            _ = try settings(variables)
            Issue.record("\(variables) was accepted.")
        } catch {
            #expect(error.code == .invalidConfiguration)
            #expect(error.message.count > 10)
        }
    }

    @Test func aPolicyFileIsRead() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "policy-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(#"{"version": 1, "rules": [{"hosts": ["a.example"], "pins": ["sha256/\#(pin)"]}]}"#.utf8)
            .write(to: file)
        let read = try settings(["HTTP_SECURITY_POLICY": file.path])
        #expect(try String(decoding: read.json(), as: UTF8.self).contains("a.example"))
    }

    private let pin = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    /// The settings' JSON accepts each key: none is misspelt.
    @Test(arguments: SessionSetting.all.map(\.path))
    func eachKeyIsOneOfTheSettings(path: [String]) {
        let key = path.joined(separator: ".")
        // A value of no kind: the message is about the value, and not about an unknown key.
        var value: JSONValue = ["\u{1}": 0]
        for name in path.reversed() { value = .object([name: value]) }
        do {
            _ = try HTTPSession.Settings(json: value.data())
            Issue.record("\(key) was accepted.")
        } catch {
            #expect(!error.message.contains("\"\(path.last ?? "")\" is not"), "\(key): \(error.message)")
            #expect(!error.message.lowercased().contains("unknown key \(path.last ?? "")"), "\(error.message)")
        }
    }
}
#endif
