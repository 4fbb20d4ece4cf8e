import FoundationEssentials
import HTTPTypes
import LinnetMessages
import Testing

@testable import LinnetAuthentication

/// The values of components: the examples of RFC 9421, section 2, and what cannot be signed.
@Suite(.timeLimit(.minutes(1)))
struct SignatureComponentTests {
    private func value(
        _ component: SignatureComponent, _ lines: [(String, String)] = [], method: HTTPRequest.Method = .get,
        url: String = "https://www.example.com/path?param=value"
    ) throws -> String {
        let fields = HTTPFields(
            try lines.map { HTTPField(name: try #require(HTTPField.Name($0)), value: $1) })
        return try SignableMessage(method: method, target: try testTarget(url), fields: fields).value(of: component)
    }

    private func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }

    /// Sections 2.2.1 to 2.2.7.
    @Test func derivedComponentsAreThoseOfTheURL() throws {
        #expect(try value(.method, method: .post) == "POST")
        #expect(try value(.targetURI) == "https://www.example.com/path?param=value")
        #expect(try value(.authority, url: "https://WWW.Example.com:443/path") == "www.example.com")
        #expect(try value(.authority, url: "http://www.example.com:8080/") == "www.example.com:8080")
        #expect(try value(.scheme) == "https")
        #expect(try value(.requestTarget) == "/path?param=value")
        #expect(try value(.path) == "/path")
        #expect(try value(.path, url: "https://www.example.com") == "/")
        #expect(try value(.path, url: "https://www.example.com/a%2Fb%20c") == "/a%2Fb%20c")
        #expect(
            try value(.query, url: "https://www.example.com/path?param=value&foo=bar&baz=bat%2Dman")
                == "?param=value&foo=bar&baz=bat%2Dman")
        #expect(try value(.query, url: "https://www.example.com/path?queryString") == "?queryString")
        #expect(try value(.query, url: "https://www.example.com/path") == "?")
    }

    /// Section 2.2.8.
    @Test func queryParametersAreEncodedAnew() throws {
        let url = "https://www.example.com/path?param=value&foo=bar&baz=batman&qux="
        #expect(try value(.queryParameter("baz"), url: url) == "batman")
        #expect(try value(.queryParameter("qux"), url: url).isEmpty)
        let long =
            "https://www.example.com/parameters?var=this%20is%20a%20big%0Amultiline%20value"
            + "&bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something"
        #expect(try value(.queryParameter("var"), url: long) == "this%20is%20a%20big%0Amultiline%20value")
        #expect(try value(.queryParameter("bar"), url: long) == "with%20plus%20whitespace")
        #expect(try value(.queryParameter("a"), url: "https://www.example.com/?a=%FF") == "%EF%BF%BD")
        let name = SignatureComponent.queryParameter("façade\": ")
        #expect(try value(name, url: long) == "something")
        #expect(name.description == #""@query-param";name="fa%C3%A7ade%22%3A%20""#)
    }

    @Test func aQueryParameterOccursOnce() throws {
        for query in ["", "?b=1", "?a=1&a=2"] {
            let error = #expect(throws: AuthenticationError.self) {
                try value(.queryParameter("a"), url: "https://www.example.com/\(query)")
            }
            #expect(error?.code == .missingComponent)
        }
    }

