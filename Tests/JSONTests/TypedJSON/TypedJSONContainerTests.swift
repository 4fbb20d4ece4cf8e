import CommandSupport
import FoundationEssentials
import LinnetJSON
import Testing

private func names(_ path: [any CodingKey]) -> [String] { path.map(\.stringValue) }

/// Containers that a type requests itself, compared with the containers of Foundation's `JSONDecoder`.
@Suite(.timeLimit(.minutes(1))) struct TypedJSONContainerTests {
    /// The result of each call, as text.
    struct Log: Equatable {
        private(set) var lines: [String] = []

        mutating func note(_ call: String, _ body: () throws -> Any) {
            do {
                lines.append("\(call): \(try body())")
            } catch {
                let (kind, path) = summary(of: error)
                // Before the end of a call, Foundation has a special error for a number that does not fit.
                let isCorrupted = kind == "dataCorrupted" || kind.hasPrefix("numberIsNotRepresentable")
                lines.append(isCorrupted ? "\(call): corrupted" : "\(call): \(kind) \(path)")
            }
        }
    }

    struct KeyedProbe: Decodable, Equatable {
        var log = Log()

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyName.self)
            log.note("path") { names(decoder.codingPath) + names(container.codingPath) }
            log.note("keys") {
                container.allKeys.map { "\($0.stringValue) \(String(describing: $0.intValue))" }.sorted()
            }
            for name in ["missing", "none", "text", "list", "object", "number", "7"] {
                let key = AnyName(name)
                log.note("\(name) contains") { container.contains(key) }
                log.note("\(name) nil") { try container.decodeNil(forKey: key) }
                log.note("\(name) keyed") {
                    names(try container.nestedContainer(keyedBy: AnyName.self, forKey: key).codingPath)
                }
                log.note("\(name) unkeyed") { names(try container.nestedUnkeyedContainer(forKey: key).codingPath) }
                log.note("\(name) super") {
                    let decoder = try container.superDecoder(forKey: key)
                    let value = try decoder.singleValueContainer()
                    return names(decoder.codingPath) + [value.decodeNil().description, try value.decode(String.self)]
                }
                note(name, Int.self, container)
                note(name, UInt8.self, container)
                note(name, Bool.self, container)
                note(name, String.self, container)
                note(name, Double.self, container)
                note(name, Float.self, container)
                note(name, [Int].self, container)
                note(name, [String: Int].self, container)
                note(name, Leaf.self, container)
                note(name, Date.self, container)
                note(name, Data.self, container)
                note(name, URL.self, container)
                note(name, Decimal.self, container)
                note(name, Int?.self, container)
            }
            log.note("super") {
                let decoder = try container.superDecoder()
                return try decoder.container(keyedBy: AnyName.self).allKeys.count
            }
        }

        private mutating func note<T: Decodable>(
            _ name: String, _ type: T.Type, _ container: KeyedDecodingContainer<AnyName>
        ) {
            log.note("\(name) \(type)") { try container.decode(type, forKey: AnyName(name)) }
            log.note("\(name) \(type)?") { try container.decodeIfPresent(type, forKey: AnyName(name)) as Any }
        }
    }

    @Test(arguments: [
        #"{"none":null,"text":"s","list":[1],"object":{},"number":1,"7":1}"#,
        #"{"none":null,"none":5,"text":"2020","list":[],"object":{"a":1},"number":300.5,"super":{"a":1}}"#,
        #"{"7":{},"number":-1,"super":null,"text":"\u0041"}"#, "{}", "[]", "null",
    ])
    func keyedContainersAreThoseOfFoundation(text: String) {
        expectFoundationsVerdict(KeyedProbe.self, text)
        expectFoundationsVerdict([KeyedProbe].self, "[\(text),\(text)]")
        expectFoundationsVerdict([String: [KeyedProbe]].self, "{\"a\":[{},\(text)]}")
    }

    struct UnkeyedProbe: Decodable, Equatable {
        var log = Log()

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            log.note("path") { names(decoder.codingPath) + names(container.codingPath) }
            for _ in 0...(container.count ?? 0) {
                log.note("place") { "\(container.currentIndex) \(container.isAtEnd) \(container.count as Any)" }
                log.note("Int") { try container.decode(Int.self) }
                log.note("String") { try container.decode(String.self) }
                log.note("Leaf") { try container.decode(Leaf.self) }
                log.note("[Int]") { try container.decode([Int].self) }
                log.note("keyed") { names(try container.nestedContainer(keyedBy: AnyName.self).codingPath) }
                log.note("unkeyed") { names(try container.nestedUnkeyedContainer().codingPath) }
                log.note("nil") { try container.decodeNil() }
                log.note("place") { "\(container.currentIndex) \(container.isAtEnd)" }
                log.note("super") { names(try container.superDecoder().codingPath) }
            }
        }
    }

    @Test(arguments: [
        "[]", "[1]", #"[null,1,"a",{},[]]"#, #"[{},{"a":1},[1,2],[[]],"x",true,null]"#, "{}", "null", "1",
    ])
    func unkeyedContainersAreThoseOfFoundation(text: String) {
        expectFoundationsVerdict(UnkeyedProbe.self, text)
        expectFoundationsVerdict([String: UnkeyedProbe].self, "{\"a\":\(text)}")
    }

    // MARK: Classes, keys, user info

    class Animal: Decodable {
        let legs: Int

        private enum CodingKeys: String, CodingKey { case legs }

        required init(from decoder: any Decoder) throws {
            legs = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .legs)
        }
    }

    final class Bird: Animal, Equatable {
        let song: String

        private enum CodingKeys: String, CodingKey { case song }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            song = try container.decode(String.self, forKey: .song)
            try super.init(from: container.superDecoder())
        }

        static func == (left: Bird, right: Bird) -> Bool { left.song == right.song && left.legs == right.legs }
    }

    @Test(arguments: [
        #"{"song":"a","super":{"legs":2}}"#, #"{"song":"a"}"#, #"{"song":"a","super":null}"#,
        #"{"super":{"legs":2}}"#, #"{"song":"a","super":{"legs":"2"}}"#, #"{"song":"a","super":{}}"#,
    ])
    func superclassesAreDecoded(text: String) {
        expectFoundationsVerdict([Bird].self, "[\(text)]")
    }

    struct Names: Decodable, Equatable {
        let names: [String]

        init(from decoder: any Decoder) throws {
            names = try decoder.container(keyedBy: AnyName.self).allKeys.map(\.stringValue).sorted()
        }
    }

    @Test(arguments: [
        "foo_bar", "fooBar", "_foo_bar", "foo_bar_", "__foo_bar__", "foo__bar", "FOO_BAR", "foo_Bar", "_", "__", "_a",
        "a_",
        "", "one_two_three", "straße_größe", "É_É", "a_ß", "İ_i", "x_iİ", "a_1b", "1_a", "x_a1b", "x_a-b", "x_a'b",
        "x_a.b", "x_a b", "x_éa", "x_a\u{301}b", "x_ǆa", "x_ﬁx", "x_a中b", "x_1ab2cd", "x_😀b", "x_ʰb", "x_aʰb", "x_a’b",
        "a_ñandú_X", "A",
    ])
    func snakeCaseIsThatOfFoundation(name: String) {
        expectFoundationsVerdict(Names.self, "{\"\(name)\":1}") { $0.keyDecodingStrategy = .convertFromSnakeCase }
    }

    @Test func theFirstOfRepeatedNamesCounts() throws {
        struct Pair: Decodable, Equatable { var a, b: Int }
        expectFoundationsVerdict(Pair.self, #"{"a":1,"b":2,"a":3,"b":4}"#)
        expectFoundationsVerdict(Pair.self, #"{"a":1,"\u0061":"x","b":2}"#)
        expectFoundationsVerdict([String: Int].self, #"{"a":1,"b":2,"a":"x"}"#)
        // With many members, they are found by another way.
        let many = (0..<40).map { "\"n\($0)\":0" }.joined(separator: ",")
        expectFoundationsVerdict(Pair.self, #"{"a":1,\#(many),"b":2,"a":3,"b":4}"#)
        expectFoundationsVerdict(Pair.self, #"{\#(many)}"#)
        #expect(try JSONBodyDecoder().decode(Pair.self, from: Data(#"{"a":1,"b":2,"a":3}"#.utf8)) == Pair(a: 1, b: 2))
    }

    @Test func userInfoIsPassedOn() throws {
        struct Informed: Decodable {
            let text: String

            init(from decoder: any Decoder) throws {
                guard let key = CodingUserInfoKey(rawValue: "k") else { throw CancellationError() }
                text = decoder.userInfo[key] as? String ?? ""
            }
        }
        var decoder = JSONBodyDecoder()
        decoder.userInfo[try #require(CodingUserInfoKey(rawValue: "k"))] = "v"
        #expect(try decoder.decode([Informed].self, from: Data("[1]".utf8)).map(\.text) == ["v"])
    }

    /// A decoder that a value keeps reads the text after the call.
    @Test func decodersOutliveTheCall() throws {
        struct Kept: Decodable {
            let decoder: any Decoder

            init(from decoder: any Decoder) throws { self.decoder = decoder }
        }
        let kept = try (0..<2).map { _ in
            try JSONBodyDecoder().decode([Kept].self, from: Data(#"["first text", ["second"], {"a": 3}]"#.utf8))
        }
        for values in kept {
            try #require(values.map { names($0.decoder.codingPath) } == [["Index 0"], ["Index 1"], ["Index 2"]])
            #expect(try values[0].decoder.singleValueContainer().decode(String.self) == "first text")
            #expect(try values[1].decoder.singleValueContainer().decode([String].self) == ["second"])
            #expect(try values[2].decoder.singleValueContainer().decode([String: Int].self) == ["a": 3])
        }
    }

    @Test func floatsThatDoNotConformFollowTheStrategy() throws {
        let text = Data(#"["+", "-", "?", 1]"#.utf8)
        var decoder = JSONBodyDecoder()
        #expect(throws: DecodingError.self) { try decoder.decode([Double].self, from: text) }
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "+", negativeInfinity: "-", nan: "?")
        let values = try decoder.decode([Double].self, from: text)
        #expect(values[0] == .infinity && values[1] == -.infinity && values[2].isNaN && values[3] == 1)
        #expect(try decoder.decode([Float].self, from: text)[2].isNaN)
    }
}
