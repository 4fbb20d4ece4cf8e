import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct PropertyListTests {
    private static let whole: PropertyListValue = [
        "text": "é <&> \"'", "yes": true, "no": false, "int": 7, "negative": -3, "big": .unsigned(.max),
        "smallest": .integer(.min), "real": 1.5, "date": .date(Date(timeIntervalSince1970: 86400)),
        "data": .data(Data([0, 255])),
        "empty": "", "array": [1, "two", [], [:]], "nested": ["a": ["b": ["c": 1]]], "漢": "😀",
    ]

    @Test(arguments: [PropertyListValue.Format.xml, .binary]) func outputIsReadHereAndByFoundation(
        format: PropertyListValue.Format
    ) throws {
        let data = try Self.whole.data(format: format)
        #expect(try PropertyListValue(parsing: data) == Self.whole)
        // Foundation's decoder reads the output, and the parser reads the output of Foundation's encoder.
        let plain: PropertyListValue = [
            "id": 1, "when": .date(Date(timeIntervalSince1970: 5)), "raw": .data(Data(repeating: 7, count: 300)),
            "tags": ["a", "é", ""],
        ]
        let post = try PropertyListDecoder().decode(Post.self, from: plain.data(format: format))
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format == .xml ? .xml : .binary
        #expect(try PropertyListValue(parsing: encoder.encode(post)) == plain)
    }

    /// An array with one reference of eight bytes, and offsets of eight bytes.
    @Test(arguments: [1, 0x7F, 0x1000_0000_0000_0000, UInt64(Int64.max), .max] as [UInt64])
    func referenceOutOfRangeIsMalformed(reference: UInt64) {
        let numbers: [UInt64] = [8, 0x0808, 1, 0, 17]
        var bytes = Array("bplist00".utf8) + [0xA1]
        for number in [reference] + numbers { bytes += withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        let error = #expect(throws: PropertyListSyntaxError.self) { try PropertyListValue(parsing: Data(bytes)) }
        #expect(error?.kind == .malformed)
    }

    @Test(arguments: [1e300, -1e300, 1e18, 1e13])
    func dateBeyondTheCalendarIsWrittenInBinary(seconds: Double) throws {
        let value: PropertyListValue = ["date": .date(Date(timeIntervalSinceReferenceDate: seconds))]
        #expect(try PropertyListValue(parsing: value.data(format: .binary)) == value)
    }

    @Test(arguments: [1e300, -1e300, 1e18, .nan]) func dateBeyondTheCalendarIsRefusedInXML(seconds: Double) {
        let value: PropertyListValue = ["date": .date(Date(timeIntervalSinceReferenceDate: seconds))]
        let error = #expect(throws: SerializationError.self) { try value.data(format: .xml) }
        #expect(error?.code == .encodingFailed)
    }

    private struct Post: Codable, Equatable, Sendable { var id: Int, when: Date, raw: Data, tags: [String] }

    @Test(arguments: [PropertyListValue.Format.xml, .binary])
    func serializersAgreeWithFoundation(format: PropertyListValue.Format) throws {
        let post = Post(id: 1, when: Date(timeIntervalSince1970: 5), raw: Data([1]), tags: ["a", "é"])
        let serializer = PropertyListRequestSerializer(format: format)
        let parameters: RequestParameters = [
            "id": 1, "when": post.when, "raw": post.raw, "tags": ["a", "é"],
        ]
        let request = try serializer.serialize(try makeRequest(method: .post), parameters: parameters)
        #expect(request.headerFields[.contentType] == "application/x-plist")
        let body = try #require(request.body?.data)
        #expect(try PropertyListDecoder().decode(Post.self, from: body) == post)
        #expect(body.starts(with: format == .xml ? "<?xml".utf8 : "bplist00".utf8))
        let encodedPost = try serializer.serialize(try makeRequest(method: .put), encoding: post)
        let response = makeResponse(try #require(encodedPost.body?.data), type: "application/x-plist")
        #expect(try DecodablePropertyListResponseSerializer(Post.self).serialize(response) == post)
        let tree = try PropertyListResponseSerializer().serialize(response)
        #expect(tree?["tags"]?[1]?.string == "é")
        #expect(tree?["id"]?.int == 1)
    }

    @Test func methodsAndMissingParametersFollowTheCommonRules() throws {
        let serializer = PropertyListRequestSerializer()
        let get = try serializer.serialize(try makeRequest(), parameters: ["a": 1])
        #expect(get.url.query() == "a=1")
        let none = try serializer.serialize(try makeRequest(method: .post), parameters: nil)
        #expect(none.body == nil)
        #expect(none.headerFields[.contentType] == nil)
    }

    @Test(arguments: [nil, ["a": ParameterValue.null], ["a": .set([1])]] as [ParameterValue])
    func nullAndSetsAreRefusedInPropertyLists(value: ParameterValue) {
        let error = #expect(throws: SerializationError.self) {
            try PropertyListRequestSerializer().serialize(
                try makeRequest(method: .post), parameters: RequestParameters(value))
        }
        #expect(error?.code == .invalidParameters)
    }

    @Test func topLevelPlainValueIsRefused() {
        let error = #expect(throws: SerializationError.self) { try PropertyListValue.bool(true).data() }
        #expect(error?.code == .encodingFailed)
    }

    @Test(
        arguments: [
            ("<plist version=\"1.0\"><integer>7</integer></plist>", 7), ("<array/>", []), ("<dict></dict>", [:]),
            ("\u{FEFF}<?xml version='1.0'?><!DOCTYPE plist PUBLIC \"a>b\"><plist><true/></plist>", true),
            (
                "<plist><!-- c --><array><!-- d --><string>a<!-- e -->b<![CDATA[<&]]>&#65;&#x1F600;&amp;</string></array></plist>",
                ["ab<&A😀&"]
            ),
            ("<string> two  spaces </string>", " two  spaces "), ("<integer>0xFF</integer>", 255),
            ("<integer>-0x10</integer>", -16),
            ("<integer>+5</integer>", 5), ("<integer>18446744073709551615</integer>", .unsigned(.max)),
            ("<real>1e3</real>", 1000.0), ("<real>-infinity</real>", .real(-.infinity)), ("<string/>", ""),
            ("<data>\n\tAA\n\t==\n</data>", .data(Data([0]))),
            ("<dict><key>a</key><false></false></dict>", ["a": false]),
            ("<date>2030-01-02T03:04:05Z</date>", .date(Date(timeIntervalSince1970: 1_893_553_445))),
            ("<dict><key a='>'>k</key><string>v</string></dict>", ["k": "v"]),
        ] as [(String, PropertyListValue)])
    func xmlIsRead(text: String, expected: PropertyListValue) throws {
        #expect(try PropertyListValue(parsing: Data(text.utf8)) == expected)
    }

    @Test(
        arguments: [
            ("", .unknownFormat), ("{a=1;}", .unknownFormat), ("<plist>", .malformed), ("<plist/>", .malformed),
            ("<plist></plist>", .malformed), ("<array>", .malformed), ("<array></dict>", .malformed),
            ("<string>a", .malformed),
            ("<string>a</integer>", .malformed), ("<dict><string>a</string></dict>", .malformed),
            ("<dict><key>a</key></dict>", .malformed),
            ("<integer>x</integer>", .malformed), ("<integer></integer>", .malformed),
            ("<integer>--1</integer>", .malformed),
            ("<integer>99999999999999999999</integer>", .malformed), ("<real></real>", .malformed),
            ("<date>x</date>", .malformed),
            ("<data>*</data>", .malformed), ("<unknown/>", .malformed), ("<true>x</true>", .malformed),
            ("<array/><array/>", .malformed),
            ("<string>&undefined;</string>", .malformed), ("<string>&#xD800;</string>", .malformed),
            ("<string>&</string>", .malformed),
            ("<!-- ", .malformed), ("<string><b/></string>", .malformed), ("</array>", .malformed),
            ("<plist><array/>", .malformed),
            ("<!DOCTYPE plist [<!ENTITY x \"lol\">]><string>&x;</string>", .entityDeclaration),
        ] as [(String, PropertyListSyntaxError.Kind)])
    func malformedPropertyListsAreTypedErrors(text: String, kind: PropertyListSyntaxError.Kind) {
        let error = #expect(throws: PropertyListSyntaxError.self) { try PropertyListValue(parsing: Data(text.utf8)) }
        #expect(error?.kind == kind)
    }

    @Test func depthIsLimitedForTreesAndForFoundation() throws {
        func nested(_ depth: Int) -> Data {
            Data((String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)).utf8)
        }
        #expect(try PropertyListValue(parsing: nested(512)) != [])
        #expect(
            #expect(throws: PropertyListSyntaxError.self) { try PropertyListValue(parsing: nested(513)) }?.kind
                == .nestedTooDeep)
        let deep = makeResponse(nested(1_000_000), type: "application/x-plist")
        let error = #expect(throws: SerializationError.self) {
            try DecodablePropertyListResponseSerializer([String].self).serialize(deep)
        }
        #expect(error?.code == .nestedTooDeep)
        #expect(error?.response?.body == deep.body)
    }

    @Test(
        arguments: [
            ([[0x08]], false), ([[0x10, 200]], 200), ([[0x11, 1, 0]], 256),
            ([[0x13, 255, 255, 255, 255, 255, 255, 255, 255]], -1),
            ([[0x14, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]], .unsigned(.max)),
            ([[0x22, 0x3F, 0xC0, 0, 0]], 1.5),
            ([[0x33, 0, 0, 0, 0, 0, 0, 0, 0]], .date(Date(timeIntervalSinceReferenceDate: 0))),
            ([[0x51, 0x61]], "a"), ([[0x62, 0xD8, 0x3D, 0xDE, 0x00]], "😀"), ([[0x41, 9]], .data(Data([9]))),
            ([[0xA2, 1, 1], [0x09]], [true, true]), ([[0xD1, 1, 2], [0x51, 0x6B], [0x10, 1]], ["k": 1]),
            ([[0x5F, 0x10, 1, 0x61]], "a"), ([[0xC1, 1], [0x09]], [true]),
        ] as [([[UInt8]], PropertyListValue)])
    func binaryObjectsAreRead(objects: [[UInt8]], expected: PropertyListValue) throws {
        #expect(try PropertyListValue(parsing: binaryPropertyList(objects)) == expected)
    }

    @Test(
        arguments: [
            ([[0x00]], .unsupportedValue), ([[0x80, 1]], .unsupportedValue), ([[0x15]], .malformed),
            ([[0x21, 0, 0]], .malformed),
            ([[0x51, 0x80]], .malformed), ([[0x61, 0xD8, 0x00]], .malformed), ([[0xA1, 9]], .malformed),
            ([[0xA5]], .malformed),
            ([[0xD1, 1, 1], [0x09]], .malformed), ([[0x5F, 0x13, 127, 255, 255, 255, 255, 255, 255, 255]], .malformed),
            ([[0x33, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]], .malformed), ([[0x70]], .malformed),
            ([[0xA1, 0]], .nestedTooDeep),
        ] as [([[UInt8]], PropertyListSyntaxError.Kind)])
    func hostileBinaryObjectsAreTypedErrors(objects: [[UInt8]], kind: PropertyListSyntaxError.Kind) {
        let error = #expect(throws: PropertyListSyntaxError.self) {
            try PropertyListValue(parsing: binaryPropertyList(objects))
        }
        #expect(error?.kind == kind)
    }

    /// Foundation's decoder, which decodes types, refuses them as well.
    @Test func bytesBetweenTheOffsetsAndTheTrailerAreRefused() throws {
        var list = binaryPropertyList([[0xA1, 1], [0x09]])
        #expect(try PropertyListValue(parsing: list) == [true])
        list.insert(contentsOf: [0, 0], at: list.count - 32)
        let error = #expect(throws: PropertyListSyntaxError.self) { try PropertyListValue(parsing: list) }
        #expect(error?.kind == .malformed)
        #expect(throws: DecodingError.self) { try PropertyListDecoder().decode([Bool].self, from: list) }
    }

    /// An object to which nothing refers lies in the table of offsets.
    @Test func allObjectsAreBeforeTheirOffsets() throws {
        var list = binaryPropertyList([[0xA1, 1], [0x09], [0x08]])
        #expect(try PropertyListValue(parsing: list) == [true])
        list[list.count - 33] += 2
        let error = #expect(throws: PropertyListSyntaxError.self) { try PropertyListValue(parsing: list) }
        #expect(error?.kind == .malformed)
        #expect(throws: DecodingError.self) { try PropertyListDecoder().decode([Bool].self, from: list) }
    }

    /// Each of the 512 levels would keep its references: a gigabyte, from a list of 256 KiB.
    @Test func longArraysThatContainThemselvesTakeLittleMemory() throws {
        let list = binaryPropertyList([[0xAF, 0x12, 0, 4, 0, 0] + [UInt8](repeating: 0, count: 1 << 18)])
        // Resets the peak (proc_pid_clear_refs(5)).
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        let before = try processMemory("VmHWM")
        let error = #expect(throws: PropertyListSyntaxError.self) { try PropertyListValue(parsing: list) }
        #expect(error?.kind == .nestedTooDeep)
        let grown = try processMemory("VmHWM") - before
        #expect(isSanitized || grown < 256 << 20)
    }

    @Test func theLimitsAreTheOptions() throws {
        let nested = Data("<array><array><true/></array></array>".utf8)
        let depth = PropertyListValue.ParsingOptions(maximumDepth: 1)
        let deep = #expect(throws: PropertyListSyntaxError.self) {
            try PropertyListValue(parsing: nested, options: depth)
        }
        #expect(deep?.kind == .nestedTooDeep)
        #expect(throws: Never.self) { try PropertyListValue(parsing: nested, options: .init(maximumDepth: 2)) }
        // An array of ten times the same array.
        let objects: [[UInt8]] = (1...2).map { [0xAA] + [UInt8](repeating: UInt8($0), count: 10) } + [[0x09]]
        let list = binaryPropertyList(objects)
        let expansion = PropertyListValue.ParsingOptions(maximumExpansion: 1)
        let large = #expect(throws: PropertyListSyntaxError.self) {
            try PropertyListValue(parsing: list, options: expansion)
        }
        #expect(large?.kind == .expandsTooMuch)
        #expect(throws: Never.self) { try PropertyListValue(parsing: list) }
    }

    @Test func sharedArraysThatExpandAreRefused() {
        let objects: [[UInt8]] = (1...30).map { [0xAA] + [UInt8](repeating: UInt8($0), count: 10) } + [[0x09]]
        let error = #expect(throws: PropertyListSyntaxError.self) {
            try PropertyListValue(parsing: binaryPropertyList(objects))
        }
        #expect(error?.kind == .expandsTooMuch)
    }

    @Test(arguments: [PropertyListValue.Format.xml, .binary]) func mutatedBytesNeverCrash(
        format: PropertyListValue.Format
    ) throws {
        let whole = Array(try Self.whole.data(format: format))
        for length in 0..<whole.count { _ = try? PropertyListValue(parsing: Data(whole.prefix(length))) }
        var dice = SplitMix(seed: RandomSeed.next())
        for _ in 0..<3000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &dice) {
                bytes[Int.random(in: 0..<bytes.count, using: &dice)] = .random(in: 0...255, using: &dice)
            }
            _ = try? PropertyListValue(parsing: Data(bytes))
        }
    }

    @Test func emptyBodyIsNil() throws {
        let empty = makeResponse("", status: 204, type: nil)
        #expect(try PropertyListResponseSerializer().serialize(empty) == nil)
        #expect(try DecodablePropertyListResponseSerializer(Post?.self).serialize(empty) == nil)
        #expect(throws: SerializationError.self) {
            try DecodablePropertyListResponseSerializer(Post.self).serialize(empty)
        }
    }
}
