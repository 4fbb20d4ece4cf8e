import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetReachability
import LinnetSecurity
import LinnetSerialization
import LinnetSession
import LinnetSettings
import LinnetTesting
import LinnetTransport
import Testing

/// The settings of a session as JSON: stored values, omitted values, and errors.
@Suite("Settings as JSON", .timeLimit(.minutes(1)))
struct SettingsCodingTests {
    /// The properties of a configuration that are left out; the documentation of `HTTPSession.Settings` names each
    /// that is public.
    private static let leftOut: Set<String> = [
        "cacheStore", "cacheTime", "callbackExecutor", "circuitBreaker", "clientIdentities", "clock",
        "concurrencyLimiter", "requestGroup", "authenticator", "contentCodings", "cookieJar", "cookieSaver",
        "credentialStore", "decoder", "encoder",
        "givenNetwork", "hooks",
        "hstsStore", "instruments",
        "interceptors", "logger", "reachabilityMonitor", "redaction", "requestAdapters", "requestSigner", "retriers",
        "sessionHooks",
    ]

    /// A configuration without default values in its stored properties.
    private static func changed() throws -> HTTPSession.Configuration {
        var changed = HTTPSession.Configuration()
        changed.securityPolicy = try policy()
        changed.tls.minimumVersion = .tls13
        changed.timeouts.request = .milliseconds(1500)
        changed.httpVersions = .http1
        changed.proxies = .fixed(
            http: try Proxy("http://proxy.example:8080"), https: try Proxy("socks5h://192.0.2.1"), except: ["a.example"]
        )
        changed.isCacheShared = true
        changed.collapsesEqualRequests = true
        changed.waitsForConnectivity = true
        changed.continuePolicy = .bodies(ofAtLeast: 1_048_576)
        changed.connectivityTimeout = .seconds(3)
        changed.http2.initialWindowSize = 70_000
        changed.resolution.hostOverrides = ["a.example": ["192.0.2.1"]]
        changed.pool.maximumAge = .seconds(60)
        changed.pool.connectionsPerOrigin = 3
        changed.pool.connections = 4
        changed.pool.idleTimeout = .nanoseconds(5)
        changed.maximumBodySize = 6
        changed.responseLimits.headFields = 7
        changed.decodingLimits.maximumRatio = nil
        changed.decodingLimits.maximumSize = 20
        changed.decodingLimits.maximumCodings = 2
        changed.continueTimeout = .seconds(8)
        changed.eventLoops = .dedicated(threads: 2)
        changed.headerFields = [.userAgent: "Finch/1"]
        changed.redirectPolicy = .sameOrigin(limit: 9)
        changed.retryPolicy = .limited(to: 10)
        changed.retryBudget = RetryBudget(share: 0.25, minimumPerSecond: 0)
        changed.hedging = HedgingPolicy(after: .milliseconds(250), maximumAttempts: 3)
        changed.progressInterval = .seconds(11)
        var serializer = JSONRequestSerializer(options: JSONValue.WritingOptions(sortsKeys: true))
        serializer.requestOptions.timeout = .seconds(12)
        changed.requestSerializer = serializer
        changed.responseSerializer.removesNullValues = true
        return changed
    }

    private static func policy() throws -> SecurityPolicy {
        let pin = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        return try SecurityPolicy(rules: [HostRule("example.com", .pins([pin]))], otherHosts: .refuse)
    }

