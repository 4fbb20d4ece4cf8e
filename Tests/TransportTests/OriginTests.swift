import HTTPTypes
import LinnetMessages
import Testing

@testable import LinnetTransport

@Suite("Origins", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct OriginTests {
    private func origin(_ scheme: String, _ authority: String) throws -> Origin {
        try Origin(HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/"))
    }

    @Test(arguments: [
        ("http", "example.com", "example.com", 80), ("https", "example.com", "example.com", 443),
        ("https", "EXAMPLE.com:8443", "example.com", 8443), ("http", "127.0.0.1:1", "127.0.0.1", 1),
        ("http", "[::1]", "::1", 80), ("https", "[::1]:65535", "::1", 65535), ("http", "a:", "a", 80),
        ("http", "[0:0::1]", "::1", 80), ("https", "[::ffff:127.0.0.1]", "127.0.0.1", 443),
        ("https", "[::FFFF:7F00:1]:1", "127.0.0.1", 1), ("http", "127.0.0.1.", "127.0.0.1", 80),
        ("http", "example.com.", "example.com.", 80),
    ])
    func authoritiesAreReadAsRFC3986Says(scheme: String, authority: String, host: String, port: Int) throws {
        let origin = try origin(scheme, authority)
        #expect(origin.host == host)
        #expect(origin.port == port)
        #expect(origin.isSecure == (scheme == "https"))
    }

    @Test(arguments: [
        "", ":80", "a:0", "a:65536", "a:8x", "user@a", "::1", "[::1", "a:123456", "[]", "a:b:1", "[::1]x", "[::1]@a",
        "user@[::1]", "[a@b]", "[::1]:8x",
        "[name]", "[127.0.0.1]", "[::1%lo]", "127.1", "0x7f000001", "2130706433", "0177.0.0.1:80", "127.1.:80", "a..b",
        "%31.0.0.1", "\u{FF11}27.0.0.1", "a b", "a/b",
    ])
    func anIssuerThatIsNotAnAuthorityIsRefused(authority: String) {
        let error = #expect(throws: TransportError.self) { try origin("http", authority) }
        #expect(error?.code == .invalidRequest)
    }

    @Test(arguments: ["ftp", "HTTP", "", "ws"])
    func otherSchemesAreRefused(scheme: String) {
        let error = #expect(throws: TransportError.self) { try origin(scheme, "example.com") }
        #expect(error?.code == .invalidRequest)
    }
}
