import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct JSONRequestTests {
    private func body(_ parameters: RequestParameters, _ options: JSONValue.WritingOptions = .init()) throws -> String?
    {
        let serializer = JSONRequestSerializer(options: options)
        return bodyText(try serializer.serialize(try makeRequest(method: .post), parameters: parameters))
    }

    @Test(
        arguments: [
            (["key": "value"], #"{"key":"value"}"#),
            (["a", 1, ParameterValue.null, true, false], #"["a",1,null,true,false]"#),
            (["b": 1, "a": ["d": [], "c": [:]] as ParameterValue], #"{"b":1,"a":{"d":[],"c":{}}}"#), ([:], "{}"),
            ([], "[]"),
            (["a": "\"\\/\u{8}\u{C}\n\r\t\u{1}\u{1F}"], #"{"a":"\"\\/\u0008\u000C\n\r\t\u0001\u001F"}"#),
            (["a": "é漢😀\u{2028}"], "{\"a\":\"é漢😀\u{2028}\"}"),
            (["a": 1.0, "b": 1.5, "c": -0.0], #"{"a":1,"b":1.5,"c":-0}"#),
            (["a": 1e300, "b": Double.leastNonzeroMagnitude], #"{"a":1e+300,"b":5e-324}"#),
            (["a": UInt64.max, "b": Int64.min], #"{"a":18446744073709551615,"b":-9223372036854775808}"#),
            (["a": Data([1, 2, 3])], #"{"a":"AQID"}"#),
            (["a": Date(timeIntervalSince1970: 86400)], #"{"a":"1970-01-02T00:00:00Z"}"#),
            (["a": 1, "b": 2, "a": 3], #"{"a":3,"b":2}"#),
        ] as [(RequestParameters, String)])
    func parametersAreWritten(parameters: RequestParameters, expected: String) throws {
        #expect(try body(parameters) == expected)
    }

    @Test func optionsSortAndIndent() throws {
        let options = JSONValue.WritingOptions(sortsKeys: true, isPretty: true)
        let text = try body(["b": [1, 2], "a": [:] as ParameterValue, "c": ["x": []] as ParameterValue], options)
        #expect(
            text == """
                {
                  "a": {},
                  "b": [
                    1,
                    2
                  ],
                  "c": {
                    "x": []
                  }
                }
                """
        )
    }

    @Test func contentTypeIsSetUnlessPresent() throws {
        let serializer = JSONRequestSerializer()
        let plain = try serializer.serialize(try makeRequest(method: .put), parameters: ["a": 1])
        #expect(plain.headerFields[.contentType] == "application/json")
        let own = try makeRequest(method: .put, headerFields: [.contentType: "application/vnd.x+json"])
        let kept = try serializer.serialize(own, parameters: ["a": 1])
        #expect(kept.headerFields[values: .contentType] == ["application/vnd.x+json"])
    }

    @Test func noParametersMakeNoBody() throws {
        let request = try JSONRequestSerializer().serialize(try makeRequest(method: .post), parameters: nil)
        #expect(request.body == nil)
        #expect(request.headerFields[.contentType] == nil)
    }

    @Test(arguments: [HTTPRequest.Method.get, .head, .delete])
    func queryMethodsUseTheQuery(method: HTTPRequest.Method) throws {
        let request = try JSONRequestSerializer().serialize(try makeRequest(method: method), parameters: ["a": [1]])
        #expect(request.url.query(percentEncoded: true) == "a%5B%5D=1")
        #expect(request.body == nil)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity]) func numbersOutsideOfJSONAreTypedErrors(value: Double) {
        let error = #expect(throws: SerializationError.self) { try body(["a": [value]]) }
        #expect(error?.code == .encodingFailed)
    }

    @Test func setsAreRefused() {
        let error = #expect(throws: SerializationError.self) { try body(["a": Set([1])]) }
        #expect(error?.code == .invalidParameters)
        #expect(error?.message.isEmpty == false)
    }

    @Test func nestingIsLimited() throws {
        var value: ParameterValue = 1
        for _ in 0..<512 { value = [value] }
        #expect(try body(RequestParameters(value)) != nil)
        let error = #expect(throws: SerializationError.self) { try body(RequestParameters([value])) }
        #expect(error?.code == .nestedTooDeep)
    }
}
