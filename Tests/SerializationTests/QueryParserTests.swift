import CommandSupport
import FoundationEssentials
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct QueryParserTests {
    @Test(
        arguments: [
            ("", []), ("&&", []), ("a=1", [("a", "1")]), ("a", [("a", nil)]), ("a=", [("a", "")]), ("=", [("", "")]),
            ("=b", [("", "b")]), ("a=b=c", [("a", "b=c")]), ("a=1&a=2", [("a", "1"), ("a", "2")]),
            ("a+b=c+d", [("a b", "c d")]), ("%61=%2B", [("a", "+")]), ("a=%c3%A9", [("a", "é")]),
            ("a&&b=", [("a", nil), ("b", "")]),
            ("a[]=1", [("a[]", "1")]), ("a;b=1", [("a;b", "1")]), ("é=漢", [("é", "漢")]), ("a=%00", [("a", "\u{0}")]),
        ] as [(String, [(String, ParameterValue)])])
    func pairsAreRead(text: String, expected: [(String, ParameterValue)]) throws {
        #expect(try QueryParser().pairs(in: text) == expected.map { ParameterValue.Entry($0.0, $0.1) })
    }

    @Test(
        arguments: [
            ("", [:]), ("a=1&b", ["a": "1", "b": ParameterValue.null]), ("a[b]=1&a[c]=2", ["a": ["b": "1", "c": "2"]]),
            ("a[]=1&a[]=2", ["a": ["1", "2"]]), ("a[]", ["a": [nil]]), ("a=2&a=1&a=3", ["a": .set(["2", "1", "3"])]),
            ("a[][k]=1&a[][j]=2&a[][k]=3", ["a": [["k": "1", "j": "2"], ["k": "3"]]]),
            ("a[][k][]=1&a[][k][]=2", ["a": [["k": ["1", "2"]]]]), ("a[b][c][d]=1", ["a": ["b": ["c": ["d": "1"]]]]),
            ("a[]=1&b=2&a[]=3", ["a": ["1", "3"], "b": "2"]), ("a[0]=x", ["a": ["0": "x"]]),
            ("a[b", ["a[b": ParameterValue.null]), ("a]b=1", ["a]b": "1"]), ("a[b]c=1", ["a[b]c": "1"]),
            ("[a]=1", ["": ["a": "1"]]),
            ("é=1&e%CC%81=2", ["é": "1", "e\u{301}": "2"]),
        ] as [(String, ParameterValue)])
    func treesAreRead(text: String, expected: ParameterValue) throws {
        let parameters = try QueryParser().parse(text)
        #expect(parameters.root == expected)
        #expect(
            parameters.entries.map { Array($0.key.utf8) }
                == RequestParameters(expected).entries.map { Array($0.key.utf8) })
    }

    @Test func stylesReadBack() throws {
        var parser = QueryParser()
        parser.arrayStyle = .indices
        #expect(
            try parser.parse("a[1]=y&a[0]=x&b[1]=z&c[00]=w") == ["a": ["x", "y"], "b": ["1": "z"], "c": ["00": "w"]])
        #expect(try parser.parse("0=a") == ["0": "a"])
        parser.nestingStyle = .dots
        #expect(try parser.parse("a.b[0].c=x&a.b[0].d=y") == ["a": ["b": [["c": "x", "d": "y"]]]])
        parser.arrayStyle = .repeated
        #expect(try parser.parse("a=x&a=y&a=z&b=w") == ["a": ["x", "y", "z"], "b": "w"])
        parser.arrayStyle = .commaSeparated
        #expect(try parser.parse("a=x,y%2Cz,&b=w") == ["a": ["x", "y,z", ""], "b": "w"])
    }

    @Test(arguments: ["a=%", "a=%2", "a=%zz", "%=1", "a=%C3", "a=%FF%FE", "a=%ED%A0%80", "a=%C0%80"])
    func malformedFormsAreTypedErrorsUnlessLenient(text: String) throws {
        let error = #expect(throws: SerializationError.self) { try QueryParser().pairs(in: text) }
        #expect(error?.code == .decodingFailed)
        var lenient = QueryParser()
        lenient.isLenient = true
        #expect(try lenient.pairs(in: text).count == 1)
        #expect(try lenient.pairs(in: "a=%zz") == [ParameterValue.Entry("a", "%zz")])
    }

    @Test(arguments: ["a=1&a[b]=2", "a[b]=1&a=2", "a[]=1&a[b]=2", "a[b]=1&a[]=2", "a=1&a[]=2"])
    func conflictingNamesAreTypedErrors(text: String) {
        let error = #expect(throws: SerializationError.self) { try QueryParser().parse(text) }
        #expect(error?.code == .decodingFailed)
    }

    @Test func parsingIsLimited() throws {
        let deep = "a" + String(repeating: "[b]", count: 511)
        #expect(try QueryParser().parse(deep)["a"] != nil)
        let error = #expect(throws: SerializationError.self) { try QueryParser().parse(deep + "[b]") }
        #expect(error?.code == .nestedTooDeep)
        var parser = QueryParser()
        parser.maximumPairs = 2
        #expect(try parser.parse("a=1&&b=2").entries.count == 2)
        let many = #expect(throws: SerializationError.self) { try parser.parse("a=1&b=2&c=3") }
        #expect(many?.code == .decodingFailed)
        var indices = QueryParser()
        indices.arrayStyle = .indices
        #expect(try indices.parse("a[9999999999]=1") == ["a": ["9999999999": "1"]])
    }

    @Test func plusStaysOnRequest() throws {
        var parser = QueryParser()
        parser.readsPlusAsSpace = false
        #expect(try parser.parse("a=b+c") == ["a": "b+c"])
    }

    @Test(arguments: [0, 1, 2, 3]) func encodedParametersReadBack(style: Int) throws {
        var encoder = QueryEncoder()
        encoder.sortsKeys = false
        encoder.arrayStyle = style == 3 ? .brackets : .indices
        encoder.nestingStyle = style == 1 ? .dots : .brackets
        encoder.spaceStyle = style == 2 ? .plus : .percentEncoded
        var parser = QueryParser()
        parser.arrayStyle = encoder.arrayStyle
        parser.nestingStyle = encoder.nestingStyle
        var random = SplitMix(seed: RandomSeed.next())
        for _ in 0..<100 {
            let parameters = RequestParameters(randomDictionary(depth: 4, nestsInArrays: style != 3, &random))
            let encoded = try encoder.encode(parameters)
            let read = try parser.parse(encoded)
            #expect(read == parameters)
            // `String` compares canonically; the bytes must be equal, too.
            #expect(try encoder.encode(read) == encoded)
        }
    }

    @Test func pairsOfAnyScalarsReadBack() throws {
        var encoder = QueryEncoder()
        encoder.sortsKeys = false
        var random = SplitMix(seed: RandomSeed.next())
        for _ in 0..<500 {
            let entries = (0..<Int.random(in: 0...8, using: &random)).map { _ in
                ParameterValue.Entry(RandomText.make(&random), .string(RandomText.make(&random)))
            }
            let encoded = try encoder.encode(RequestParameters(entries))
            #expect(try QueryParser().pairs(in: encoded) == entries)
            #expect(try encoder.flatten(RequestParameters(entries)) == entries)
        }
    }

    @Test func randomBytesAreDecodedOrRefused() {
        let alphabet = Array("ab[]=&.%+,0123é".unicodeScalars)
        var parsers: [QueryParser] = []
        for arrayStyle in [QueryEncoder.ArrayStyle.brackets, .indices, .repeated, .commaSeparated] {
            for nestingStyle in [QueryEncoder.NestingStyle.brackets, .dots] {
                var parser = QueryParser()
                parser.arrayStyle = arrayStyle
                parser.nestingStyle = nestingStyle
                parsers.append(parser)
            }
        }
        var random = SplitMix(seed: RandomSeed.next())
        for _ in 0..<2000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                alphabet.randomElement(using: &random).map { text.unicodeScalars.append($0) }
            }
            for parser in parsers { _ = try? parser.parse(text) }
        }
    }

    /// Names of letters; no dictionaries with numbers as names, and no empty values.
    private func randomDictionary(depth: Int, nestsInArrays: Bool, _ random: inout SplitMix) -> ParameterValue {
        var names: Set<[UInt8]> = []
        var entries: [ParameterValue.Entry] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let scalars = RandomText.make(&random).unicodeScalars.filter { !"[].".unicodeScalars.contains($0) }
            let name = String(String.UnicodeScalarView(scalars))
            guard names.insert(Array(name.utf8)).inserted else { continue }
            entries.append(.init(name, randomValue(depth: depth - 1, nestsInArrays: nestsInArrays, &random)))
        }
        return .dictionary(entries)
    }

    private func randomValue(depth: Int, nestsInArrays: Bool, _ random: inout SplitMix) -> ParameterValue {
        switch Int.random(in: 0...(depth > 0 ? 5 : 2), using: &random) {
        case 0: return nil
        case 1, 2: return .string(RandomText.make(&random))
        case 3: return randomDictionary(depth: depth, nestsInArrays: nestsInArrays, &random)
        default:
            return .array(
                (0..<Int.random(in: 1...12, using: &random)).map { _ in
                    nestsInArrays
                        ? randomValue(depth: depth - 1, nestsInArrays: true, &random)
                        : .string(RandomText.make(&random))
                }
            )
        }
    }
}

extension ParameterValue {
    var text: String? { if case .string(let text) = self { text } else { nil } }
}
