import CommandSupport
import FoundationEssentials
import LinnetJSON
import Testing

@Suite(.timeLimit(.minutes(1))) struct JSONCodingTests {
    private func copy<T: Codable>(_ value: T) throws -> T {
        try JSONDecoder().decode(T.self, from: try JSONEncoder().encode(value))
    }

    // MARK: Options

    @Test func everyOptionSurvivesCoding() throws {
        let parsing = JSONValue.ParsingOptions(
            maximumDepth: 3, allowsFragments: false, duplicateNames: .refused, maximumMemory: 1000)
        #expect(unchangedSettings(in: parsing, from: JSONValue.ParsingOptions()) == [])
        #expect(try copy(parsing) == parsing)
        let writing = JSONValue.WritingOptions(sortsKeys: true, isPretty: true)
        #expect(unchangedSettings(in: writing, from: JSONValue.WritingOptions()) == [])
        #expect(try copy(writing) == writing)
    }

    @Test func missingOptionsHaveTheirDefaults() throws {
        let empty = Data("{}".utf8)
        #expect(try JSONDecoder().decode(JSONValue.ParsingOptions.self, from: empty) == JSONValue.ParsingOptions())
        #expect(try JSONDecoder().decode(JSONValue.WritingOptions.self, from: empty) == JSONValue.WritingOptions())
    }

    @Test func limitsHoldAfterDecoding() throws {
        let text = Data(#"{"maximumDepth":1000000}"#.utf8)
        #expect(try JSONDecoder().decode(JSONValue.ParsingOptions.self, from: text).maximumDepth == 1024)
    }

    // MARK: Trees

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
    }

    @Test func aTreeFromADecoderWithoutLimitsIsLimitedInDepth() throws {
        func list(_ depth: Int) -> Data {
            let (opening, closing) = ("<array>", "</array>")
            let arrays = String(repeating: opening, count: depth) + String(repeating: closing, count: depth)
            return Data("<plist version=\"1.0\">\(arrays)</plist>".utf8)
        }
        var value = try PropertyListDecoder().decode(JSONValue.self, from: list(500))
        var depth = 0
        while let inner = value[0] { (value, depth) = (inner, depth + 1) }
        #expect(depth == 499)
        let error = #expect(throws: DecodingError.self) {
            try PropertyListDecoder().decode(JSONValue.self, from: list(600))
        }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.debugDescription == "The value is nested deeper than 512 levels.")
    }

    // MARK: Coders

    private struct Names: Codable, Equatable { var createdAt: Int }

    @Test func decodersAreValues() throws {
        var first = JSONBodyDecoder()
        first.keyDecodingStrategy = .convertFromSnakeCase
        var second = first
        second.keyDecodingStrategy = .useDefaultKeys
        let text = Data(#"{"created_at":1}"#.utf8)
        #expect(try first.decode(Names.self, from: text) == Names(createdAt: 1))
        #expect(throws: DecodingError.self) { try second.decode(Names.self, from: text) }
        #expect(throws: DecodingError.self) { try JSONBodyDecoder().decode(Names.self, from: text) }
    }

    @Test func encodersAreValues() throws {
        var writer = JSONBodyEncoder()
        let plain = writer
        writer.keyEncodingStrategy = .convertToSnakeCase
        #expect(try writer.encode(Names(createdAt: 1)) == Data(#"{"created_at":1}"#.utf8))
        #expect(try plain.encode(Names(createdAt: 1)) == Data(#"{"createdAt":1}"#.utf8))
    }

    private struct Order: Codable, Equatable {
        var created: Date
        var price: Decimal
        var raw: Data
    }

    @Test(arguments: [0, 0.125, 0.999, 1_893_553_445, -1e9] as [Double])
    func theDefaultsReadTheirOwnTexts(seconds: Double) throws {
        let price = try #require(Decimal(string: "12345678901234567890.123456789"))
        let order = Order(created: Date(timeIntervalSince1970: seconds), price: price, raw: Data([1, 255]))
        let text = try JSONBodyEncoder().encode(order)
        #expect(try JSONBodyDecoder().decode(Order.self, from: text) == order)
    }
}
