import FoundationEssentials
import HTTPTypes
import Testing

@testable import LinnetSerialization

@Suite(.timeLimit(.minutes(5))) struct HeaderFieldTests {
    @Test(
        arguments: [
            (["LANG": "de_DE.UTF-8"], "de-DE;q=1, de;q=0.9"),
            (["LANG": "en_US"], "en-US;q=1, en;q=0.9"),
            (["LANG": "fr"], "fr;q=1"),
            (["LANG": "de_DE", "LC_ALL": "fr_FR.UTF-8"], "fr-FR;q=1, fr;q=0.9"),
            (["LANG": "de_DE", "LC_MESSAGES": "fr_FR.UTF-8"], "fr-FR;q=1, fr;q=0.9"),
            (["LANG": "de_DE", "LC_ALL": ""], "de-DE;q=1, de;q=0.9"),
            (["LANG": "sr_RS@latin"], "sr-RS;q=1, sr;q=0.9"),
            (["LANG": "C.UTF-8"], "en;q=1"), (["LANG": "POSIX"], "en;q=1"), ([:], "en;q=1"),
            (["LANG": "C", "LANGUAGE": "de:fr"], "en;q=1"),
            (["LANG": "de_AT.UTF-8", "LANGUAGE": "de_AT:de_DE:fr"], "de-AT;q=1, de-DE;q=0.9, de;q=0.8, fr;q=0.7"),
            (
                ["LANG": "de", "LANGUAGE": "aa:bb:cc:dd:ee:ff:gg"],
                "aa;q=1, bb;q=0.9, cc;q=0.8, dd;q=0.7, ee;q=0.6, ff;q=0.5"
            ),
            (["LANG": "x\r\nEvil: 1"], "en;q=1"), (["LANG": "../../etc"], "en;q=1"),
        ] as [([String: String], String)])
    func acceptLanguageFollowsTheEnvironment(environment: [String: String], expected: String) {
        #expect(DefaultHeaderFields.acceptLanguage(environment: environment) == expected)
    }

    @Test func userAgentNamesProgramSystemAndLibrary() throws {
        let agent = try #require(FormRequestSerializer.defaultHeaderFields[.userAgent])
        #expect(agent.wholeMatch(of: /[^\/ ]+\/[^\/ ]+ \([^;]+; [^)]+\) Linnet\/\d+\.\d+\.\d+/) != nil)
        let odd = DefaultHeaderFields.userAgent(product: "mein programm (ü)")
        #expect(odd.hasPrefix("mein-programm-----/0 ("))
    }

    @Test(arguments: ["a\r\nX: y", "a\nb", "a\rb", "a\u{0}b", "a\u{7F}b"])
    func valuesThatWouldBreakTheLineAreRefused(value: String) {
        var fields = HTTPFields()
        let error = #expect(throws: SerializationError.self) { try fields.set(value, forName: "X-A") }
        #expect(error?.code == .invalidHeader)
        #expect(fields.isEmpty)
    }

    @Test(arguments: ["", "a b", "a:", "ä", "a\r\n"]) func namesOtherThanTokensAreRefused(name: String) {
        var fields = HTTPFields()
        let error = #expect(throws: SerializationError.self) { try fields.set("v", forName: name) }
        #expect(error?.code == .invalidHeader)
    }

    @Test func fieldsAreSetReplacedAndRemoved() throws {
        var serializer = FormRequestSerializer()
        try serializer.headerFields.set("1", forName: "X-A")
        try serializer.headerFields.set("2", forName: "x-a")
        #expect(try serializer.serialize(try makeRequest(), parameters: nil).headerFields[try name("X-A")] == "2")
        try serializer.headerFields.set(nil, forName: "X-A")
        #expect(try serializer.serialize(try makeRequest(), parameters: nil).headerFields[try name("X-A")] == nil)
    }

    private func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }

    @Test func basicAuthorizationFollowsRFC7617() throws {
        #expect(
            HTTPFields.basicAuthorization(username: "Aladdin", password: "open sesame")
                == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        )
        #expect(HTTPFields.basicAuthorization(username: "test", password: "123£") == "Basic dGVzdDoxMjPCow==")
        var serializer = JSONRequestSerializer()
        try serializer.setBasicAuthorization(username: "user", password: "pass:word")
        let fields = try serializer.serialize(try makeRequest(), parameters: nil).headerFields
        #expect(fields[.authorization] == "Basic dXNlcjpwYXNzOndvcmQ=")
        serializer.clearAuthorization()
        #expect(serializer.headerFields[.authorization] == nil)
        #expect(throws: SerializationError.self) {
            try serializer.setBasicAuthorization(username: "a:b", password: "c")
        }
    }
}
