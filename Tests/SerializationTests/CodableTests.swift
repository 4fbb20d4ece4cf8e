import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct CodableTests {
    private func copy<T: Codable>(_ value: T) throws -> T {
        try JSONDecoder().decode(T.self, from: try JSONEncoder().encode(value))
    }

    @Test func requestSerializersSurviveCoding() throws {
        var query = QueryEncoder()
        query.arrayStyle = .indices
        query.nestingStyle = .dots
        query.sortsKeys = false
        query.boolStyle = .words
        query.nullStyle = .dropped
        query.emptyCollectionStyle = .emptyValue
        query.spaceStyle = .plus
        var form = FormRequestSerializer(methodsEncodingParametersInURL: [.post, .get], queryEncoder: query)
        form.requestOptions.timeout = .milliseconds(1500)
        form.requestOptions.cachePolicy = .reloadIgnoringCache
        try form.headerFields.set("x", forName: "X-A")
        #expect(try copy(form) == form)
        let json = JSONRequestSerializer(
            options: JSONValue.WritingOptions(sortsKeys: true, isPretty: true), queryEncoder: query)
        #expect(try copy(json) == json)
        let plist = PropertyListRequestSerializer(format: .binary, headerFields: [:])
        #expect(try copy(plist) == plist)
        #expect(try copy(form) != FormRequestSerializer())
    }

    // MARK: Every setting

    /// Checks that `changed` has no default value, and that it equals its copy.
    private func expectSurvival<T: Codable & Hashable>(_ changed: T, of defaults: T, except: [String] = []) throws {
        #expect(unchangedSettings(in: changed, from: defaults).filter { !except.contains($0) } == [])
        #expect(try copy(changed) == changed)
    }

    private static let validation: ResponseValidation = {
        var validation = ResponseValidation(statusCodes: 201..<300, contentTypes: ["a/b"])
        validation.acceptsEmptyBody = false
        return validation
    }()

    private static func requestSettings() throws -> RequestSerializerSettings {
        var settings = RequestSerializerSettings(headerFields: [:], methodsEncodingParametersInURL: [.post])
        try settings.headerFields.set("x", forName: "X-A")
        settings.requestOptions = RequestOptions {
            $0.timeout = .milliseconds(1500)
            $0.idleTimeout = .seconds(2)
            $0.connectTimeout = .nanoseconds(3)
            $0.cachePolicy = .cacheOnly
            $0.usesCookies = false
            $0.mainDocument = URL(string: "https://example.org/")
            $0.isTopLevelNavigation = true
            $0.allowsExpensiveNetworks = false
            $0.waitsForConnectivity = true
            $0.continuePolicy = .bodies(ofAtLeast: 7)
            $0.sendsIdempotencyKey = true
            $0.tag = "import"
            $0.template = "/import"
        }
        settings.queryEncoder.arrayStyle = .repeated
        settings.queryEncoder.nestingStyle = .dots
        settings.queryEncoder.sortsKeys = false
        settings.queryEncoder.boolStyle = .words
        settings.queryEncoder.nullStyle = .emptyValue
        settings.queryEncoder.emptyCollectionStyle = .bareKey
        settings.queryEncoder.spaceStyle = .plus
        return settings
    }

    /// The closure of a query encoder cannot be coded, which is an error (`closuresCannotBeCoded`).
    private static let closure = ["settings.queryEncoder.closure"]

    @Test func everySettingOfRequestSerializersSurvives() throws {
        var form = FormRequestSerializer()
        form.settings = try Self.requestSettings()
        try expectSurvival(form, of: FormRequestSerializer(), except: Self.closure)
        var json = JSONRequestSerializer(options: JSONValue.WritingOptions(sortsKeys: true, isPretty: true))
        json.settings = try Self.requestSettings()
        try expectSurvival(json, of: JSONRequestSerializer(), except: Self.closure)
        var plist = PropertyListRequestSerializer(format: .binary)
        plist.settings = try Self.requestSettings()
        try expectSurvival(plist, of: PropertyListRequestSerializer(), except: Self.closure)
    }

    @Test func everySettingOfResponseSerializersSurvives() throws {
        try expectSurvival(DataResponseSerializer(validation: Self.validation), of: DataResponseSerializer())
        var text = StringResponseSerializer(validation: Self.validation, fallbackCharset: .windows1252)
        text.charsets = [.latin1, .utf8]
        // A charset with a closure cannot be coded, which is an error, too.
        try expectSurvival(text, of: StringResponseSerializer(), except: ["fallbackCharset.closure"])
        let json = JSONResponseSerializer(
            validation: Self.validation, removesNullValues: true,
            options: JSONValue.ParsingOptions(
                maximumDepth: 3, allowsFragments: false, duplicateNames: .refused, maximumMemory: 1000))
        try expectSurvival(json, of: JSONResponseSerializer())
        let options = PropertyListValue.ParsingOptions(maximumDepth: 3, maximumExpansion: 4)
        let plist = PropertyListResponseSerializer(validation: Self.validation, options: options)
        try expectSurvival(plist, of: PropertyListResponseSerializer())

        // Not Hashable, so the settings are compared. Arguments of the type's initializer are omitted.
        typealias Generic = DecodablePropertyListResponseSerializer<[Int]>
        let generic = Generic(validation: Self.validation, options: options)
        #expect(unchangedSettings(in: generic, from: Generic()) == ["userInfo"])
        let copied = try copy(generic)
        #expect(copied.validation == generic.validation && copied.options == generic.options)
    }

    @Test func everyMemberOfACompoundSurvivesWithItsSettings() throws {
        let json = JSONResponseSerializer(
            validation: Self.validation, removesNullValues: true,
            options: JSONValue.ParsingOptions(
                maximumDepth: 3, allowsFragments: false, duplicateNames: .first, maximumMemory: 2000))
        let values = CompoundResponseSerializer<JSONValue?>([json, JSONResponseSerializer()])
        #expect(try copy(values).members.map { $0 as? JSONResponseSerializer } == [json, JSONResponseSerializer()])
        let options = PropertyListValue.ParsingOptions(maximumDepth: 3, maximumExpansion: 4)
        let plist = PropertyListResponseSerializer(validation: Self.validation, options: options)
        let lists = CompoundResponseSerializer<PropertyListValue?>([plist])
        #expect(try copy(lists).members.map { $0 as? PropertyListResponseSerializer } == [plist])
        let data = DataResponseSerializer(validation: Self.validation)
        let bodies = CompoundResponseSerializer<Data>([CompoundResponseSerializer<Data>([data]), data])
        let decoder = JSONDecoder()
        let types: [any (Decodable & SendableMetatype).Type] = [CompoundResponseSerializer<Data>.self]
        decoder.userInfo[.responseSerializerTypes] = types
        let copied = try decoder.decode(
            CompoundResponseSerializer<Data>.self, from: JSONEncoder().encode(bodies))
        let inner = copied.members.first as? CompoundResponseSerializer<Data>
        #expect(inner?.members.map { $0 as? DataResponseSerializer } == [data])
        #expect(copied.members.last as? DataResponseSerializer == data)
    }

    @Test func missingSettingsHaveTheirDefaults() throws {
        let empty = Data("{}".utf8)
        #expect(try JSONDecoder().decode(QueryEncoder.self, from: empty) == QueryEncoder())
        #expect(try JSONDecoder().decode(RequestSerializerSettings.self, from: empty) == RequestSerializerSettings())
        #expect(try JSONDecoder().decode(RequestOptions.self, from: empty) == RequestOptions())
        #expect(try JSONDecoder().decode(ResponseValidation.self, from: empty) == ResponseValidation())
    }

    @Test func closuresCannotBeCoded() {
        let serializer = FormRequestSerializer(queryEncoder: QueryEncoder { _, _ in "" })
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(serializer) }
    }

    @Test func responseSerializersSurviveCoding() throws {
        var codes = RangeSet(200..<300)
        codes.insert(contentsOf: 404..<405)
        var validation = ResponseValidation(statusCodes: codes, contentTypes: ["a/b"])
        validation.acceptsEmptyBody = false
        #expect(try copy(validation) == validation)
        #expect(try copy(ResponseValidation.none) == .none)
        let options = JSONValue.ParsingOptions(
            maximumDepth: 3, allowsFragments: false, duplicateNames: .refused, maximumMemory: 1000)
        let json = JSONResponseSerializer(validation: validation, removesNullValues: true, options: options)
        #expect(try copy(json) == json)
        let text = StringResponseSerializer(validation: validation, fallbackCharset: .windows1252)
        #expect(try copy(text) == text)
        let plist = PropertyListResponseSerializer(options: PropertyListValue.ParsingOptions(maximumDepth: 3))
        #expect(try copy(plist) == plist)
        #expect(
            try copy(DataResponseSerializer(validation: validation)) == DataResponseSerializer(validation: validation))
        #expect(try copy(QueryParser()) == QueryParser())
    }

    @Test func compoundSerializersSurviveCoding() throws {
        let json = JSONResponseSerializer(
            validation: ResponseValidation(statusCodes: 200..<201), removesNullValues: true)
        let serializer = CompoundResponseSerializer<JSONValue?>([json, JSONResponseSerializer()])
        let coded = try copy(serializer)
        #expect(coded.members.map { $0 as? JSONResponseSerializer } == [json, JSONResponseSerializer()])
        let text = CompoundResponseSerializer<String>([StringResponseSerializer(fallbackCharset: .latin1)])
        #expect(try copy(text).serialize(makeResponse(Data([0xE9]), type: nil)) == "é")

        let decoder = JSONDecoder()
        let generic = CompoundResponseSerializer<[Int]>([DecodablePropertyListResponseSerializer([Int].self)])
        let data = try JSONEncoder().encode(generic)
        #expect(throws: DecodingError.self) { try decoder.decode(CompoundResponseSerializer<[Int]>.self, from: data) }
        let types: [any (Decodable & SendableMetatype).Type] = [DecodablePropertyListResponseSerializer<[Int]>.self]
        decoder.userInfo[.responseSerializerTypes] = types
        #expect(try decoder.decode(CompoundResponseSerializer<[Int]>.self, from: data).members.count == 1)
        #expect(throws: DecodingError.self) { try decoder.decode(CompoundResponseSerializer<Int>.self, from: data) }
    }

    @Test func membersWithClosuresCannotBeCoded() {
        let serializer = CompoundResponseSerializer<Int>([StringResponseSerializer().map(\.count)])
        let error = #expect(throws: EncodingError.self) { try JSONEncoder().encode(serializer) }
        guard case .invalidValue(_, let context) = error else { return }
        #expect(context.debugDescription.contains("closure"))
    }

    @Test(
        arguments: [
            #"{"statusCodes":[[1]]}"#, #"{"statusCodes":[[3,2]]}"#, #"{"statusCodes":[[1,2,3]]}"#,
        ])
    func damagedStatusesAreErrors(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ResponseValidation.self, from: Data(text.utf8)) }
    }

    @Test func missingKeysHaveTheirDefaults() throws {
        func decoded<T: Decodable>(_ text: String) throws -> T {
            try JSONDecoder().decode(T.self, from: Data(text.utf8))
        }
        #expect(try decoded("{}") == FormRequestSerializer())
        #expect(try decoded("{}") == JSONRequestSerializer())
        #expect(try decoded("{}") == PropertyListRequestSerializer())
        #expect(try decoded("{}") == JSONResponseSerializer())
        #expect(try decoded("{}") == ResponseValidation())
        #expect(try decoded(#"{"statusCodes": null}"#) == ResponseValidation.none)
        #expect(
            try decoded(#"{"options": {"isPretty": true}, "settings": {"requestOptions": {"timeout": 1.5}}}"#)
                == {
                    var serializer = JSONRequestSerializer(options: JSONValue.WritingOptions(isPretty: true))
                    serializer.requestOptions.timeout = .milliseconds(1500)
                    return serializer
                }())
    }

    @Test func optionsHaveTheirTimesInSeconds() throws {
        var options = RequestOptions()
        for timeout in [Duration.milliseconds(1500), .nanoseconds(3), .seconds(-1), .seconds(86_400 * 400), .zero] {
            options.timeout = timeout
            #expect(try copy(options) == options)
        }
        options.timeout = .milliseconds(1500)
        #expect(try String(decoding: JSONEncoder().encode(options), as: UTF8.self) == #"{"timeout":1.5}"#)
        for text in [#"{"timeout": 1e300}"#, #"{"timeout": [0, 1]}"#] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(RequestOptions.self, from: Data(text.utf8))
            }
        }
    }

    @Test func damagedNamesAreErrors() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([Charset].self, from: Data(#"["klingon"]"#.utf8))
        }
        let text = #"{"methodsEncodingParametersInURL":["G T"]}"#
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(RequestSerializerSettings.self, from: Data(text.utf8))
        }
    }

    @Test func limitsHoldAfterDecoding() throws {
        let text = #"{"depth":1000000,"maximumExpansion":2}"#
        let plist = try JSONDecoder().decode(PropertyListValue.ParsingOptions.self, from: Data(text.utf8))
        #expect(plist.maximumDepth == 512)
    }

    @Test func treesOfJSONAreEncodedAsParameters() throws {
        let plain: JSONValue = ["b": 1, "a": [1.5, nil, "é", false]]
        #expect(try RequestParameters(encoding: plain) == ["b": 1, "a": [1.5, nil, "é", false] as ParameterValue])
    }
}