    private func properties(_ configuration: HTTPSession.Configuration) -> [String: Any] {
        let pairs = Mirror(reflecting: configuration).children.map { child -> (String, Any) in
            // Its storage has another name, so that it is shown redacted.
            child.label == "hidden" ? ("headerFields", configuration.headerFields) : (child.label ?? "", child.value)
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    private func keys(_ settings: HTTPSession.Settings) throws -> Set<String> {
        try Set(JSONValue(parsing: settings.json()).object?.keys ?? [])
    }

    private func settings(_ json: String) throws(SessionError) -> HTTPSession.Settings {
        try HTTPSession.Settings(json: Data(json.utf8))
    }

    // MARK: Stored values

    @Test func eachPropertyIsStoredOrListedAsOmitted() throws {
        let settings = try HTTPSession.Settings(Self.changed())
        let names = Set(properties(settings.configuration).keys)
        #expect(Self.leftOut.isSubset(of: names))
        #expect(try keys(settings) == names.subtracting(Self.leftOut))
    }

    @Test func eachStoredPropertySurvives() throws {
        let changed = try Self.changed()
        let copy = try HTTPSession.Settings(json: HTTPSession.Settings(changed).json()).configuration
        let (before, after) = (properties(changed), properties(copy))
        let defaults = properties(HTTPSession.Configuration())
        // Policies have an identity of their own.
        for name in Set(before.keys).subtracting(Self.leftOut).subtracting(["securityPolicy"]) {
            let all = unchangedSettings(in: before[name] as Any, from: before[name] as Any)
            #expect(unchangedSettings(in: after[name] as Any, from: before[name] as Any) == all, "\(name)")
            #expect(unchangedSettings(in: before[name] as Any, from: defaults[name] as Any) != all, "\(name)")
        }
        let documents = try [changed, copy].map { try SecurityPolicyDocument($0.securityPolicy) }
        #expect(documents[0] == documents[1])
        #expect(try documents[0] != SecurityPolicyDocument(.systemTrust))
    }

    @Test func defaultValuesAreOmitted() throws {
        #expect(try keys(HTTPSession.Settings()) == [])
        #expect(try HTTPSession.Settings().json().count < 8)
        let configuration = try settings("{}").configuration
        #expect(try keys(HTTPSession.Settings(configuration)) == [])
    }

    @Test(arguments: [0, 1, 2])
    func eachRequestSerializerSurvives(index: Int) throws {
        var form = FormRequestSerializer()
        form.queryEncoder.arrayStyle = .repeated
        let serializers: [any RequestSerializer] = [
            form, JSONRequestSerializer(), PropertyListRequestSerializer(format: .binary),
        ]
        var configuration = HTTPSession.Configuration()
        configuration.requestSerializer = serializers[index]
        let copy = try HTTPSession.Settings(configuration).configuration.requestSerializer
        switch copy {
        case let copy as FormRequestSerializer: #expect(copy == form)
        case let copy as JSONRequestSerializer: #expect(copy == serializers[index] as? JSONRequestSerializer)
        default: #expect(copy as? PropertyListRequestSerializer == serializers[2] as? PropertyListRequestSerializer)
        }
    }

    @Test func theSettingsOfASessionAreItsCurrentOnes() async throws {
        let session = try HTTPSession(baseURL: URL(string: "https://example.com/v1")) { $0.httpVersions = .http1 }
        session.setHeader(.userAgent, "Finch/2")
        try session.replaceSecurityPolicy(Self.policy())
        let copy = try HTTPSession(settings: HTTPSession.Settings(session))
        #expect(copy.baseURL == session.baseURL)
        #expect(copy.headerFields == [.userAgent: "Finch/2"])
        #expect(copy.configuration.httpVersions == .http1)
        #expect(copy.securityPolicy.isPinning(host: "example.com"))
        #expect(!copy.securityPolicy.allowsCleartext(to: "other.example"))
        await session.shutdown()
        await copy.shutdown()
    }

    // MARK: Omitted values

    @Test func secretsAreOmitted() throws {
        var configuration = HTTPSession.Configuration()
        let secret = "c2VjcmV0"
        for name in ["Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "X-House-Key"] {
            try configuration.headerFields.set(secret, forName: name)
        }
        configuration.headerFields[.userAgent] = "Finch/1"
        configuration.redaction.fieldNames.insert(try #require(HTTPField.Name("X-House-Key")))
        var serializer = FormRequestSerializer()
        try serializer.setBearerAuthorization(token: secret)
        configuration.requestSerializer = serializer
        configuration.tls.keyLog = .insecureEnvironment
        let url = try #require(URL(string: "https://me:\(secret)@example.com/"))
        let settings = try HTTPSession.Settings(configuration, baseURL: url)
        #expect(settings.configuration.headerFields == [.userAgent: "Finch/1"])
        #expect(settings.configuration.requestSerializer as? FormRequestSerializer == FormRequestSerializer())
        #expect(settings.configuration.tls.keyLog == nil)
        #expect(settings.baseURL?.absoluteString == "https://example.com/")
        let text = try String(decoding: settings.json(), as: UTF8.self)
        #expect(!text.contains(secret) && !text.contains("keyLog"))
        // A file may have them, and they are not written again.
        let read = try self.settings(#"{"headerFields": [{"name": "Cookie", "value": "\#(secret)"}]}"#)
        #expect(read.configuration.headerFields[.cookie] == secret)
        #expect(try keys(read) == [])
    }

    @Test func aDumpOfSettingsShowsNoSecret() throws {
        var configuration = HTTPSession.Configuration()
        configuration.headerFields = [.location: "https://ada:s3cret@h/?token=s3cret"]
        let url = try #require(URL(string: "https://ada:s3cret@h/p?token=s3cret&page=2"))
        let settings = try HTTPSession.Settings(configuration, baseURL: url)
        var dumped = ""
        dump(settings, to: &dumped)
        for text in [dumped, "\(settings)", String(reflecting: settings)] { #expect(!text.contains("s3cret")) }
        #expect(dumped.contains("page=2"))
    }

    @Test func proxiesAreStoredWithoutTheirPasswords() throws {
        var configuration = HTTPSession.Configuration()
        configuration.proxies = .fixed(try Proxy("http://ada:secret@proxy.example"))
        let json = String(decoding: try HTTPSession.Settings(configuration).json(), as: UTF8.self)
        #expect(json.contains("proxy.example:1080"))
        #expect(!json.contains("ada") && !json.contains("secret"))
        let named = String(decoding: try settings(#"{"proxies": "environment"}"#).json(), as: UTF8.self)
        #expect(named.contains(#""environment""#))
        let own = try Proxy("https://proxy.example", securityPolicy: .insecureAcceptAnyCertificate)
        configuration.proxies = .fixed(own)
        let fixed = configuration
        #expect(throws: SessionError.self) { try HTTPSession.Settings(fixed) }
        for wrong in [#""none of them""#, #"{"http": "gopher://x"}"#, #"{"ftp": "http://x"}"#, "1"] {
            #expect(throws: SessionError.self) { try settings(#"{"proxies": \#(wrong)}"#) }
        }
    }

    @Test func omissionsThatChangeRequestsOrTrustAreErrors() throws {
        struct Serializer: RequestSerializer {
            func serialize(_ request: SessionRequest, parameters: RequestParameters?) -> SessionRequest { request }
        }
        struct Evaluator: TrustEvaluator {
            func evaluate(_ trust: ServerTrust) async -> TrustDecision {
                await StandardTrustEvaluator.refuse.evaluate(trust)
            }
        }
        var closure = FormRequestSerializer()
        closure.queryEncoder = QueryEncoder(custom: { _, _ in "" })
        let changes: [(inout HTTPSession.Configuration) -> Void] = [
            { $0.requestSerializer = Serializer() },
            { $0.requestSerializer = BodyRequestSerializer(text: "a") },
            { $0.requestSerializer = closure },
            { $0.securityPolicy = .everyHost(Evaluator()) },
            { $0.securityPolicy = .everyHost(.accepting(.systemTrust, unless: { _, _ in nil })) },
            { $0.sessionHooks.didReceiveServerTrust = { _, decision in decision } },
            { $0.proxies = .choosing { _ in nil } },
            { $0.retryPolicy.backoff.factor = .infinity },
            { $0.timeouts.request = .seconds(Int64.max) },
        ]
        for (index, change) in changes.enumerated() {
            var configuration = HTTPSession.Configuration()
            change(&configuration)
            let fixed = configuration
            let error = #expect(throws: SessionError.self, "\(index)") { try HTTPSession.Settings(fixed) }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.isEmpty == false)
        }
    }

    // MARK: Damaged files

    @Test(arguments: [
        ("", "not valid JSON"),
        ("[]", "must be an object"),
        ("{\n\n", "The given data was not valid JSON."),
        (#"{"timeout": {}}"#, "\"timeout\" is unknown"),
        ("{\n\"timeouts\": {\n\"conect\": 1}}", "line 2: timeouts: The key \"conect\" is unknown."),
        (#"{"retryPolicy": {"backoff": {"frist": 1}}}"#, "retryPolicy.backoff: The key \"frist\" is unknown."),
        (#"{"pool": {"connections": "4"}}"#, "pool.connections: The value must be a whole number."),
        (#"{"pool": {"connections": null}}"#, "pool.connections: The value must be a whole number."),
        (#"{"pool": {"connections": 1, "connections": 2}}"#, "\"connections\" is repeated"),
        (#"{"continueTimeout": 1e300}"#, "continueTimeout: The number of seconds is out of range."),
        (#"{"continueTimeout": null}"#, "continueTimeout: The value must be a number of seconds."),
        (#"{"eventLoops": {"dedicated": 1000000}}"#, "eventLoops: The value must be the number of threads"),
        (#"{"eventLoops": {"shared": 1}}"#, "eventLoops: The value must be the number of threads"),
        (#"{"requestSerializer": {}}"#, "requestSerializer: The value must have one of the keys"),
        (#"{"requestSerializer": {"form": {}, "json": {}}}"#, "requestSerializer: The value must have one of the keys"),
        (#"{"requestSerializer": {"xml": {}}}"#, "requestSerializer: The key \"xml\" is unknown."),
        (#"{"headerFields": [{"name": "A", "value": "b\r\nC: d"}]}"#, "headerFields[0].value: "),
        (#"{"headerFields": [{"name": "A b", "value": "c"}]}"#, "headerFields[0].name: "),
        (#"{"headerFields": [{"name": ":path", "value": "c"}]}"#, "headerFields: :path is not the name"),
        (#"{"headerFields": null}"#, "headerFields: The value must be an array of header fields."),
        (#"{"baseURL": "http://["}"#, "baseURL: "),
        ("{\"securityPolicy\": {\n\"version\": 9}}", "line 2: securityPolicy.version: "),
        (
            #"{"securityPolicy": {"version": 1, "rules": [{"hosts": ["a.example"], "pins": ["x"]}]}}"#,
            "line 1: securityPolicy.rules[0].pins[0]: "
        ),
        (#"{"securityPolicy": {"version": 1, "includes": ["/nowhere/policy.json"]}}"#, "/nowhere/policy.json"),
        ("\u{0}", "UTF-8"),
    ])
    func mistakesAreErrorsWithTheirLocation(json: String, message: String) {
        let error = #expect(throws: SessionError.self) { try settings(json) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func longAndDeepFilesAreErrors() {
        for json in [
            String(repeating: "[", count: 100_000), String(repeating: #"{"timeouts":"#, count: 100_000),
            "{}" + String(repeating: " ", count: 2 << 20),
            #"{"\#(String(repeating: "k", count: 1 << 20))": 1}"#,
            #"{"eventLoops": {"\#(String(repeating: "k", count: 1 << 20))": "a"}}"#,
        ] {
            let error = #expect(throws: SessionError.self) { try settings(json) }
            #expect(error?.code == .invalidConfiguration)
            #expect((error?.message.utf8.count ?? .max) < 2000)
        }
    }

    /// HTTPFields terminates the process at 65,535.
    @Test(arguments: [1000, 1001, 66_000])
    func aFileHasAtMostAThousandHeaderFields(count: Int) {
        let fields = repeatElement(#"{"name":"a","value":""}"#, count: count).joined(separator: ",")
        for (start, end) in [("", ""), (#"{"requestSerializer":{"form":{"settings":"#, "}}}")] {
            let json = start + #"{"headerFields":[\#(fields)]}"# + end
            guard count > 1000 else {
                #expect(throws: Never.self) { try settings(json) }
                continue
            }
            let error = #expect(throws: SessionError.self) { try settings(json) }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("headerFields: There are more than 1,000 header fields.") == true)
        }
    }

    /// A file's settings are either refused when a session is made, or work.
    @Test(arguments: [
        #"{"pool": {"connections": 0}}"#, #"{"pool": {"connectionsPerOrigin": -1}}"#,
        #"{"responseLimits": {"headBytes": 0}}"#,
        #"{"http2": {"initialWindowSize": -1}}"#, #"{"tls": {"cipherList": "eNULL"}}"#,
        #"{"baseURL": "ftp://example.com"}"#,
        #"{"resolution": {"hostOverrides": {"a": []}}}"#, #"{"resolution": {"unixSockets": {"a": ""}}}"#,
        #"{"resolution": {"localAddress": "localhost"}}"#, #"{"resolution": {"networkInterface": ""}}"#,
    ])
    func aConfigurationThatCannotBeUsedIsRefused(json: String) throws {
        let settings = try settings(json)
        #expect(throws: SessionError.self) { try HTTPSession(settings: settings) }
    }

    @Test(arguments: [
        #"{"pool": {"maximumAge": 1e12, "idleTimeout": 1e12}, "continueTimeout": 1e12, "progressInterval": 1e12}"#,
        #"{"timeouts": {"request": 1e12, "connect": 1e12, "idleRead": 1e12, "idleWrite": 1e12, "poolWait": 1e12}}"#,
        #"{"pool": {"maximumAge": -1, "idleTimeout": -1e12}, "continueTimeout": -1, "progressInterval": -1e12}"#,
        #"{"maximumBodySize": 9223372036854775807, "retryPolicy": {"limit": 9223372036854775807}}"#,
        #"{"pool": {"connections": 9223372036854775807, "connectionsPerOrigin": 9223372036854775807}}"#,
        #"{"retryPolicy": {"limit": -9223372036854775808, "backoff": {"factor": -1e300, "first": -1}}}"#,
    ])
    func extremeValuesWork(json: String) async throws {
        let settings = try settings(json)
        try await withMockServer(.text("ok")) { server in
            let session = try HTTPSession(settings: settings)
            #expect(try await session.call(SessionRequest(url: server.url)).text() == "ok")
            await session.shutdown()
        }
    }

    // MARK: Enforcement

    @Test func aSessionFromSettingsEnforcesThePolicy() async throws {
        let pki = try TestPKI()
        let (identity, stranger) = (try pki.identity(), try TestPKI.selfSigned())
        let anchors = try TrustAnchors.certificates([pki.root])
        try await withMockServer(.text("pinned"), tls: identity) { server in
            for (pin, isRight) in [(identity.pin, true), (stranger.pin, false)] {
                let original = try HTTPSession(baseURL: server.url) {
                    $0.securityPolicy = .everyHost(try .pins([pin], anchors: anchors))
                }
                let json = try HTTPSession.Settings(original).json()
                let session = try HTTPSession(settings: HTTPSession.Settings(json: json))
                for session in [original, session] {
                    if isRight {
                        #expect(try await session.get("").text() == "pinned")
                    } else {
                        let error = await #expect(throws: SessionError.self) { try await session.get("").text() }
                        #expect(error?.code == .trustRefused)
                        #expect(error?.trustRefusal?.host == "127.0.0.1")
                    }
                    await session.shutdown()
                }
            }
            #expect(server.recordedRequests.count == 2)
        }
    }
}
