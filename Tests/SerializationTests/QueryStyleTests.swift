import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct QueryStyleTests {
    private func encode(_ parameters: Parameters, _ configure: (inout QueryEncoder) -> Void) throws -> String {
        var encoder = QueryEncoder()
        configure(&encoder)
        return try encoder.encode(parameters)
    }

    @Test(
        arguments: [
            (.brackets, "a%5B%5D=1&a%5B%5D=2"), (.indices, "a%5B0%5D=1&a%5B1%5D=2"), (.repeated, "a=1&a=2"),
            (.commaSeparated, "a=1,2"),
        ] as [(QueryEncoder.ArrayStyle, String)])
    func arraysInEachStyle(style: QueryEncoder.ArrayStyle, expected: String) throws {
        #expect(try encode(["a": [1, 2]]) { $0.arrayStyle = style } == expected)
        #expect(try encode(["a": []]) { $0.arrayStyle = style } == "")
    }

    @Test(
        arguments: [
            (.brackets, "a%5B%5D%5Bk%5D=1"), (.indices, "a%5B0%5D%5Bk%5D=1"), (.repeated, "a%5Bk%5D=1"),
        ] as [(QueryEncoder.ArrayStyle, String)])
    func dictionariesInArraysInEachStyle(style: QueryEncoder.ArrayStyle, expected: String) throws {
        #expect(try encode(["a": [["k": 1]]]) { $0.arrayStyle = style } == expected)
    }

    @Test func commasWithinElementsAreEscapedAndOthersNot() throws {
        #expect(try encode(["a": ["x,y", "z"]]) { $0.arrayStyle = .commaSeparated } == "a=x%2Cy,z")
        let error = #expect(throws: SerializationError.self) {
            try encode(["a": [[1]]]) { $0.arrayStyle = .commaSeparated }
        }
        #expect(error?.code == .invalidParameters)
    }

    @Test func dotsJoinNames() throws {
        #expect(try encode(["a": ["b": ["c": 1]]]) { $0.nestingStyle = .dots } == "a.b.c=1")
    }

    @Test func insertionOrderIsKeptOnRequest() throws {
        #expect(try encode(["b": ["d": 1, "c": 2], "a": 3]) { $0.sortsKeys = false } == "b%5Bd%5D=1&b%5Bc%5D=2&a=3")
        #expect(try encode(["s": .set([2, 1])]) { $0.sortsKeys = false } == "s=2&s=1")
    }

    @Test func boolsAsWords() throws {
        #expect(try encode(["a": true, "b": false]) { $0.boolStyle = .words } == "a=true&b=false")
    }

    @Test(
        arguments: [
            (.bareKey, "a&b=1&c%5B%5D&c%5B%5D=2"), (.emptyValue, "a=&b=1&c%5B%5D=&c%5B%5D=2"),
            (.dropped, "b=1&c%5B%5D=2"),
        ] as [(QueryEncoder.NullStyle, String)])
    func nullInEachStyle(style: QueryEncoder.NullStyle, expected: String) throws {
        #expect(try encode(["a": nil, "b": 1, "c": [nil, 2]]) { $0.nullStyle = style } == expected)
    }

    @Test func spaceAsPlusAndPlusEscaped() throws {
        #expect(try encode(["a b": "c d+e"]) { $0.spaceStyle = .plus } == "a+b=c+d%2Be")
    }
}
