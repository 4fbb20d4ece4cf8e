import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct CodableTests {
    private func copy<T: Codable>(_ value: T) throws -> T {
        try JSONDecoder().decode(T.self, from: try JSONEncoder().encode(value))
    }

    @Test func requestSerializersSurviveCoding() throws {
        var query = QueryEncoder()
        query.arrayStyle = .indices
        query.nestingStyle = .dots
        query.sortsKeys = false
        query.boolStyle = .words
        query.nullStyle = .dropped
        query.emptyCollectionStyle = .emptyValue
        query.spaceStyle = .plus
        var form = FormRequestSerializer(methodsEncodingParametersInURL: [.post, .get], queryEncoder: query)
        form.requestOptions.timeout = .milliseconds(1500)
        form.requestOptions.cachePolicy = .reloadIgnoringCache
        try form.headerFields.set("x", forName: "X-A")
        #expect(try copy(form) == form)
        let json = JSONRequestSerializer(
            options: JSONWritingOptions(sortsKeys: true, isPretty: true), queryEncoder: query)
        #expect(try copy(json) == json)
        let plist = PropertyListRequestSerializer(format: .binary, headerFields: [:])
        #expect(try copy(plist) == plist)
        #expect(try copy(form) != FormRequestSerializer())
    }

    @Test func whatIsMissingHasItsDefault() throws {
        let empty = Data("{}".utf8)
        #expect(try JSONDecoder().decode(QueryEncoder.self, from: empty) == QueryEncoder())
        #expect(try JSONDecoder().decode(RequestSerializerSettings.self, from: empty) == RequestSerializerSettings())
        #expect(try JSONDecoder().decode(RequestOptions.self, from: empty) == RequestOptions())
        #expect(try JSONDecoder().decode(JSONParsingOptions.self, from: empty) == JSONParsingOptions())
        #expect(try JSONDecoder().decode(ResponseValidation.self, from: empty) == .none)
    }

    @Test func aClosureCannotBeCoded() {
        let serializer = FormRequestSerializer(queryEncoder: QueryEncoder { _, _ in "" })
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(serializer) }
    }

    @Test func responseSerializersSurviveCoding() throws {
        var codes = RangeSet(200..<300)
        codes.insert(contentsOf: 404..<405)
        var validation = ResponseValidation(statusCodes: codes, contentTypes: ["a/b"])
        validation.acceptsEmptyBody = false
        #expect(try copy(validation) == validation)
        #expect(try copy(ResponseValidation.none) == .none)
        let options = JSONParsingOptions(maximumDepth: 3, allowsFragments: false, duplicateNames: .refused)
        let json = JSONResponseSerializer(validation: validation, removesNullValues: true, options: options)
        #expect(try copy(json) == json)
        let text = StringResponseSerializer(validation: validation, fallbackCharset: .windows1252)
        #expect(try copy(text) == text)
        let plist = PropertyListResponseSerializer(options: PropertyListParsingOptions(maximumDepth: 3))
        #expect(try copy(plist) == plist)
        #expect(
            try copy(DataResponseSerializer(validation: validation)) == DataResponseSerializer(validation: validation))
        #expect(try copy(QueryParser()) == QueryParser())
    }

    @Test(
        arguments: [
            #"{"statusCodes":[[1]]}"#, #"{"statusCodes":[[3,2]]}"#, #"{"statusCodes":[[1,2,3]]}"#,
        ])
    func damagedStatusesAreErrors(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ResponseValidation.self, from: Data(text.utf8)) }
    }

    @Test func damagedNamesAreErrors() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([Charset].self, from: Data(#"["klingon"]"#.utf8))
        }
        let text = #"{"methodsEncodingParametersInURL":["G T"]}"#
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(RequestSerializerSettings.self, from: Data(text.utf8))
        }
    }

    @Test func limitsHoldAfterDecoding() throws {
        let json = try JSONDecoder().decode(JSONParsingOptions.self, from: Data(#"{"maximumDepth":1000000}"#.utf8))
        #expect(json.maximumDepth == 1024)
        let text = #"{"depth":1000000,"maximumExpansion":2}"#
        let plist = try JSONDecoder().decode(PropertyListParsingOptions.self, from: Data(text.utf8))
        #expect(plist.maximumDepth == 512)
    }

    private struct Envelope: Codable, Equatable { var kind: String, payload: JSONValue }

    @Test func jsonValuesArePartsOfTypes() throws {
        let text =
            #"{"kind":"a","payload":{"z":[1,-2.5,"x",true,null,{}],"big":18446744073709551615,"a":9007199254740993}}"#
        let envelope = try JSONDecoder().decode(Envelope.self, from: Data(text.utf8))
        #expect(envelope.payload["z"] == [1, -2.5, "x", true, nil, [:]])
        #expect(envelope.payload["big"] == .number(JSONNumber(UInt64.max)))
        #expect(envelope.payload["a"]?.int == 9_007_199_254_740_993)
        #expect(try copy(envelope) == envelope)
        let plain: JSONValue = ["b": 1, "a": [1.5, nil, "é", false]]
        #expect(try copy(plain) == plain)
        #expect(try Parameters(encoding: plain) == ["b": 1, "a": [1.5, nil, "é", false] as ParameterValue])
    }
}
