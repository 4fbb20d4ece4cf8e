import FoundationEssentials
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct ParameterEncoderTests {
    private struct Post: Encodable {
        enum Kind: String, Encodable { case note }
        struct Author: Encodable { let name: String, age: UInt8? }
        enum CodingKeys: String, CodingKey {
            case id = "post_id", author, tags, kind, when, raw, link, price, ratio, big
        }
        let id: Int
        let author: Author
        let tags: [String]
        let kind: Kind
        let when: Date
        let raw: Data
        let link: URL?
        let price: Decimal
        let ratio: Float
        let big: UInt64
    }

    @Test func everyKindOfPropertyIsEncoded() throws {
        let date = Date(timeIntervalSince1970: 5)
        let post = Post(
            id: 7, author: .init(name: "Ada", age: nil), tags: ["x", "y"], kind: .note, when: date, raw: Data([1]),
            link: URL(string: "https://h/p"), price: 12.5, ratio: 0.1, big: .max
        )
        let expected: RequestParameters = [
            "post_id": 7, "author": ["name": "Ada"], "tags": ["x", "y"], "kind": "note", "when": date,
            "raw": Data([1]), "link": "https://h/p", "price": Decimal(12.5), "ratio": 0.1, "big": UInt64.max,
        ]
        #expect(try RequestParameters(encoding: post) == expected)
    }

    @Test(
        arguments: [
            (.integer(1), .integer(1)), ([1, nil, "a"], [1, nil, "a"]),
            (["a": ["b": [true, 0.5]]], ["a": ["b": [true, 0.5]]]),
        ] as [(ParameterValue, ParameterValue)])
    func parametersEncodeAsThemselves(value: ParameterValue, expected: ParameterValue) throws {
        #expect(try RequestParameters(encoding: value).root == expected)
        #expect(try RequestParameters(encoding: [value]).root == [expected])
    }

    @Test func topLevelValuesAndEmptyContainers() throws {
        #expect(try RequestParameters(encoding: [Int]()).root == [])
        #expect(try RequestParameters(encoding: [String: Int]()).root == [:])
        #expect(try RequestParameters(encoding: "text").root == "text")
        #expect(try RequestParameters(encoding: Int?.none).root == nil)
        #expect(try RequestParameters(encoding: [1, nil, 3]).root == [1, nil, 3])
    }

    private class Base: Encodable {
        let a = 1
    }

    private final class Derived: Base {
        let b = 2
        enum CodingKeys: CodingKey { case b, nested, list }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(b, forKey: .b)
            try super.encode(to: container.superEncoder())
            var nested = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .nested)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            // Alternating writes, which a container that writes at its end would lose.
            try nested.encode(1, forKey: .b)
            try list.encode(2)
            try nested.encode(3, forKey: .list)
            var inner = list.nestedUnkeyedContainer()
            try inner.encode("deep")
            #expect(list.count == 2)
        }
    }

    @Test func nestedAndSuperContainersAreKept() throws {
        let expected: RequestParameters = [
            "b": 2, "super": ["a": 1], "nested": ["b": 1, "list": 3], "list": [2, ["deep"]] as ParameterValue,
        ]
        #expect(try RequestParameters(encoding: Derived()) == expected)
    }

    private struct Failing: Encodable {
        struct Reason: Error {}
        func encode(to encoder: any Encoder) throws { throw Reason() }
    }

    private final class Endless: Encodable {
        enum CodingKeys: CodingKey { case me }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(self, forKey: .me)
        }
    }

    private final class EndlessAlone: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(self)
        }
    }

    @Test func failuresKeepTheUnderlyingError() {
        let error = #expect(throws: SerializationError.self) { try RequestParameters(encoding: ["a": Failing()]) }
        #expect(error?.code == .encodingFailed)
        #expect(error?.underlying is Failing.Reason)
    }

    @Test func recursiveValueIsATypedError() {
        let error = #expect(throws: SerializationError.self) { try RequestParameters(encoding: Endless()) }
        #expect(error?.code == .nestedTooDeep)
        let alone = #expect(throws: SerializationError.self) { try RequestParameters(encoding: EndlessAlone()) }
        #expect(alone?.code == .nestedTooDeep)
    }

    @Test func parametersAreBuiltByHand() {
        var parameters: RequestParameters = ["a": 1, "b": 2, "a": 3]
        #expect(parameters["a"] == 3)
        parameters["a"] = "x"
        #expect(parameters == ["a": "x", "b": 2])
        parameters["b"] = nil
        parameters["c"] = .null
        #expect(parameters == ["a": "x", "c": ParameterValue.null])
        #expect(RequestParameters(["b": 1, "a": 2]) == ["a": 2, "b": 1])
        #expect(RequestParameters().isEmpty)
        #expect(ParameterValue(UInt64.max) == .unsigned(.max))
        #expect(ParameterValue(UInt8(3)) == 3)
    }

    @Test func nilIsOmittedWhereverItIsWritten() throws {
        let absent: Int? = nil
        let counts: [String: Int?] = ["a": 1, "b": nil]
        let all: [RequestParameters] = [
            ["a": 1, "b": nil], ["a": 1, "b": absent], RequestParameters(["a": 1, "b": nil] as ParameterValue),
            RequestParameters(counts), try RequestParameters(encoding: ["a": 1]),
        ]
        for parameters in all { #expect(try QueryEncoder().encode(parameters) == "a=1") }
        #expect(try QueryEncoder().encode(["c": counts, "d": ["e": nil] as ParameterValue]) == "c%5Ba%5D=1")
    }

    @Test func nullIsWritten() throws {
        let parameters: RequestParameters = ["a": ParameterValue.null, "b": ["c": .null] as ParameterValue]
        #expect(try QueryEncoder().encode(parameters) == "a&b%5Bc%5D")
        let list: RequestParameters = ["a": [1, nil, 2] as [Int?]]
        #expect(try QueryEncoder().encode(list) == "a%5B%5D=1&a%5B%5D&a%5B%5D=2")
    }

    @Test func dictionariesOfOneTypeAreParameters() throws {
        let counts = ["b": 2, "a": 1]
        #expect(try QueryEncoder().encode(RequestParameters(counts)) == "a=1&b=2")
        #expect(RequestParameters(counts) == ["a": 1, "b": 2])
        #expect(RequestParameters(["q": "x"]) == ["q": "x"])
    }
}
