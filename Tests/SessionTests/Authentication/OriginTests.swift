import FoundationEssentials
import LinnetSession
import Testing

@Suite(.timeLimit(.minutes(1)))
struct OriginTests {
    @Test(arguments: [
        ("https://Example.COM/a", "https://example.com"), ("https://example.com:443", "https://example.com"),
        ("http://u:p@example.com:8080/", "http://example.com:8080"),
    ])
    func originsAreCompared(url: String, expected: String) throws {
        let origin = try Origin(#require(URL(string: url)))
        #expect(origin.description == expected)
        #expect(try origin == Origin(#require(URL(string: expected))))
    }
}
