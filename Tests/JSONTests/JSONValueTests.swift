import CommandSupport
import FoundationEssentials
import LinnetJSON
import Testing

@Suite(.timeLimit(.minutes(5))) struct JSONValueTests {
    private func parse(_ text: String, _ options: JSONValue.ParsingOptions = .init()) throws -> JSONValue {
        try JSONValue(parsing: Data(text.utf8), options: options)
    }

    @Test(
        arguments: [
            ("null", nil), ("true", true), (" \t\r\nfalse ", false), ("0", 0), ("-1", -1), ("1.5", 1.5),
            ("1e3", 1000.0),
            ("\"\"", ""), ("\"a\"", "a"), ("[]", []), ("{}", [:]), ("[ 1 , 2 ]", [1, 2]),
            ("{\"a\" : [ {} ] }", ["a": [[:]]]),
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\u6F22\ud83d\ude00x""#, "é漢😀x"),
            ("\"é漢😀\"", "é漢😀"),
            (#"{"a":1,"b":2,"a":3}"#, ["a": 3, "b": 2]), ("\u{FEFF}1", 1),
            ("9223372036854775807", .number(JSONNumber(Int64.max))),
            ("-9223372036854775808", .number(JSONNumber(Int64.min))), (#""\u0000""#, "\u{0}"), ("\"\u{7F}\"", "\u{7F}"),
        ] as [(String, JSONValue)])
    func textsAreRead(text: String, expected: JSONValue) throws {
        #expect(try parse(text) == expected)
    }

    @Test(
        arguments: [
            ("", .unexpectedEnd), ("[", .unexpectedEnd), ("[1", .unexpectedEnd), ("{\"a\"", .unexpectedEnd),
            ("\"a", .unexpectedEnd),
            ("tru", .unexpectedEnd), ("-", .unexpectedEnd), ("1.", .unexpectedEnd), ("1e", .unexpectedEnd),
            ("1e+", .unexpectedEnd),
            ("[1,]", .unexpectedCharacter), ("{,}", .unexpectedCharacter), ("{\"a\":}", .unexpectedCharacter),
            ("{a:1}", .unexpectedCharacter),
            ("[1 2]", .unexpectedCharacter), ("{\"a\" 1}", .unexpectedCharacter), ("'a'", .unexpectedCharacter),
            ("nul1", .unexpectedCharacter),
            ("NaN", .unexpectedCharacter), ("-Infinity", .unexpectedCharacter), ("<html>", .unexpectedCharacter),
            ("{\"a\":1,}", .unexpectedCharacter),
            ("01", .invalidNumber), ("-01", .invalidNumber), (".5", .invalidNumber), ("+1", .invalidNumber),
            ("1.x", .invalidNumber), ("1ex", .invalidNumber),
            ("1 2", .trailingCharacters), ("{}x", .trailingCharacters), ("1a", .trailingCharacters),
            ("[]]", .trailingCharacters), ("0x1", .trailingCharacters),
            (#""\x""#, .invalidEscape), (#""\u12g4""#, .invalidEscape), (#""\ud800""#, .invalidEscape),
            (#""\udc00""#, .invalidEscape),
            (#""\ud800\u0041""#, .invalidEscape), (#""\ud800\ud800""#, .invalidEscape), (#""\u12"#, .unexpectedEnd),
            ("\"\\", .unexpectedEnd),
            ("\"a\nb\"", .controlCharacter), ("\"\u{1}\"", .controlCharacter), ("\"\\n\u{0}\"", .controlCharacter),
        ] as [(String, JSONSyntaxError.Kind)])
    func errorsDescribeTheirKind(text: String, kind: JSONSyntaxError.Kind) {
        let error = #expect(throws: JSONSyntaxError.self) { try parse(text) }
        #expect(error?.kind == kind)
    }

    @Test func errorsHaveAnOffset() {
        #expect(#expect(throws: JSONSyntaxError.self) { try parse("[1, 2, x]") }?.offset == 7)
        #expect(#expect(throws: JSONSyntaxError.self) { try parse("{} x") }?.offset == 3)
    }

    @Test(
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0x5C, 0x6E, 0x80, 0x22],
            [0x22, 0xE2, 0x82, 0x22],
        ] as [[UInt8]])
    func stringsMustBeUTF8(bytes: [UInt8]) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: Data(bytes)) }
        #expect(error?.kind == .invalidUTF8)
    }

    @Test(arguments: [
        "123456789012345678901234567890", "-0", "0.1000000000000000055511151231257827", "1e400", "18446744073709551615",
        "-9223372036854775809", "1.10", "1E+2",
    ])
    func numbersKeepAllTheirDigits(text: String) throws {
        let value = try parse(text)
        #expect(value.description == text)
        guard case .number(let number) = value else {
            Issue.record("\(text) is no number.")
            return
        }
        #expect(number.text == text)
        #expect(number.doubleValue == Double(text))
    }

    @Test func numbersConvertOnlyIfTheyFit() throws {
        #expect(try parse("18446744073709551615") == .number(JSONNumber(UInt64.max)))
        #expect(try parse("18446744073709551615").int == nil)
        #expect(try parse("1e3").int == 1000)
        #expect(try parse("1.5").int == nil)
        #expect(try parse("1e400").double == .infinity)
        #expect(JSONNumber(Double.nan) == nil)
        #expect(try parse("1.50") == 1.5)
        #expect(try parse("1.50").hashValue == (1.5 as JSONValue).hashValue)
        #expect(try parse("1") != 1.0)
    }

    @Test func depthIsLimitedAndNeverOverflows() throws {
        let options = JSONValue.ParsingOptions(maximumDepth: 3)
        #expect(try parse("[[{}]]", options) == [[[:]]])
        #expect(#expect(throws: JSONSyntaxError.self) { try parse("[[[[]]]]", options) }?.kind == .nestedTooDeep)
        let deep = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(try parse(deep) != nil)
        let deeper = String(repeating: "{\"a\":", count: 1_000_000)
        let most = JSONValue.ParsingOptions(maximumDepth: .max)
        #expect(most.maximumDepth == 1024)
        #expect(#expect(throws: JSONSyntaxError.self) { try parse(deeper, most) }?.kind == .nestedTooDeep)
        #expect(#expect(throws: JSONSyntaxError.self) { try parse(deeper) }?.offset == 512 * 5)
        #expect(try parse("1", JSONValue.ParsingOptions(maximumDepth: -1)) == 1)
    }

    @Test func duplicateNamesFollowTheirPolicy() throws {
        let text = #"{"a":1,"b":{"c":1,"c":2},"a":3}"#
        #expect(try parse(text) == ["a": 3, "b": ["c": 2]])
        #expect(try parse(text).object?.keys == ["a", "b"])
        #expect(try parse(text, JSONValue.ParsingOptions(duplicateNames: .first)) == ["a": 1, "b": ["c": 1]])
        let refused = JSONValue.ParsingOptions(duplicateNames: .refused)
        let error = #expect(throws: JSONSyntaxError.self) { try parse(text, refused) }
        #expect(error?.kind == .duplicateName)
        #expect(error?.offset == 18)
        #expect(try parse(#"{"a":{"a":[{"a":1}]}}"#, refused)["a"]?["a"]?[0]?["a"] == 1)
        #expect(throws: JSONSyntaxError.self) { try parse(#"{"a":1,"\u0061":2}"#, refused) }
    }

    @Test func fragmentsCanBeRefused() throws {
        let options = JSONValue.ParsingOptions(allowsFragments: false)
        #expect(#expect(throws: JSONSyntaxError.self) { try parse(" \"a\"", options) }?.kind == .fragment)
        #expect(try parse("[]", options) == [])
    }

    @Test func nullsAreRemovedAtAnyDepth() throws {
        let value = try parse(#"{"a":null,"b":[null,1,{"c":null,"d":[null]}],"e":{}}"#)
        #expect(value.removingNullValues() == ["b": [1, ["d": []]], "e": [:]])
        #expect(JSONValue.null.removingNullValues() == .null)
    }

    @Test func subscriptsReachDown() throws {
        let value = try parse(#"{"data":[{"user":{"name":"Ada"}}]}"#)
        #expect(value["data"]?[0]?["user"]?["name"]?.string == "Ada")
        #expect(value["data"]?[1] == nil)
        #expect(value["data"]?[-1] == nil)
        #expect(value[0] == nil)
        #expect(value["data"]?["x"] == nil)
    }

    @Test func objectsKeepOrderAndFindNamesHoweverLarge() throws {
        let text = "{" + (0..<2000).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + ",\"k7\":-7}"
        let object = try #require(try parse(text).object)
        #expect(object.count == 2000)
        #expect(object.keys.prefix(3) == ["k0", "k1", "k2"])
        #expect(object["k1999"] == 1999)
        #expect(object["k7"] == -7)
        var changed = object
        changed["k0"] = nil
        #expect(changed.first?.key == "k1")
        #expect(changed["k1999"] == 1999)
        #expect(changed["k0"] == nil)
    }

    @Test func namesAreComparedByBytes() throws {
        let object = try #require(try parse("{\"é\":1,\"e\\u0301\":2}").object)
        #expect(object.count == 2)
    }

    @Test func orderOfNamesDoesNotAffectEquality() throws {
        let one = try parse(#"{"a":1,"b":[2]}"#)
        let other = try parse(#"{"b":[2],"a":1}"#)
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one != (try parse(#"{"a":1,"b":[3]}"#)))
    }

    @Test func writtenValuesReadBack() throws {
        var dice = SplitMix(seed: RandomSeed.next())
        for _ in 0..<300 {
            let value = random(depth: 4, &dice)
            for options in [JSONValue.WritingOptions(), JSONValue.WritingOptions(sortsKeys: true, isPretty: true)] {
                #expect(try JSONValue(parsing: value.data(options: options)) == value)
            }
        }
    }

    private func random(depth: Int, _ dice: inout SplitMix) -> JSONValue {
        switch Int.random(in: 0...(depth > 0 ? 6 : 4), using: &dice) {
        case 0: return .null
        case 1: return .bool(.random(using: &dice))
        case 2: return .number(JSONNumber(Int.random(in: .min ... .max, using: &dice)))
        case 3:
            let number = Double(bitPattern: .random(in: 0 ... .max, using: &dice))
            return JSONNumber(number).map(JSONValue.number) ?? .null
        case 4: return .string(RandomText.make(&dice))
        case 5: return .array((0..<Int.random(in: 0...4, using: &dice)).map { _ in random(depth: depth - 1, &dice) })
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...16, using: &dice) {
                object[RandomText.make(&dice)] = random(depth: depth - 1, &dice)
            }
            return .object(object)
        }
    }

    @Test func mutatedTextsNeverCrash() throws {
        let text = Array(#"{"a":[1,-2.5e3,"x\u00e9\ud83d\ude00",true,false,null,{"b":[[]]}],"c":"é"}"#.utf8)
        var dice = SplitMix(seed: RandomSeed.next())
        for _ in 0..<3000 {
            var bytes = text
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                bytes[Int.random(in: 0..<bytes.count, using: &dice)] = .random(in: 0...255, using: &dice)
            }
            _ = try? JSONValue(parsing: Data(bytes.prefix(Int.random(in: 0...bytes.count, using: &dice))))
        }
    }

    // MARK: Memory

    private struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: @Sendable (Int) -> String
    }

    private static let shapes = [
        Shape(testDescription: "numbers") { "[" + String(repeating: "1,", count: $0) + "1]" },
        Shape(testDescription: "arrays") { "[" + String(repeating: "[],", count: $0) + "1]" },
        Shape(testDescription: "objects") { "[" + String(repeating: "{},", count: $0) + "1]" },
        Shape(testDescription: "strings") { "[" + String(repeating: "\"0123456789abcdef\",", count: $0) + "1]" },
        Shape(testDescription: "escaped strings") {
            "[" + String(repeating: "\"0123456789abcde\\n\",", count: $0) + "1]"
        },
        Shape(testDescription: "digits") { "[" + String(repeating: "0.12345678901234567,", count: $0) + "1]" },
        Shape(testDescription: "members") { "{" + (0..<$0).map { "\"\($0)\":1," }.joined() + "\"\":1}" },
    ]

    @Test(arguments: shapes) private func treesAreLimitedByTheirMemory(shape: Shape) throws {
        let text = shape.text(10_000)
        #expect(throws: Never.self) { try parse(text) }
        let options = JSONValue.ParsingOptions(maximumMemory: 10_000 * MemoryLayout<JSONValue>.stride)
        let error = #expect(throws: JSONSyntaxError.self) { try parse(text, options) }
        #expect(error?.kind == .tooLarge)
        #expect((0..<text.utf8.count).contains(error?.offset ?? -1))
        #expect(error?.description.hasPrefix("The text is not JSON: too large at byte ") == true)
        #expect(throws: Never.self) { try parse("[1,[2],{\"a\":\"b\"}]", options) }
    }

    /// As elements of an array and as members of an object.
    @Test(arguments: shapes) private func decodedTreesAreLimitedByTheirMemory(shape: Shape) throws {
        let limit = 1000 * MemoryLayout<JSONValue>.stride
        var decoder = JSONBodyDecoder()
        let data = Data("{\"a\":[\(shape.text(500))],\"b\":[\(shape.text(500))]}".utf8)
        #expect(throws: Never.self) { try decoder.decode([String: [JSONValue]].self, from: data) }
        decoder.maximumTreeMemory = limit
        let error = #expect(throws: DecodingError.self) { try decoder.decode([String: [JSONValue]].self, from: data) }
        var context: DecodingError.Context?
        if case .dataCorrupted(let found) = error { context = found }
        #expect(context?.debugDescription == "The values take more than \(limit) bytes of memory.")
        #expect(["a", "b"].contains(context?.codingPath.first?.stringValue))
        #expect(throws: Never.self) { try decoder.decode([JSONValue].self, from: Data("[1,[2],{\"a\":\"b\"}]".utf8)) }
    }

    @Test func theLimitOnMemoryIsStored() throws {
        #expect(JSONValue.ParsingOptions().maximumMemory == 536_870_912)
        let options = JSONValue.ParsingOptions(maximumMemory: 1000)
        #expect(try JSONDecoder().decode(JSONValue.ParsingOptions.self, from: JSONEncoder().encode(options)) == options)
    }
}
