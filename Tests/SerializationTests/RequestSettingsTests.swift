import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct RequestSettingsTests {
    private let serializers: [any HTTPRequestSerializer] = [
        FormRequestSerializer(), JSONRequestSerializer(), PropertyListRequestSerializer(),
    ]

    @Test func everySerializerHasTheSameRules() throws {
        for serializer in serializers {
            var serializer = serializer
            try serializer.setBearerAuthorization(token: "abc")
            serializer.requestOptions.timeout = .seconds(3)
            serializer.requestOptions.cachePolicy = .cacheOnly
            var own = try makeRequest(headerFields: [.userAgent: "own"])
            own.options.timeout = .seconds(1)
            own.options.usesCookies = false
            let request = try serializer.serialize(own, parameters: ["a": 1])
            #expect(request.url.query() == "a=1")
            #expect(request.headerFields[.authorization] == "Bearer abc")
            #expect(request.headerFields[values: .userAgent] == ["own"])
            #expect(request.options.timeout == .seconds(1))
            #expect(request.options.cachePolicy == .cacheOnly)
            #expect(request.options.usesCookies == false)
            serializer.clearAuthorization()
            #expect(try serializer.serialize(own, parameters: nil).headerFields[.authorization] == nil)
            let withBody = try makeRequest(method: .post, body: .data(Data("own".utf8)))
            #expect(bodyText(try serializer.serialize(withBody, parameters: nil)) == "own")
            let error = #expect(throws: SerializationError.self) {
                try serializer.serialize(withBody, parameters: ["a": 1])
            }
            #expect(error?.code == .invalidParameters)
        }
    }

    @Test func optionsFillEachOther() {
        var first = RequestOptions()
        first.timeout = .seconds(1)
        first.tag = "first"
        var second = RequestOptions()
        second.timeout = .seconds(2)
        second.idleTimeout = .seconds(3)
        second.connectTimeout = .seconds(4)
        second.allowsExpensiveNetworks = false
        second.usesCookies = true
        second.cachePolicy = .revalidate
        var expected = second
        expected.timeout = .seconds(1)
        expected.tag = "first"
        #expect(first.filled(from: second) == expected)
        #expect(RequestOptions().filled(from: second) == second)
    }

    @Test(arguments: ["abc", "a-b._~+/9==", "eyJhbGciOi.J9.x_y"]) func bearerTokensAreSet(token: String) throws {
        var fields = HTTPFields()
        try fields.setBearerAuthorization(token: token)
        #expect(fields[.authorization] == "Bearer " + token)
    }

    @Test(arguments: ["", "=", "a b", "a\r\nX: y", "tökén", "a=b", "\"a\""]) func otherTokensAreRefused(token: String) {
        var fields = HTTPFields()
        let error = #expect(throws: SerializationError.self) { try fields.setBearerAuthorization(token: token) }
        #expect(error?.code == .invalidHeader)
        #expect(token.isEmpty || error?.message.contains(token) == false || token == "=" || token == "a b")
        #expect(fields.isEmpty)
    }

    @Test(arguments: [("a\u{0}", "b"), ("a", "b\n"), ("a", "\u{7F}")])
    func basicAuthorizationRefusesControlCharacters(username: String, password: String) {
        var fields = HTTPFields()
        #expect(throws: SerializationError.self) {
            try fields.setBasicAuthorization(username: username, password: password)
        }
        #expect(fields.isEmpty)
    }

    @Test func headerValuesAreBuiltFromTheirArguments() {
        #expect(HTTPFields.acceptLanguage(environment: ["LANG": "de_CH.UTF-8"]) == "de-CH;q=1, de;q=0.9")
        let agent = HTTPFields.userAgent(name: "My App", version: "1.2 beta")
        #expect(agent.hasPrefix("My-App/1.2-beta ("))
        #expect(agent.hasSuffix(") Linnet/\(LinnetVersion.current)"))
        #expect(HTTPFields.userAgent(name: "", version: "").hasPrefix("Linnet/0 ("))
    }

    @Test func givenBodyIsSentUnchanged() throws {
        var serializer = BodyRequestSerializer(.data(Data([1, 2])), contentType: "image/png")
        serializer.settings.headerFields = [.accept: "x/y"]
        for method in [HTTPRequest.Method.put, .post, .get] {
            let request = try serializer.serialize(try makeRequest(method: method), parameters: ["name": "a b"])
            #expect(request.body?.data == Data([1, 2]))
            #expect(request.headerFields[.contentType] == "image/png")
            #expect(request.headerFields[.accept] == "x/y")
            #expect(request.url.query(percentEncoded: true) == "name=a%20b")
        }
        let text = try BodyRequestSerializer(text: "é").serialize(try makeRequest(method: .post), parameters: nil)
        #expect(bodyText(text) == "é")
        #expect(text.headerFields[.contentType] == "text/plain; charset=utf-8")
        let own = try makeRequest(method: .post, headerFields: [.contentType: "a/b"])
        #expect(try serializer.serialize(own, parameters: nil).headerFields[values: .contentType] == ["a/b"])
        let bare = BodyRequestSerializer(.data(Data()), contentType: nil)
        #expect(try bare.serialize(try makeRequest(method: .post), parameters: nil).headerFields[.contentType] == nil)
        let taken = try makeRequest(method: .post, body: .data(Data()))
        #expect(throws: SerializationError.self) { try serializer.serialize(taken, parameters: nil) }
    }

    private struct Item: Encodable { var b = 1.0, a: [String] = ["x/y"], when = Date(timeIntervalSince1970: 0) }

    @Test func anyEncodableIsWrittenAsJSON() throws {
        let sorted = JSONRequestSerializer(options: JSONValue.WritingOptions(sortsKeys: true))
        let request = try sorted.serialize(try makeRequest(method: .get), encoding: Item())
        #expect(bodyText(request) == #"{"a":["x/y"],"b":1,"when":"1970-01-01T00:00:00Z"}"#)
        #expect(request.headerFields[.contentType] == "application/json")
        #expect(request.headerFields[.userAgent] != nil)
        var encoder = JSONBodyEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        let own = try sorted.serialize(
            try makeRequest(method: .post), encoding: ["d": Date(timeIntervalSince1970: 5)], encoder: encoder)
        #expect(bodyText(own) == #"{"d":5}"#)
        let pretty = JSONRequestSerializer(options: JSONValue.WritingOptions(isPretty: true))
        #expect(bodyText(try pretty.serialize(try makeRequest(method: .post), encoding: [1]))?.contains("\n") == true)
    }

    @Test(arguments: [Double.nan, .infinity]) func numbersOutsideOfJSONAreTypedErrorsForEncodables(value: Double) {
        let error = #expect(throws: SerializationError.self) {
            try JSONRequestSerializer().serialize(try makeRequest(method: .post), encoding: ["a": value])
        }
        #expect(error?.code == .encodingFailed)
        #expect(error?.underlying is EncodingError)
    }
}
