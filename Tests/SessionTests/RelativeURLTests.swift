import FoundationEssentials
import LinnetSession
import LinnetTesting
import Testing

/// AFHTTPSessionManager's rules: RFC 3986 against a base that ends in a slash.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct RelativeURLTests {
    @Test(arguments: [
        ("http://example.com/v1/", "foo", "http://example.com/v1/foo"),
        ("http://example.com/v1/", "foo?bar=baz", "http://example.com/v1/foo?bar=baz"),
        ("http://example.com/v1/", "/foo", "http://example.com/foo"),
        ("http://example.com/v1/", "foo/", "http://example.com/v1/foo/"),
        ("http://example.com/v1/", "/foo/", "http://example.com/foo/"),
        ("http://example.com/v1/", "http://example2.com/", "http://example2.com/"),
        ("http://example.com/v1", "foo", "http://example.com/v1/foo"),
        ("http://example.com/v1", "a/b.json", "http://example.com/v1/a/b.json"),
        ("http://example.com/v1", "../x", "http://example.com/x"),
        ("http://example.com/v1", "./x", "http://example.com/v1/x"),
        ("http://example.com/v1", "", "http://example.com/v1/"),
        ("http://example.com/v1", "?q=1", "http://example.com/v1/?q=1"),
        ("http://example.com/v1", "//other.example/x", "http://other.example/x"),
        ("http://example.com", "foo", "http://example.com/foo"),
        ("http://example.com", "/foo", "http://example.com/foo"),
        ("http://example.com/", "foo", "http://example.com/foo"),
        ("https://example.com:8443/a", "b", "https://example.com:8443/a/b"),
        ("http://example.com/v1", "a b", "http://example.com/v1/a%20b"),
        ("http://example.com/v1", "日本", "http://example.com/v1/%E6%97%A5%E6%9C%AC"),
    ])
    func resolvesAgainstTheBase(base: String, path: String, expected: String) throws {
        #expect(try makeClient(base: base).url(for: path).absoluteString == expected)
    }

    @Test func withoutABaseURLOnlyAbsoluteURLsAreValid() throws {
        let client = try makeClient(base: nil)
        #expect(try client.url(for: "https://example.com/x").absoluteString == "https://example.com/x")
        #expect(throws: SessionError.self) { try client.url(for: "x") }
    }

    @Test(arguments: [
        "ftp://example.com/", "http://", "http:///x", "mailto:x@example.com", "a:b", "x\u{0}", "x\r\ny",
        "http://good.example\\@evil.example/", "//good.example\\@evil.example/", "http://good.example@x@evil.example/",
        "http://good.example\t@evil.example/", "http://good.example\\evil.example/",
    ])
    func whatLeadsNowhereIsATypedError(path: String) throws {
        let client = try makeClient()
        let error = #expect(throws: SessionError.self) { try client.url(for: path) }
        #expect(error?.code == .invalidURL)
    }

    @Test(arguments: ["ftp://example.com", "example", "file:///x"])
    func baseURLsMustBeHTTP(base: String) {
        let error = #expect(throws: SessionError.self) {
            try HTTPSession(baseURL: URL(string: base), transport: StubTransport())
        }
        #expect(error?.code == .invalidURL)
    }

    @Test func theBaseURLGetsASlash() throws {
        #expect(try makeClient(base: "http://example.com/v1").baseURL?.absoluteString == "http://example.com/v1/")
        #expect(try makeClient(base: "http://example.com").baseURL?.absoluteString == "http://example.com")
    }
}
