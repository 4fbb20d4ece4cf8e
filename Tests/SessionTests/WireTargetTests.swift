import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

@testable import LinnetSession

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct WireTargetTests {
    @Test(arguments: [
        ("http://example.com", "http", "example.com", "/"),
        ("http://example.com?q=1", "http", "example.com", "/?q=1"),
        ("http://example.com/a/b?q=1&r=%20#top", "http", "example.com", "/a/b?q=1&r=%20"),
        ("http://example.com:80/", "http", "example.com", "/"),
        ("https://example.com:443/", "https", "example.com", "/"),
        ("https://example.com:80/", "https", "example.com:80", "/"),
        ("http://example.com:8080/x", "http", "example.com:8080", "/x"),
        ("http://example.com:/x", "http", "example.com", "/x"),
        ("HTTP://Example.COM/Path", "http", "example.com", "/Path"),
        ("http://[::1]:8080/x", "http", "[::1]:8080", "/x"),
        ("http://[2001:db8::1]/", "http", "[2001:db8::1]", "/"),
        ("http://[2001:DB8:0::1]:80/", "http", "[2001:db8::1]", "/"),
        ("https://[::ffff:127.0.0.1]/", "https", "127.0.0.1", "/"),
        ("https://[::FFFF:7f00:1]:8443/", "https", "127.0.0.1:8443", "/"),
        ("http://127.0.0.1.:8080/", "http", "127.0.0.1:8080", "/"),
        ("http://Example.com./", "http", "example.com.", "/"),
        ("http://user:secret@example.com:81/", "http", "example.com:81", "/"),
        ("http://example.com/a b/ü", "http", "example.com", "/a%20b/%C3%BC"),
        ("http://example.com/%7Euser/a+b;c=d,e", "http", "example.com", "/%7Euser/a+b;c=d,e"),
    ])
    func takesURLsApart(url: String, scheme: String, authority: String, path: String) throws {
        let target = try WireTarget(#require(URL(string: url)))
        #expect(target.scheme == scheme)
        #expect(target.authority == authority)
        #expect(target.path == path)
    }

    @Test(arguments: [
        "ftp://example.com/", "file:///etc/passwd", "/x", "http:///x", "http://example.com:0/",
        "http://a%3Ab@example.com:65536/", "data:,x", "http://127.1/", "http://0x7f000001/", "https://2130706433/",
        "http://0177.0.0.1/", "http://127.1./", "http://%31%32%37.0.0.1/", "http://a..b/", "http://[fe80::1%25lo]/",
    ])
    func refusesWhatIsNotHTTP(url: String) throws {
        let url = try #require(URL(string: url))
        let error = #expect(throws: SessionError.self) { try WireTarget(url) }
        #expect(error?.code == .invalidURL)
    }

    @Test func bytesThatMayStandInATarget() {
        let forbidden = Set("\"<>\\^`{|}".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(byte.isTargetByte == (byte > 0x20 && byte < 0x7F && !forbidden.contains(byte)), "\(byte)")
        }
    }

    @Test func userInformationBecomesCredentials() throws {
        let url = try #require(URL(string: "http://ada:p%40ss@example.com/"))
        let target = try WireTarget(url)
        #expect(target.authority == "example.com")
        #expect(
            target.head(of: SessionRequest(url: url)).headerFields[.authorization]
                == HTTPFields.basicAuthorization(username: "ada", password: "p@ss"))
        let own = SessionRequest(url: url, headerFields: [.authorization: "Bearer t"])
        #expect(target.head(of: own).headerFields[values: .authorization] == ["Bearer t"])
    }

    @Test func errorsDoNotShowCredentials() throws {
        let url = try #require(URL(string: "http://ada:secret@example.com/x"))
        let error = SessionError(.invalidURL, "x", url: url)
        #expect(error.url?.absoluteString == "http://example.com/x")
    }
}
