import CommandSupport
import FoundationEssentials
import LinnetJSON
import Testing

/// Deliberate differences between `JSONBodyDecoder` and Foundation's `JSONDecoder`, and inputs that both must accept.
@Suite(.timeLimit(.minutes(1))) struct TypedJSONDifferenceTests {
    private func ours<Value: Decodable & Equatable>(_ type: Value.Type, _ data: Data) -> Verdict<Value> {
        Verdict { try JSONBodyDecoder(JSONDecoder()).decode(type, from: data) }
    }

    private func foundations<Value: Decodable & Equatable>(_ type: Value.Type, _ data: Data) -> Verdict<Value> {
        Verdict { try JSONDecoder().decode(type, from: data) }
    }

    private struct Single: Decodable, Equatable { var a: Int }

    @Test(arguments: [
        #"{"a":1,}"#, #"{"a":1,"b":01}"#, #"{"a":1,"b":1.}"#, #"{"a":1,"b":-}"#, #"{"a":1,"b":"\x"}"#,
        "{\"a\":1,\"b\":\"\u{1}\"}", #"{"a":1,"b":"\ud800"}"#,
    ])
    func theWholeTextMustBeJSON(text: String) {
        #expect(foundations(Single.self, Data(text.utf8)) == .value(Single(a: 1)))
        #expect(ours(Single.self, Data(text.utf8)) == .error(kind: "dataCorrupted", path: []))
    }

    @Test func theWholeTextMustBeUTF8() {
        let text = Data(#"{"a":1,"b":""#.utf8) + [0xFF] + Data("\"}".utf8)
        #expect(foundations(Single.self, text) == .value(Single(a: 1)))
        #expect(ours(Single.self, text) == .error(kind: "dataCorrupted", path: []))
    }

    @Test(arguments: ["1.5", "9223372036854775808", "1e19", "-1e400"])
    func numbersThatDoNotFitAreReportedAtTheirPath(text: String) {
        let data = Data("[{\"a\":\(text)}]".utf8)
        #expect(foundations([Single].self, data) == .error(kind: "dataCorrupted", path: []))
        #expect(ours([Single].self, data) == .error(kind: "dataCorrupted", path: ["Index 0", "a"]))
    }

    @Test func datesInAnotherFormatAreReportedAtTheirPath() {
        var decoder = JSONBodyDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let verdict = Verdict { try decoder.decode([Date].self, from: Data(#"["May"]"#.utf8)) }
        #expect(verdict == .error(kind: "dataCorrupted", path: ["Index 0"]))
    }

    @Test(arguments: ["9223372036854775807.0", "9223372036854775807e0", "922337203685477580700e-2"])
    func integersWithAnExponentAreExact(text: String) {
        #expect(ours([Int].self, Data("[\(text)]".utf8)) == .value([.max]))
    }

    @Test func numbersWithAFractionAreNotIntegers() {
        let text = Data("[1234567890123456789.5]".utf8)
        #expect(foundations([Int].self, text) != .error(kind: "dataCorrupted", path: []))
        #expect(ours([Int].self, text) == .error(kind: "dataCorrupted", path: ["Index 0"]))
    }

    @Test(arguments: ["1e-400", "-1e-400", "0.1e-999", "1e-300", "1e-320", "0e-400"])
    func integersBelowTheLeastDoubleEqualFoundations(text: String) {
        expectFoundationsVerdict([Int].self, "[\(text)]")
        let data = Data("[\(text)]".utf8)
        #expect(ours([Int].self, data).isCorrupted == foundations([Int].self, data).isCorrupted)
        expectFoundationsVerdict([UInt8].self, "[\(text)]")
    }

    @Test(arguments: [
        #"{"a":1,"a":2}"#, #"{"a":1,"a":"x"}"#, #"{"a":"x","a":1}"#, #"{"a":null,"a":1}"#, #"{"b":0,"a":1,"\u0061":2}"#,
    ])
    func theFirstOfRepeatedNamesCountsAsInFoundation(text: String) {
        expectFoundationsVerdict([String: Int].self, text)
        expectFoundationsVerdict([String: Int?].self, text)
        expectFoundationsVerdict(Single.self, text)
    }

    /// Foundation's decoder takes the mark for UTF-16's.
    @Test func aMarkOfUTF32IsNotReadAsUTF16() {
        let text = Data([0xFF, 0xFE, 0, 0, 0x5B, 0, 0, 0, 0x31, 0, 0, 0, 0x5D, 0, 0, 0])
        #expect(foundations([Int].self, text).isCorrupted)
        #expect(ours([Int].self, text) == .value([1]))
    }

    @Test(
        arguments: [
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xC0, 0x80],
            [0xE0, 0x9F, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF],
        ] as [[UInt8]])
    func bytesThatAreNoScalarAreNoString(bytes: [UInt8]) {
        let text = Data("[\"".utf8) + bytes + Data("\"]".utf8)
        #expect(ours([String].self, text) == .error(kind: "dataCorrupted", path: []))
        #expect(ours([String].self, Data("[\"".utf8) + [0xED, 0x9F, 0xBF] + Data("\"]".utf8)) == .value(["\u{D7FF}"]))
    }

    /// The tape has the length of a shorter string in one word, and of a longer one in two.
    @Test(arguments: [1_048_574, 1_048_575, 1_048_576, 1_048_577])
    func stringsAreReadAtTheBoundOfTheirLength(count: Int) {
        let plain = String(repeating: "x", count: count)
        let escaped = String(repeating: "x", count: count - 2) + "\\n"
        let data = Data("[\"\(plain)\",\"\(escaped)\",\"\(plain)\",\"end\"]".utf8)
        let expected = [plain, String(repeating: "x", count: count - 2) + "\n", plain, "end"]
        #expect(ours([String].self, data) == .value(expected))
        let digits = Data("[1.\(String(repeating: "0", count: count - 2)),2]".utf8)
        #expect(ours([Double].self, digits) == .value([1, 2]))
    }

    @Test func zeroMayHaveAnExponent() {
        #expect(foundations([Double].self, Data("[0e5]".utf8)) == .error(kind: "dataCorrupted", path: []))
        #expect(ours([Double].self, Data("[0e5, -0.0E+1]".utf8)) == .value([0, 0]))
    }

    @Test func namesAreComparedByTheirBytes() {
        struct Accented: Decodable, Equatable { var é: Int }
        let text = Data("{\"e\u{301}\":1}".utf8)
        #expect(foundations(Accented.self, text) == .value(Accented(é: 1)))
        #expect(ours(Accented.self, text) == .error(kind: "keyNotFound é", path: []))
        #expect(ours(Accented.self, Data("{\"é\":1}".utf8)) == .value(Accented(é: 1)))
    }

    // MARK: Encodings

    @Test func otherEncodingsAreRecognized() throws {
        let text = #"["aé漢😀",null]"#
        let expected = Verdict<[String?]>.value(["aé漢😀", nil])
        let sixteen = Array(text.utf16)
        let thirtyTwo = text.unicodeScalars.map(\.value)
        func bytes<Unit: FixedWidthInteger>(_ units: [Unit], _ isBigEndian: Bool) -> Data {
            units.reduce(into: Data()) { data, unit in
                withUnsafeBytes(of: isBigEndian ? unit.bigEndian : unit.littleEndian) { data.append(contentsOf: $0) }
            }
        }
        for isBigEndian in [false, true] {
            #expect(ours([String?].self, bytes(sixteen, isBigEndian)) == expected)
            #expect(ours([String?].self, bytes([0xFEFF] + sixteen, isBigEndian)) == expected)
            #expect(ours([String?].self, bytes(thirtyTwo, isBigEndian)) == expected)
            #expect(ours([String?].self, bytes([0xFEFF] + thirtyTwo, isBigEndian)) == expected)
            #expect(ours(Int.self, bytes([0x31] as [UInt16], isBigEndian)) == .value(1))
            let corrupted = Verdict<[String?]>.error(kind: "dataCorrupted", path: [])
            #expect(ours([String?].self, bytes(sixteen, isBigEndian).dropLast()) == corrupted)
            #expect(
                ours([String?].self, bytes([0x5B, 0x22, 0xD800, 0x22, 0x5D] as [UInt16], isBigEndian)) == corrupted)
        }
        #expect(ours([String?].self, Data("\u{FEFF}\(text)".utf8)) == expected)
    }

    // MARK: Depth and slices

    private struct Nested: Decodable, Equatable {
        var depth: Int

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            depth = container.isAtEnd ? 1 : try container.decode(Nested.self).depth + 1
        }
    }

    @Test func depthIsLimited() throws {
        let deep = { Data((String(repeating: "[", count: $0) + String(repeating: "]", count: $0)).utf8) }
        #expect(try JSONBodyDecoder().decode(Nested.self, from: deep(512)).depth == 512)
        #expect(try JSONDecoder().decode(Nested.self, from: deep(512)).depth == 512)
        for depth in [513, 1_000_000] {
            #expect(ours(Nested.self, deep(depth)) == .error(kind: "dataCorrupted", path: []))
            #expect(foundations(Nested.self, deep(depth)) == .error(kind: "dataCorrupted", path: []))
        }
    }

    @Test func slicesOfDataAreRead() throws {
        let data = Data("xx[1,2]xx".utf8)[2..<7]
        #expect(try JSONBodyDecoder().decode([Int].self, from: data) == [1, 2])
    }

    @Test func longStringsAreRead() throws {
        let text = String(repeating: "é漢😀 plain text of a longer string ", count: 50_000)
        let names = "{\"\(text)\":\"\(text)\",\"a\\n\":[\"\(text)\\n\"]}"
        let tree = try JSONBodyDecoder().decode(JSONValue.self, from: Data(names.utf8))
        #expect(tree[text]?.string == text)
        #expect(tree["a\n"]?[0]?.string == text + "\n")
    }

    // MARK: Foundation's decoder

    @Test func foundationsDecoderIsStillUsable() throws {
        let original = JSONDecoder()
        original.allowsJSON5 = true
        original.keyDecodingStrategy = .convertFromSnakeCase
        struct Row: Decodable, Equatable { var rowId: Int, at: Date }
        var decoder = JSONBodyDecoder(original)
        #expect(decoder.usesFoundation)
        decoder.dateDecodingStrategy = .secondsSince1970
        let text = Data("{row_id: 0x10, at: 1, /* a comment */}".utf8)
        #expect(try decoder.decode(Row.self, from: text) == Row(rowId: 16, at: Date(timeIntervalSince1970: 1)))
        decoder.usesFoundation = false
        #expect(throws: DecodingError.self) { try decoder.decode(Row.self, from: text) }

        var plain = JSONBodyDecoder()
        #expect(!plain.usesFoundation)
        let lenient = Data(#"["2020-01-01T00:00:00.5Z",]"#.utf8)
        #expect(throws: DecodingError.self) { try plain.decode([Date].self, from: lenient) }
        plain.usesFoundation = true
        #expect(try plain.decode([Date].self, from: lenient) == [Date(timeIntervalSince1970: 1_577_836_800.5)])

        let assuming = JSONDecoder()
        assuming.assumesTopLevelDictionary = true
        #expect(try JSONBodyDecoder(assuming).decode([String: Int].self, from: Data(#""a": 1"#.utf8)) == ["a": 1])
    }

    // MARK: Dates and numbers

    @Test func datesEqualTheFormatters() throws {
        var dice = SplitMix(seed: RandomSeed.next())
        var texts = [
            "1900-02-28T23:59:59Z", "2000-02-29T00:00:00Z", "2001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z",
            "2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.123456Z", "1900-03-01T00:00:00Z", "2100-03-01T00:00:00Z",
            "2100-02-28T23:59:59Z", "1999-12-31T00:00:00Z", "2000-03-01T00:00:00Z", "2000-12-31T00:00:00Z",
        ]
        for _ in 0..<500 {
            var date = Date(
                timeIntervalSince1970: Double(Int.random(in: -9_000_000_000...200_000_000_000, using: &dice)))
            texts.append(date.formatted(.iso8601))
            date += .random(in: 0..<1, using: &dice)
            texts.append(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        }
        var decoder = JSONBodyDecoder()
        let strategy = decoder.dateDecodingStrategy
        let text = try JSONEncoder().encode(texts)
        let dates = try decoder.decode([Date].self, from: text)
        decoder.dateDecodingStrategy = strategy
        #expect(try decoder.decode([Date].self, from: text) == dates)
    }

    @Test(arguments: [
        "2026-02-31T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2100-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-02-30T00:00:00+01:00", "1700-02-29T00:00:00Z", "2200-02-29T00:00:00Z", "2026-06-00T00:00:00Z",
    ])
    func daysThatDoNotExistAreNoDates(text: String) throws {
        let data = Data("[\"\(text)\"]".utf8)
        var decoder = JSONBodyDecoder()
        #expect(throws: DecodingError.self) { try decoder.decode([Date].self, from: data) }
        decoder.dateDecodingStrategy = .iso8601
        #expect(throws: DecodingError.self) { try decoder.decode([Date].self, from: data) }
    }

    @Test(
        arguments: [
            ("1900-03-01T00:00:00Z", -2_203_891_200), ("2100-03-01T00:00:00Z", 4_107_542_400),
            ("2000-02-29T00:00:00Z", 951_782_400), ("2000-03-01T00:00:00Z", 951_868_800),
            ("1900-01-01T00:00:00Z", -2_208_988_800),
        ] as [(String, Double)])
    func centuriesAreLeapYearsOnceInFourHundredYears(text: String, seconds: Double) throws {
        let dates = try JSONBodyDecoder().decode([Date].self, from: Data("[\"\(text)\"]".utf8))
        #expect(dates == [Date(timeIntervalSince1970: seconds)])
    }

    /// A tie between two numbers goes to the even one, unless more digits decide.
    @Test(
        arguments: [
            ("4503599627370496.5", 4_503_599_627_370_496), ("4503599627370497.5", 4_503_599_627_370_498),
            ("4503599627370496.501", 4_503_599_627_370_497), ("4503599627370497.499", 4_503_599_627_370_497),
            ("9007199254740993.0", 9_007_199_254_740_992), ("9007199254740995.0", 9_007_199_254_740_996),
            ("9007199254740993.001", 9_007_199_254_740_994), ("-4503599627370497.5", -4_503_599_627_370_498),
        ] as [(String, Double)])
    func tiesGoToTheEvenNumber(text: String, expected: Double) throws {
        #expect(Double(text) == expected)
        #expect(try JSONBodyDecoder().decode([Double].self, from: Data("[\(text)]".utf8)) == [expected])
        #expect(try JSONValue(parsing: Data(text.utf8)).double == expected)
    }

    /// Divided by a power of ten in 128 bits, these have a quotient half-way between an even number and the next, and a
    /// remainder.
    @Test(arguments: ["0.4786131122326175158", "2.893675352808228185", "-71.74430344924369507"])
    func theRemainderOfADivisionDecidesATie(text: String) throws {
        let values = try JSONBodyDecoder().decode([Double].self, from: Data("[\(text)]".utf8))
        #expect(values == [try #require(Double(text))])
    }

    @Test func doublesAreTheNearest() throws {
        var dice = SplitMix(seed: RandomSeed.next())
        var texts = [
            "9007199254740993", "9007199254740992.5", "0.3", "1e23", "8.5e-19", "1e-19", "9999999999999999999e-19",
        ]
        for _ in 0..<20_000 {
            let digits = UInt64.random(in: 0 ... .max, using: &dice) >> UInt64.random(in: 0...63, using: &dice)
            let exponent = Int.random(in: -30...30, using: &dice)
            texts.append(Bool.random(using: &dice) ? "\(digits)e\(exponent)" : "-0.\(digits)")
            texts.append("\(Double(bitPattern: digits | 0x3F00_0000_0000_0000 & 0x43FF_FFFF_FFFF_FFFF))")
        }
        texts = texts.filter { Double($0)?.isFinite == true }
        let values = try JSONBodyDecoder().decode([Double].self, from: Data("[\(texts.joined(separator: ","))]".utf8))
        for (text, value) in zip(texts, values) where Double(text)?.bitPattern != value.bitPattern {
            Issue.record("\(text) is \(value)")
        }
    }
}
