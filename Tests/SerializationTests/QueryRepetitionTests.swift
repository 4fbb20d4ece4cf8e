import CommandSupport
import FoundationEssentials
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(1))) struct QueryRepetitionTests {
    @Test(
        arguments: [
            (.collected, "a=1&a=2", ["a": .set(["1", "2"])]), (.combined, "a=1&a=2", ["a": ["1", "2"]]),
            (.first, "a=1&a=2&a=3", ["a": "1"]), (.last, "a=1&a=2&a=3", ["a": "3"]),
            (.last, "a=1&a", ["a": ParameterValue.null]),
            (.combined, "a=1&a[]=2&a=3&a[]=4", ["a": ["1", "2", "3", "4"]]),
            (.combined, "a[]=1&a=2", ["a": ["1", "2"]]),
            (.combined, "a=1&a[][b]=2", ["a": ["1", ["b": "2"]]]), (.combined, "a=1", ["a": "1"]),
            (.last, "a[b]=1&a[b]=2", ["a": ["b": "2"]]), (.first, "a[]=1&a[]=2", ["a": ["1", "2"]]),
            (.combined, "a=1&a=2&b=3", ["a": ["1", "2"], "b": "3"]),
        ] as [(QueryParser.RepetitionStyle, String, ParameterValue)])
    func repeatedNamesFollowTheStyle(
        style: QueryParser.RepetitionStyle, text: String, expected: ParameterValue
    ) throws {
        var parser = QueryParser()
        parser.repetitionStyle = style
        #expect(try parser.parse(text).root == expected)
        let coded = try JSONDecoder().decode(QueryParser.self, from: JSONEncoder().encode(parser))
        #expect(coded == parser)
    }

    @Test(
        arguments: [
            (.collected, "a=1&a[]=2"), (.first, "a=1&a[]=2"), (.last, "a=1&a[]=2"), (.last, "a[]=1&a=2"),
            (.combined, "a=1&a[b]=2"), (.combined, "a[b]=1&a=2"),
        ] as [(QueryParser.RepetitionStyle, String)])
    func mixedStylesAreATypedError(style: QueryParser.RepetitionStyle, text: String) {
        var parser = QueryParser()
        parser.repetitionStyle = style
        let error = #expect(throws: SerializationError.self) { try parser.parse(text) }
        #expect(error?.code == .decodingFailed)
    }

    @Test func listsOfCommasAreCombinedToo() throws {
        var parser = QueryParser()
        (parser.arrayStyle, parser.repetitionStyle) = (.commaSeparated, .combined)
        #expect(try parser.parse("a=1,2&a=3") == ["a": ["1", "2", "3"]])
    }

    @Test func parserDecodesWithoutNewerSettings() throws {
        #expect(try JSONDecoder().decode(QueryParser.self, from: Data("{}".utf8)) == QueryParser())
    }
}

@Suite(.timeLimit(.minutes(1))) struct ElementBoundaryTests {
    @Test(
        arguments: [
            ["a": [["b": 1], ["c": 2]]], ["a": [["b": 1, "c": 2], ["a": 0, "b": 3]]], ["a": [["b": .set([1, 2])]]],
            ["a": [["b": ["c": 1]], ["b": ["d": 1]]]], ["a": [["b": [1]], ["b": [2]]]], ["a": [["b": 1], ["b": [2]]]],
            ["a": [[["b": 1]], [["b": 2]]]], ["a": [["k": [["j": 1]]], ["k": [["j": 2]]]]],
            ["a": [["b": 1, "c": [["d": 1], ["e": 2]]]]],
            ["x": ["a": [["b": ParameterValue.null], ["c": ParameterValue.null]]]],
        ] as [ParameterValue])
    func inseparableElementsAreRefusedInBrackets(value: ParameterValue) throws {
        let parameters = RequestParameters(value)
        let error = #expect(throws: SerializationError.self) { try QueryEncoder().encode(parameters) }
        #expect(error?.code == .invalidParameters)
        #expect(error?.message.contains("indices") == true)
        #expect(throws: SerializationError.self) { try QueryEncoder().flatten(parameters) }
        var indices = QueryEncoder()
        indices.arrayStyle = .indices
        #expect(try !indices.encode(parameters).isEmpty)
    }

    @Test(
        arguments: [
            (["a": [["b": 1], ["b": 2]]], "a[][b]=1&a[][b]=2"),
            (["a": [["b": 1, "c": 2], ["c": 3]]], "a[][b]=1&a[][c]=2&a[][c]=3"),
            (["a": [["b": 1], ["b": 2, "c": 3], ["b": 4]]], "a[][b]=1&a[][b]=2&a[][c]=3&a[][b]=4"),
            (
                ["a": [["n": 1, "t": [1, 2]], ["n": 2, "t": [3]]]], "a[][n]=1&a[][t][]=1&a[][t][]=2&a[][n]=2&a[][t][]=3"
            ),
            (["a": [1, ["b": 2], 3, ["c": 4]]], "a[]=1&a[][b]=2&a[]=3&a[][c]=4"),
            (["a": [["b": 1], [:], ["b": 2]]], "a[][b]=1&a[][b]=2"),
            (
                ["a": [["b": 1, "c": [["d": 1], ["d": 2]]], ["b": 2]]], "a[][b]=1&a[][c][][d]=1&a[][c][][d]=2&a[][b]=2"
            ),
        ] as [(ParameterValue, String)])
    func separableElementsReadBack(value: ParameterValue, text: String) throws {
        let encoded = try QueryEncoder().encode(RequestParameters(value))
        #expect(encoded.replacing("%5B", with: "[").replacing("%5D", with: "]") == text)
        #expect(try QueryEncoder().encode(QueryParser().parse(encoded)) == encoded)
    }

    /// All parameters that are not refused read back.
    @Test func bracketsReadBack() throws {
        var random = SplitMix(seed: RandomSeed.next())
        var (read, refused) = (0, 0)
        for _ in 0..<4000 {
            let parameters = RequestParameters(["a": Self.array(depth: 4, &random)])
            guard let encoded = try? QueryEncoder().encode(parameters) else {
                refused += 1
                continue
            }
            #expect(try QueryParser().parse(encoded) == parameters)
            read += 1
        }
        #expect(read > 400 && refused > 400, "\(read) read back, \(refused) refused")
    }

    /// An array of texts or of dictionaries with sorted names. Brackets lose nested arrays.
    private static func array(depth: Int, _ random: inout SplitMix) -> ParameterValue {
        let count = Int.random(in: 1...3, using: &random)
        return .array(
            (0..<count).map { _ in Bool.random(using: &random) ? "x" : dictionary(depth: depth - 1, &random) })
    }

    private static func dictionary(depth: Int, _ random: inout SplitMix) -> ParameterValue {
        let names = ["b", "c", "d"].filter { _ in Int.random(in: 0...2, using: &random) > 0 }
        return .dictionary(
            (names.isEmpty ? ["b"] : names).map { name in
                switch depth > 0 ? Int.random(in: 0...4, using: &random) : 0 {
                case 3: .init(name, dictionary(depth: depth - 1, &random))
                case 4: .init(name, array(depth: depth - 1, &random))
                default: .init(name, "y")
                }
            })
    }
}