    /// Section 2.1.
    @Test func fieldsAreTrimmedAndJoined() throws {
        let ows = try name("X-OWS-Header")
        #expect(
            try value(.field(ows), [("X-OWS-Header", "  Leading and trailing whitespace.   ")])
                == "Leading and trailing whitespace.")
        let lines = [("Cache-Control", "max-age=60"), ("Cache-Control", "   must-revalidate")]
        #expect(try value(.field(.cacheControl), lines) == "max-age=60, must-revalidate")
        #expect(try value(.field(ows), [("X-OWS-Header", "")]).isEmpty)
        #expect(SignatureComponent.field(ows).description == #""x-ows-header""#)
        let folded = SignableMessage.unfolded(Array("Obsolete\r\n    line folding.".utf8))
        #expect(String(decoding: folded, as: UTF8.self) == "Obsolete line folding.")
    }

    /// Sections 2.1.1 and 2.1.2.
    @Test func structuredFieldsAreCanonical() throws {
        let dictionary = try name("Example-Dict")
        let lines = [("Example-Dict", " a=1,    b=2;x=1;y=2,   c=(a   b   c), d")]
        let strict = SignatureComponent.field(dictionary, as: .dictionary)
        #expect(try value(.field(dictionary), lines) == "a=1,    b=2;x=1;y=2,   c=(a   b   c), d")
        #expect(try value(strict, lines) == "a=1, b=2;x=1;y=2, c=(a b c), d")
        #expect(strict.description == #""example-dict";sf"#)
        let members = ["a": "1", "b": "2;x=1;y=2", "c": "(a b c)", "d": "?1"]
        for (key, text) in members { #expect(try value(.field(dictionary, member: key), lines) == text) }
        #expect(SignatureComponent.field(dictionary, member: "a").description == #""example-dict";key="a""#)
        #expect(try value(.field(dictionary, as: .list), [("Example-Dict", "a ,\t\"b\"")]) == #"a, "b""#)
        #expect(try value(.field(dictionary, as: .item), [("Example-Dict", "1.50;q")]) == "1.5;q")
        for component in [.field(dictionary, member: "e"), SignatureComponent.field(dictionary, as: .item)] {
            let error = #expect(throws: AuthenticationError.self) { try value(component, lines) }
            #expect(error?.code == .missingComponent)
        }
    }

    /// Section 2.1.3.
    @Test func bytesAreEncodedLineByLine() throws {
        let field = SignatureComponent.bytes(of: try name("Example-Header"))
        #expect(
            try value(field, [("Example-Header", "value, with, lots"), ("Example-Header", "of, commas")])
                == ":dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:")
        #expect(
            try value(field, [("Example-Header", "value, with, lots, of, commas")])
                == ":dmFsdWUsIHdpdGgsIGxvdHMsIG9mLCBjb21tYXM=:")
        #expect(field.description == #""example-header";bs"#)
        #expect(try value(field, [("Example-Header", "ü")]) == ":w7w=:")
    }

    @Test func whatIsNotInTheMessageIsAnError() throws {
        let status = SignatureComponent.status
        for component in [.field(.accept), .bytes(of: .accept), .field(.accept, member: "a"), status] {
            #expect(throws: AuthenticationError.self) { try value(component) }
        }
        let accented = #expect(throws: AuthenticationError.self) { try value(.field(.accept), [("Accept", "ü")]) }
        #expect(accented?.code == .missingComponent && accented?.message.contains("cover its bytes") == true)
    }
}

/// RFC 8941: what is parsed, and its canonical form.
@Suite(.timeLimit(.minutes(1)))
struct StructuredFieldTests {
    @Test(arguments: [
        ("a=?1, b=?0;c", "a, b=?0;c"), (" a = 1", nil), ("a=1,", nil), ("a=1,,b", nil), ("a=1, a=2", "a=2"),
        ("b=1, a=2, b=3", "b=3, a=2"), ("A=1", nil), ("a=\"x\\\"\\\\\"", "a=\"x\\\"\\\\\""), ("a=\"x\\y\"", nil),
        ("a=\"\u{7F}\"", nil), ("a=:AQID:", "a=:AQID:"), ("a=:%:", nil), ("a=:AQID", nil),
        (
            "a=(1 2.0 *t/x);q=-1",
            "a=(1 2.0 *t/x);q=-1"
        ), ("a=(1", nil), ("a=(1)2", nil), ("a=(1\"b\")", nil), ("", ""), ("a;b;c=?0", "a;b;c=?0"),
        ("a=-", nil), ("a=1.", nil), ("a=1.0001", nil), ("a=999999999999999", "a=999999999999999"),
        ("a=1000000000000000", nil), ("a=-123456789012.345", "a=-123456789012.345"), ("a=1234567890123.1", nil),
        ("a=0.10", "a=0.1"), ("a=-0.5", "a=-0.5"),
    ])
    func dictionaries(text: String, canonical: String?) {
        #expect(StructuredFieldParser.dictionary(text)?.text == canonical)
    }

    @Test func aLongValueIsParsedOnce() {
        let count = 20_000
        let text = (0..<count).map { "k\($0)=(a;b=1 c)" }.joined(separator: ",")
        #expect(StructuredFieldParser.dictionary(text)?.count == count)
        let item = "a" + (0..<count).map { ";k\($0)" }.joined()
        #expect(StructuredFieldParser.item(item)?.parameters.count == count)
        #expect(StructuredFieldParser.item("a;b=1;c;b=2")?.text == "a;b=2;c")
        #expect(StructuredFieldParser.dictionary(String(repeating: "a=(", count: count)) == nil)
    }
}
