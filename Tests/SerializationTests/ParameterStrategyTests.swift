import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct ParameterStrategyTests {
    private struct Sample: Encodable {
        var createdAt = Date(timeIntervalSince1970: 1.5)
        var rawBytes = Data([251])
        var names = ["someKey": 1]
    }

    private func encode(_ configure: (inout ParameterEncoder) -> Void) throws -> RequestParameters {
        var encoder = ParameterEncoder()
        configure(&encoder)
        return try encoder.encode(Sample())
    }

    @Test func datesFollowTheirStrategy() throws {
        let date = Date(timeIntervalSince1970: 1.5)
        let expected: [(ParameterEncoder.DateEncodingStrategy, ParameterValue)] = [
            (.deferred, .date(date)), (.iso8601, "1970-01-01T00:00:01.500Z"), (.secondsSince1970, 1.5),
            (.millisecondsSince1970, 1500), (.formatted { "at \($0.timeIntervalSince1970)" }, "at 1.5"),
        ]
        for (strategy, value) in expected {
            #expect(try encode { $0.dateEncodingStrategy = strategy }["createdAt"] == value)
        }
        var encoder = ParameterEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        #expect(try encoder.encode([Date(timeIntervalSince1970: 1_893_553_445)]).root == [1_893_553_445])
        #expect(
            try QueryEncoder().encode(encoder.encode(["t": Date(timeIntervalSince1970: 1e15)])) == "t=1000000000000000")
    }

    @Test func dataFollowsItsStrategy() throws {
        let expected: [(ParameterEncoder.DataEncodingStrategy, ParameterValue)] = [
            (.deferred, .data(Data([251]))), (.base64, "+w=="), (.formatted { "\($0.count)" }, "1"),
        ]
        for (strategy, value) in expected {
            #expect(try encode { $0.dataEncodingStrategy = strategy }["rawBytes"] == value)
        }
    }

    @Test func keyStrategyAppliesToPropertiesAndNotToDictionaries() throws {
        let snake = try encode { $0.keyEncodingStrategy = .convertToSnakeCase }
        #expect(snake.entries.map(\.key) == ["created_at", "raw_bytes", "names"])
        #expect(snake["names"] == ["someKey": 1])
        let own = try encode { $0.keyEncodingStrategy = .formatted { $0.uppercased() } }
        #expect(own.entries.map(\.key) == ["CREATEDAT", "RAWBYTES", "NAMES"])
    }

    private struct OneName: Encodable {
        let name: String
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(1, forKey: Key(stringValue: name))
        }
        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
    }

    @Test(arguments: [
        ("a", "a"), ("createdAt", "created_at"), ("baseURLString", "base_url_string"), ("myID", "my_id"),
        ("page2Size", "page2_size"), ("already_there", "already_there"), ("_privateName", "_private_name"), ("", ""),
    ])
    func snakeCaseSplitsWords(name: String, expected: String) throws {
        var encoder = ParameterEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        #expect(try encoder.encode(OneName(name: name)).entries.map(\.key) == [expected])
    }

    @Test func snakeCaseMatchesJSONEncoder() throws {
        var random = SplitMix(seed: RandomSeed.next())
        var encoder = ParameterEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let foundation = JSONEncoder()
        foundation.keyEncodingStrategy = .convertToSnakeCase
        for _ in 0..<500 {
            let name = String(
                (0..<Int.random(in: 1...12, using: &random)).map { _ in
                    "abzABZ019_".randomElement(using: &random) ?? "a"
                })
            let written = try encoder.encode(OneName(name: name)).entries.map(\.key)
            let text = String(decoding: try foundation.encode(OneName(name: name)), as: UTF8.self)
            #expect(text == "{\"\(written.joined())\":1}", "\(name)")
        }
    }

    private struct Optionals: Encodable {
        struct Inner: Encodable { var deep: Double? }
        var flag: Bool?
        var number: Int?
        var big: UInt64?
        var text: String?
        var list: [Int]?
        var inner = Inner()
        var there: Int? = 1
    }

    @Test func nilPropertiesAreOmittedUnlessEncodedAsNull() throws {
        #expect(try RequestParameters(encoding: Optionals()) == ["inner": [:] as ParameterValue, "there": 1])
        var encoder = ParameterEncoder()
        encoder.encodesNilAsNull = true
        let parameters = try encoder.encode(Optionals())
        #expect(
            parameters == [
                "flag": ParameterValue.null, "number": ParameterValue.null, "big": ParameterValue.null,
                "text": ParameterValue.null, "list": ParameterValue.null,
                "inner": ["deep": ParameterValue.null] as ParameterValue, "there": 1,
            ])
        var query = QueryEncoder()
        query.nestingStyle = .dots
        query.nullStyle = .emptyValue
        #expect(try query.encode(parameters) == "big=&flag=&inner.deep=&list=&number=&text=&there=1")
        query.nullStyle = .dropped
        #expect(try query.encode(parameters) == "there=1")
    }

    @Test func errorOfAClosureUnderliesTheError() {
        struct Reason: Error {}
        var encoder = ParameterEncoder()
        encoder.dateEncodingStrategy = .formatted { _ in throw Reason() }
        let error = #expect(throws: SerializationError.self) { try encoder.encode([Date()]) }
        #expect(error?.code == .encodingFailed)
        #expect(error?.underlying is Reason)
    }

    @Test func namesOfADictionaryAreSorted() throws {
        let dictionary = Dictionary(uniqueKeysWithValues: (10..<60).map { ("k\($0)", $0) })
        let keys = try RequestParameters(encoding: ["outer": dictionary])["outer"]
        guard case .dictionary(let entries) = keys else { throw SerializationError(code: .encodingFailed, message: "") }
        #expect(entries.map(\.key) == (10..<60).map { "k\($0)" })
    }

    @Test func namesAreComparedByTheirBytes() throws {
        #expect(try RequestParameters(encoding: ["é": 1]).entries.count == 1)
        var parameters: RequestParameters = ["é": 1]
        parameters["e\u{301}"] = 2
        #expect(parameters.entries.count == 2)
        #expect(parameters["é"] == 1)
        let body = try JSONRequestSerializer().serialize(try makeRequest(method: .post), parameters: parameters)
        #expect(bodyText(body) == "{\"é\":1,\"e\u{301}\":2}")
    }

    @Test func treesAreBuiltStepByStep() {
        var parameters: RequestParameters = ["q": "x"]
        parameters["filter", default: [:]]["state"] = "open"
        parameters["filter", default: [:]]["labels", default: []].append("bug")
        parameters["filter", default: [:]]["labels", default: []].append("new")
        parameters["filter"]?["labels"]?[0] = "defect"
        parameters["filter"]?["labels"]?[7] = "nowhere"
        parameters["list", default: .set([])].append(1)
        parameters["plain", default: 1].append(2)
        parameters.merge(["q": "y", "page": 2])
        let filter: ParameterValue = ["state": "open", "labels": ["defect", "new"]]
        #expect(parameters == ["q": "y", "filter": filter, "list": Set([1]), "plain": [2], "page": 2])
        #expect(parameters["filter"]?["labels"]?[2] == Optional.none)
        #expect(parameters["q"]?["x"] == Optional.none)
        #expect(RequestParameters([ParameterValue.Entry("b", 1), .init("a", 2)]).entries.map(\.key) == ["b", "a"])
    }
}
