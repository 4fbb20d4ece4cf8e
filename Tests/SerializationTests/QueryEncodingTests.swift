import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct QueryEncodingTests {
    @Test(arguments: QueryCase.all) func parametersAreEncoded(_ each: QueryCase) throws {
        #expect(try each.encoder.encode(each.parameters) == each.expected, "\(each.rule)")
    }

    @Test func tableHasAllCases() { #expect(QueryCase.all.count >= 120) }

    @Test func emojiAtTheEdgeOfAFNetworkingsBatchIsNotSplit() throws {
        let text = String(repeating: "a", count: 49) + "👴🏻👲🏼👨🏽" + String(repeating: "漢", count: 60)
        let encoded = try QueryEncoder().encode(["k": text])
        #expect(try QueryParser().pairs(in: encoded) == [ParameterValue.Entry("k", .string(text))])
    }

    @Test(arguments: [["a"], "a", 7, nil, .set([1])] as [ParameterValue])
    func valuesWithoutNamesAreRefused(value: ParameterValue) {
        let error = #expect(throws: SerializationError.self) { try QueryEncoder().encode(RequestParameters(value)) }
        #expect(error?.code == .invalidParameters)
    }

    @Test(arguments: [[[1]], [["a": 1]], [.set([1])]] as [ParameterValue])
    func commaSeparatedListsHoldPlainValuesOnly(value: ParameterValue) {
        var encoder = QueryEncoder()
        encoder.arrayStyle = .commaSeparated
        let error = #expect(throws: SerializationError.self) { try encoder.encode(["a": value]) }
        #expect(error?.code == .invalidParameters)
    }

    @Test(arguments: [false, true]) func nestingIsLimited(inArrays: Bool) throws {
        var value: ParameterValue = 1
        for _ in 0..<511 { value = inArrays ? [value] : ["a": value] }
        #expect(try QueryEncoder().encode(["a": value]).isEmpty == false)
        value = ["b": ["c": value]]
        let error = #expect(throws: SerializationError.self) { try QueryEncoder().encode(["a": value]) }
        #expect(error?.code == .nestedTooDeep)
    }

    @Test func tenMegabytesInOneTextAndManyNamesAreEncodedAndRead() throws {
        let text = String(repeating: "a ", count: 5_000_000)
        let encoded = try QueryEncoder().encode(["k": text])
        #expect(encoded.utf8.count == 20_000_002)
        #expect(try QueryParser().parse(encoded)["k"]?.text?.utf8.count == 10_000_000)
        let entries = (0..<50_000).map { ParameterValue.Entry("name\($0)", "value\($0)") }
        let many = try QueryEncoder().encode(RequestParameters(entries))
        #expect(many.utf8.count > 1_000_000)
        #expect(try QueryParser().parse(many).entries.count == 50_000)
        let array = try QueryEncoder().encode(["a": (0..<50_000).map { ["k": $0] }])
        #expect(try QueryParser().parse(array)["a"]?[49_999]?["k"] == "49999")
    }

    @Test func flattenedEntriesMatchTheEncodedText() throws {
        for each in QueryCase.all where each.encoder.emptyCollectionStyle == .dropped {
            let flattened = try each.encoder.flatten(each.parameters)
            var plain = QueryEncoder()
            plain.sortsKeys = false
            plain.nullStyle = each.encoder.nullStyle
            plain.boolStyle = each.encoder.boolStyle
            plain.spaceStyle = each.encoder.spaceStyle
            let again = try plain.encode(RequestParameters(flattened))
            #expect(again.replacing("%2C", with: ",") == each.expected.replacing("%2C", with: ","), "\(each.rule)")
        }
    }

    @Test func customEncodersWriteTheWholeText() throws {
        struct Reason: Error {}
        let encoder = QueryEncoder { parameters, request in
            "\(parameters.entries.count)@\(request?.method.rawValue ?? "none")"
        }
        #expect(try encoder.encode(["a": 1]) == "1@none")
        let query = try FormRequestSerializer(queryEncoder: encoder).serialize(try makeRequest(), parameters: ["a": 1])
        #expect(query.url.absoluteString == "https://example.org/p?1@GET")
        let body = try JSONRequestSerializer(methodsEncodingParametersInURL: [.post], queryEncoder: encoder)
            .serialize(try makeRequest(method: .post), parameters: ["a": 1, "b": 2])
        #expect(body.url.query() == "2@POST")
        let form = try FormRequestSerializer(queryEncoder: encoder)
            .serialize(try makeRequest(method: .put), parameters: [:])
        #expect(bodyText(form) == "0@PUT")
        let failing = FormRequestSerializer(queryEncoder: QueryEncoder { _, _ in throw Reason() })
        let error = #expect(throws: SerializationError.self) {
            try failing.serialize(try makeRequest(), parameters: ["a": 1])
        }
        #expect(error?.code == .encodingFailed)
        #expect(error?.underlying is Reason)
    }

    @Test(arguments: ["a#b", "a b", "ü", "a\r\nb", "\"", "a\u{0}"])
    func charactersThatAreNotAllowedInAQueryAreRefusedFromAClosure(text: String) {
        let serializer = FormRequestSerializer(queryEncoder: QueryEncoder { _, _ in text })
        let error = #expect(throws: SerializationError.self) {
            try serializer.serialize(try makeRequest(), parameters: ["a": 1])
        }
        #expect(error?.code == .encodingFailed)
    }

    @Test func encodersWithClosuresAreEqualOnlyToTheirCopies() {
        let encoder = QueryEncoder { _, _ in "" }
        let copy = encoder
        #expect(encoder == copy)
        #expect(encoder != QueryEncoder { _, _ in "" })
        #expect(encoder != QueryEncoder())
    }
}
