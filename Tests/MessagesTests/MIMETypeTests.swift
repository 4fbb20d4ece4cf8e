import Testing

@testable import LinnetMessages

@Suite("Media types", .timeLimit(.minutes(1)))
struct MIMETypeTests {
    @Test(
        arguments: [
            ("text/plain", "text/plain", []), ("Text/Plain;Charset=UTF-8", "text/plain", [["charset", "UTF-8"]]),
            ("a/b ; x=\"q\\\"\\\\;\" ;y=z", "a/b", [["x", "q\"\\;"], ["y", "z"]]), ("a/b;", "a/b", []),
            ("a/b;;c=d", "a/b", [["c", "d"]]),
            // Malformed parameters are ignored (WHATWG MIME Sniffing, section 4.4).
            ("application/json; charset=", "application/json", []),
            ("application/json; charset", "application/json", []),
            ("a/b;=c", "a/b", []), ("a/b;x=\"y", "a/b", [["x", "y"]]),
            ("a/b;x=\"y\"z;c=d", "a/b", [["x", "y"], ["c", "d"]]),
            ("a/b;x =y;c=d", "a/b", [["c", "d"]]), ("a/b;x=\u{1};c=d", "a/b", [["c", "d"]]),
            ("a/b;x=1;X=2", "a/b", [["x", "1"]]), (" a/b\r\n", "a/b", []), ("a/b ;x= y", "a/b", [["x", " y"]]),
            ("multipart/mixed; boundary=----=_Part_1", "multipart/mixed", [["boundary", "----=_Part_1"]]),
            ("multipart/mixed; boundary=<q1w2>", "multipart/mixed", [["boundary", "<q1w2>"]]),
        ] as [(String, String, [[String]])])
    func mediaTypesAreRead(text: String, essence: String, parameters: [[String]]) throws {
        let type = try #require(MIMEType(text))
        #expect(type.essence == essence)
        #expect(type.parameters.map { [$0.name, $0.value] } == parameters)
    }

    @Test(arguments: [
        "", "a", "/", "a/", "/b", "a/b c", "a b/c", "a/b/c", "a/b\r\nx: y", "a /b", "text/html, text/plain",
    ])
    func malformedMediaTypesAreRefused(text: String) {
        #expect(MIMEType(text) == nil)
    }
}
