import LinnetMessages
import LinnetSecurity
import Testing

@testable import LinnetTransport

@Suite("Proxies as values", .timeLimit(.minutes(1)))
struct ProxyValueTests {
    @Test(arguments: [
        ("proxy.example", "http://proxy.example:1080"), ("proxy.example:8080", "http://proxy.example:8080"),
        ("http://PROXY.example:8080/", "http://proxy.example:8080"),
        ("https://proxy.example", "https://proxy.example:443"),
        ("HTTPS://proxy.example:8443", "https://proxy.example:8443"), ("socks5://127.0.0.1", "socks5://127.0.0.1:1080"),
        ("socks5h://[::1]:9050", "socks5h://[::1]:9050"), ("socks4a://proxy.example:1", "socks4a://proxy.example:1"),
        ("http://[2001:DB8::1]", "http://[2001:db8::1]:1080"), ("http://proxy.example:", "http://proxy.example:1080"),
    ])
    func aURLIsParsed(text: String, description: String) throws {
        #expect(try Proxy(text).description == description)
    }

    @Test(arguments: [
        "", "ftp://proxy.example", "socks://proxy.example", "socks4://proxy.example", "http://", "http://:8080",
        "http://proxy.example:0", "http://proxy.example:65536", "http://proxy.example:x", "http://proxy.example/path",
        "http://proxy.example?q", "http://proxy.example#f", "http://pro xy", "http://127.1", "http://[::1",
        "http://user:pass%ff@proxy.example", "http://a%3ab:c@proxy.example", "http://a:b%0d%0a@proxy.example",
        "socks4a://user:secret@proxy.example", "socks5://:secret@proxy.example", "http://secret@",
        "proxy.example:123456",
    ])
    func aURLThatMakesNoSenseIsRefusedWithoutRepeatingIt(text: String) {
        let error = #expect(throws: TransportError.self) { try Proxy(text) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("secret") == false)
    }

    @Test func userInformationIsDecoded() throws {
        let proxy = try Proxy("http://ad%61:l%3Aove%25%zz@proxy.example:8080")
        #expect(proxy.username == "ada")
        #expect(proxy.password == "l:ove%%zz")
        #expect(try Proxy("http://ada@proxy.example").password == nil)
        #expect(try Proxy("http://proxy.example").username == nil)
    }

    @Test func noDescriptionShowsTheCredentials() throws {
        let proxy = try Proxy(.http, host: "proxy.example", port: 8080, username: "ada", password: "secret")
        var dumped = ""
        dump([proxy], to: &dumped)
        dump(ProxyPolicy.fixed(proxy), to: &dumped)
        let texts = [
            "\(proxy)", String(reflecting: proxy), dumped, "\(ProxyPolicy.fixed(proxy))",
            String(reflecting: ProxyServer(proxy).proxy), "\(TransportError.proxyAuthenticationRequired(proxy))",
        ]
        for text in texts { #expect(!text.contains("secret") && !text.contains("ada"), "\(text)") }
    }

    @Test func credentialsAndPoliciesMakeAnotherProxy() throws {
        let proxies = try [
            Proxy("http://proxy.example"), Proxy("http://proxy.example:8080"), Proxy("socks5://proxy.example"),
            Proxy("http://ada@proxy.example"), Proxy("http://ada:x@proxy.example"), Proxy("https://proxy.example"),
            Proxy("https://proxy.example", securityPolicy: .insecureAcceptAnyCertificate),
        ]
        #expect(Set(proxies).count == proxies.count)
        #expect(try Proxy("http://proxy.example:1080") == proxies[0])
    }

    @Test(arguments: [255, 256])
    func socksLimitsTheLengthOfAUserName(length: Int) {
        let name = String(repeating: "a", count: length)
        let proxy = try? Proxy(.socks5, host: "proxy.example", username: name, password: "b")
        #expect((proxy != nil) == (length == 255))
    }

    // MARK: The environment

    private func proxies(_ environment: [String: String]) throws -> [String?] {
        let rules = try ProxyRules(environment: environment)
        return try [false, true].map { isSecure in
            rules.proxy(for: try Origin(isSecure: isSecure, authority: "origin.example"))?.description
        }
    }

    @Test func eachSchemeHasItsVariable() throws {
        #expect(try proxies([:]) == [nil, nil])
        #expect(try proxies(["http_proxy": "a"]) == ["http://a:1080", nil])
        #expect(try proxies(["https_proxy": "a"]) == [nil, "http://a:1080"])
        #expect(try proxies(["HTTPS_PROXY": "a"]) == [nil, "http://a:1080"])
        #expect(try proxies(["HTTPS_PROXY": "a", "https_proxy": "b"]) == [nil, "http://b:1080"])
        #expect(try proxies(["all_proxy": "socks5://a"]) == ["socks5://a:1080", "socks5://a:1080"])
        #expect(try proxies(["ALL_PROXY": "a", "http_proxy": "b"]) == ["http://b:1080", "http://a:1080"])
        #expect(try proxies(["ALL_PROXY": "a", "all_proxy": "b"]) == ["http://b:1080", "http://b:1080"])
        #expect(try proxies(["http_proxy": "", "all_proxy": "b"]) == ["http://b:1080", "http://b:1080"])
    }

    /// CVE-2016-5385.
    @Test(arguments: [["HTTP_PROXY": "evil"], ["HTTP_PROXY": "evil", "REQUEST_METHOD": "GET"], ["HTTP_PROXY": "://"]])
    func theProxyFieldOfACGIRequestIsNotRead(environment: [String: String]) throws {
        #expect(try proxies(environment) == [nil, nil])
        let merged = environment.merging(["http_proxy": "a"]) { $1 }
        #expect(try proxies(merged) == ["http://a:1080", nil])
    }

    @Test func exceptionsComeFromNoProxy() throws {
        #expect(try proxies(["all_proxy": "a", "no_proxy": "origin.example"]) == [nil, nil])
        #expect(try proxies(["all_proxy": "a", "NO_PROXY": "example"]) == [nil, nil])
        #expect(
            try proxies(["all_proxy": "a", "NO_PROXY": "*", "no_proxy": "x"]) == ["http://a:1080", "http://a:1080"])
        #expect(try proxies(["all_proxy": "a", "no_proxy": "origin.example:443"]) == ["http://a:1080", nil])
    }

    @Test(arguments: ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
    func anInvalidVariableIsAnErrorThatNamesIt(name: String) {
        let error = #expect(throws: TransportError.self) {
            try ProxyDirectory(.environment, environment: [name: "gopher://user:secret@x"])
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains(name) == true && error?.message.contains("secret") == false)
    }

    @Test func withoutProxiesNothingIsAsked() throws {
        #expect(try ProxyDirectory(.none, environment: ["all_proxy": "a"]) == nil)
        #expect(try ProxyDirectory(.environment, environment: [:]) == nil)
        #expect(try ProxyDirectory(.fixed(http: nil, https: nil), environment: [:]) == nil)
    }
}
