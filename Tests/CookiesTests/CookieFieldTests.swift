import FoundationEssentials
import HTTPTypes
import Testing

@testable import LinnetCookies

/// The Cookie field of a request that may have one of its own.
@Suite("Cookie fields", .timeLimit(.minutes(1)))
struct CookieFieldTests {
    private func sent(_ own: [String], stored: [String]) throws -> [String] {
        let jar = makeJar()
        let address = "https://site.example/"
        for field in stored { try jar.receive(field, from: address) }
        var headers: HTTPFields = [.accept: "*/*"]
        for value in own { headers.append(HTTPField(name: .cookie, value: value)) }
        jar.addCookies(to: &headers, for: try url(address))
        #expect(headers[.accept] == "*/*")
        return headers[fields: .cookie].map { text($0) }
    }

    // RFC 6265bis, section 5.8.3: one field, with its cookies separated by "; ".
    @Test(
        arguments: [
            ([], [], []), ([], ["a=1"], ["a=1"]), ([], ["a=1", "b=2"], ["a=1; b=2"]), ([], ["a", "b=2"], ["a; b=2"]),
            // The request's own cookies come first, and hide stored ones with their names.
            (["x=9"], ["a=1"], ["x=9; a=1"]), (["a=9"], ["a=1"], ["a=9"]),
            (["a=9; x=8"], ["a=1", "b=2"], ["a=9; x=8; b=2"]),
            (["x=8;\tb=9"], ["a=1", "b=2"], ["x=8;\tb=9; a=1"]), (["A=9"], ["a=1"], ["A=9; a=1"]),
            (["9"], ["1", "a=1"], ["9; a=1"]), (["a=9"], ["=a=1", "b=2"], ["a=9; b=2"]),
            // A single field stays as it is, and several become one.
            (["x=9;y=8"], [], ["x=9;y=8"]), (["x=9", "y=8"], [], ["x=9; y=8"]),
            (["x=9", "y=8"], ["y=1", "z=2"], ["x=9; y=8; z=2"]),
            ([""], ["a=1"], ["a=1"]), (["", "x=9"], ["a=1"], ["x=9; a=1"]),
        ] as [([String], [String], [String])])
    func ownAndStoredCookiesAreSentTogether(own: [String], stored: [String], expected: [String]) throws {
        #expect(try sent(own, stored: stored) == expected)
    }

    @Test func aFieldWithoutAdditionsStaysTheSameField() throws {
        var field = HTTPField(name: .cookie, value: "x=9")
        field.indexingStrategy = .avoid
        var headers = HTTPFields([field])
        makeJar().addCookies(to: &headers, for: try url("https://site.example/"))
        #expect(headers[fields: .cookie].map(\.indexingStrategy) == [.avoid])
    }
}
