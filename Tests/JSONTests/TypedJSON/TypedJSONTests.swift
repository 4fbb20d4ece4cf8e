import CommandSupport
import FoundationEssentials
import LinnetJSON
import Testing

/// `JSONBodyDecoder` compared with Foundation's `JSONDecoder`.
@Suite(.timeLimit(.minutes(5))) struct TypedJSONTests {
    // MARK: Random values with each strategy

    struct Strategy: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let encoder: @Sendable (JSONEncoder) -> Void
        let decoder: @Sendable (JSONDecoder) -> Void

        init(
            _ name: String, _ encoder: @escaping @Sendable (JSONEncoder) -> Void = { _ in },
            _ decoder: @escaping @Sendable (JSONDecoder) -> Void = { _ in }
        ) {
            (testDescription, self.encoder, self.decoder) = (name, encoder, decoder)
        }
    }

    static let strategies = [
        Strategy("defaults"),
        Strategy(
            "seconds", { $0.dateEncodingStrategy = .secondsSince1970 }, { $0.dateDecodingStrategy = .secondsSince1970 }),
        Strategy(
            "milliseconds", { $0.dateEncodingStrategy = .millisecondsSince1970 },
            { $0.dateDecodingStrategy = .millisecondsSince1970 }),
        Strategy("ISO 8601", { $0.dateEncodingStrategy = .iso8601 }, { $0.dateDecodingStrategy = .iso8601 }),
        Strategy(
            "own dates", { $0.dateEncodingStrategy = .secondsSince1970 },
            {
                $0.dateDecodingStrategy = .custom { decoder in
                    let value = try decoder.singleValueContainer().decode(Double.self)
                    return Date(timeIntervalSince1970: value + Double(decoder.codingPath.count))
                }
            }),
        Strategy(
            "deferred data", { $0.dataEncodingStrategy = .deferredToData },
            { $0.dataDecodingStrategy = .deferredToData }),
        Strategy(
            "own data", { _ in },
            {
                $0.dataDecodingStrategy = .custom { decoder in
                    let path = decoder.codingPath.map(\.stringValue).joined(separator: "/")
                    return Data((try String(from: decoder) + path).utf8)
                }
            }),
        Strategy(
            "snake case", { $0.keyEncodingStrategy = .convertToSnakeCase },
            { $0.keyDecodingStrategy = .convertFromSnakeCase }),
        Strategy(
            "own keys", { $0.keyEncodingStrategy = .custom { AnyName("x" + ($0.last?.stringValue ?? "")) } },
            { $0.keyDecodingStrategy = .custom { AnyName(String(($0.last?.stringValue ?? "").dropFirst())) } }),
        Strategy(
            "pretty", { $0.outputFormatting = [.prettyPrinted, .sortedKeys] },
            {
                $0.nonConformingFloatDecodingStrategy = .convertFromString(
                    positiveInfinity: "+", negativeInfinity: "-", nan: "?")
            }),
    ]

    @Test(arguments: strategies) func valuesEqualFoundations(strategy: Strategy) throws {
        var dice = SplitMix(seed: RandomSeed.next())
        let encoder = JSONEncoder()
        strategy.encoder(encoder)
        for _ in 0..<25 {
            let data = try encoder.encode(Branch.random(depth: 2, &dice))
            expectFoundationsVerdict(Branch.self, data, strategy.decoder)
            expectFoundationsVerdict([Branch].self, data, strategy.decoder)
            expectFoundationsVerdict(Leaf.self, data, strategy.decoder)
        }
    }

    @Test func standardValuesRoundTrip() throws {
        var dice = SplitMix(seed: RandomSeed.next())
        for _ in 0..<25 {
            let branch = Branch.random(depth: 1, &dice)
            #expect(try JSONBodyDecoder().decode(Branch.self, from: JSONBodyEncoder().encode(branch)) == branch)
        }
    }

    // MARK: Mutated texts

    @Test(arguments: strategies) func mutatedTextsHaveTheVerdictOfFoundation(strategy: Strategy) throws {
        var dice = SplitMix(seed: RandomSeed.next())
        let encoder = JSONEncoder()
        strategy.encoder(encoder)
        let special = Array("{}[]:,\"\\/0123456789.-+eEnulltrafs_ \u{1}".utf8)
        for _ in 0..<40 {
            var leaves = [Leaf.random(&dice), Leaf.random(&dice)]
            // Foundation's decoder rounds longer integers that a mutation gives a fraction.
            for index in leaves.indices { (leaves[index].id, leaves[index].wide) = (-123_456, 9_876_543) }
            let text = [UInt8](try encoder.encode(leaves))
            for _ in 0..<10 {
                var bytes = text
                for _ in 0..<Int.random(in: 1...2, using: &dice) {
                    let index = Int.random(in: 0..<bytes.count, using: &dice)
                    switch Int.random(in: 0...3, using: &dice) {
                    case 0: bytes[index] = .random(in: 1...255, using: &dice)
                    case 1: bytes.remove(at: index)
                    case 2: bytes.insert(special.randomElement(using: &dice) ?? 0, at: index)
                    default: bytes[index] = special.randomElement(using: &dice) ?? 0
                    }
                }
                expectFoundationsVerdict([Leaf].self, Data(bytes), strategy.decoder)
            }
        }
    }

    // MARK: The texts of JSONValueTests, and others that are or are not JSON

    static let texts = [
        "null", "true", " \t\r\nfalse ", "0", "-1", "1.5", "1e3", "\"\"", "\"a\"", "[]", "{}", "[ 1 , 2 ]",
        "{\"a\" : [ {} ] }", #""\"\\\/\b\f\n\r\t""#, #""\u00e9\u6F22\ud83d\ude00x""#, "\"é漢😀\"",
        #"{"a":1,"a":3}"#, "\u{FEFF}1", "\u{FEFF}[1]", "9223372036854775807", "-9223372036854775808",
        #""\u0000""#, "\"\u{7F}\"", "", " ", "[", "[1", "{\"a\"", "\"a", "tru", "-", "1.", "1e", "1e+", "[1,]", "{,}",
        "[,]", "[,1]", "{\"a\":}", "{a:1}", "[1 2]", "{\"a\" 1}", "'a'", "nul1", "NaN", "-Infinity", "<html>",
        "{\"a\":1,}", "01", "-01", ".5", "+1", "1.x", "1ex", "1 2", "{}x", "1a", "[]]", "0x1", #""\x""#, #""\u12g4""#,
        #""\ud800""#, #""\udc00""#, #""\ud800\u0041""#, #""\ud800\ud800""#, #""\u12"#, "\"\\", "\"a\nb\"",
        "\"\u{1}\"", "\"\\n\u{0}\"", "123456789012345678901234567890", "-0", "-0.0", "0.0", "0e5", "1e400", "-1e400",
        "1e-400", "5e-324", "2.4703282292062327e-324", "1.7976931348623159e308", "18446744073709551615",
        "18446744073709551616", "-9223372036854775809", "9223372036854775808", "1.10", "1E+2", "10e-1", "1e-1", "1e18",
        "1e19", "9007199254740993.0", "255", "256", "255.0", "2.55e2", "16777217", "3.5e38", "1e-50", "0.1",
        "170141183460469231731687303715884105727", "170141183460469231731687303715884105728", "1e99999999999999999999",
        "340282366920938463463374607431768211455", "0e99999999999999999999", "1e-99999999999999999999",
        "[[1]]", "[null]", "[{}]", "{\"a\":null}", "{\"a\":\"x\"}", "{\"a\":{\"a\":1}}", "{\"1\":\"x\"}", "[1,\"2\"]",
        "{\"\\u0061\":1}", "\"YQ==\"", "\"YQ\"", "\"!\"", "\"http://a b\"", "\"http://a/b c\"", "\"http://[\"",
        "\"2020-01-01T00:00:00Z\"", "\"2020-01-01\"", "\"2020-01-01T00:00:00.5Z\"",
    ]

    @Test(arguments: texts) func textsHaveTheVerdictOfFoundation(text: String) {
        func check<Value: Decodable & Equatable>(_ type: Value.Type) {
            for settings in Self.strategies {
                expectFoundationsVerdict(type, text, settings.decoder)
                expectFoundationsVerdict([Value].self, "[\(text)]", settings.decoder)
                expectFoundationsVerdict([Value?].self, "[\(text)]", settings.decoder)
                expectFoundationsVerdict([String: Value].self, "{\"xa\":\(text)}", settings.decoder)
            }
        }
        check(Bool.self)
        check(String.self)
        check(Double.self)
        check(Float.self)
        check(Int.self)
        check(Int8.self)
        check(UInt8.self)
        check(Int32.self)
        check(UInt64.self)
        check(Int128.self)
        check(UInt128.self)
        check(Decimal.self)
        check(Data.self)
        check(Date.self)
        check(URL.self)
        check(Leaf.Kind.self)
        check(Leaf.self)
        check([Int].self)
        check([[Int]].self)
        check([String: Int].self)
        check([Int: String].self)
    }

    /// The scanner accepts the same texts as the parser of trees, and refuses others with the same error.
    @Test(arguments: texts) func syntaxErrorsEqualThoseFromJSONValue(text: String) {
        struct Anything: Decodable { init(from decoder: any Decoder) throws {} }
        let expected = Result { () throws(JSONSyntaxError) in _ = try JSONValue(parsing: Data(text.utf8)) }
        let result = Result { try JSONBodyDecoder().decode(Anything.self, from: Data(text.utf8)) }
        switch (expected, result) {
        case (.success, .success): break
        case (.failure(let error), .failure(DecodingError.dataCorrupted(let context))):
            #expect(context.underlyingError as? JSONSyntaxError == error)
            #expect(context.debugDescription == error.description)
        default: Issue.record("\(text): \(result) instead of \(String(describing: expected))")
        }
    }
}
