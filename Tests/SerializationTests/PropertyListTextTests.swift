import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

/// Characters that XML cannot represent verbatim, and the values that other implementations read and write.
@Suite(.timeLimit(.minutes(1))) struct PropertyListTextTests {
    @Test(arguments: [
        "\r", "\r\n", "a\rb\r\nc\n", "\t", " x ", "\n", "]]>", "<!-- -->", "&#13;", "é\u{301}", "\u{85}", "\u{2028}",
    ])
    func textsReadBackUnchanged(text: String) throws {
        for format in [PropertyListValue.Format.xml, .binary] {
            let data = try PropertyListValue.dictionary([text: .string(text)]).data(format: format)
            let read = try PropertyListValue(parsing: data)
            guard case .dictionary(let values) = read, let (key, value) = values.first else {
                Issue.record("no dictionary: \(read)")
                continue
            }
            #expect(Array(key.utf8) == Array(text.utf8))
            #expect(value.string.map { Array($0.utf8) } == Array(text.utf8))
        }
    }

    @Test(arguments: [false, true]) func utf32IsDetectedByItsMark(isBigEndian: Bool) throws {
        let units = "\u{FEFF}<array><string>é😀</string></array>".unicodeScalars.map(\.value)
        let bytes = units.flatMap { unit in
            let big = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: unit >> UInt32($0)) }
            return isBigEndian ? big : big.reversed()
        }
        #expect(try PropertyListValue(parsing: Data(bytes)) == ["é😀"])
    }

    @Test(arguments: ["\u{0}", "a\u{1}", "\u{B}", "\u{1B}[0m", "\u{FFFE}", "\u{FFFF}"])
    func controlCharactersAreRefusedInXMLAndKeptInBinary(text: String) throws {
        for value in [["k": .string(text)], [text: 1]] as [PropertyListValue] {
            let error = #expect(throws: SerializationError.self) { try value.data(format: .xml) }
            #expect(error?.code == .encodingFailed)
            #expect(try PropertyListValue(parsing: value.data(format: .binary)) == value)
        }
        let error = #expect(throws: PropertyListSyntaxError.self) {
            try PropertyListValue(parsing: Data("<string>\(text)</string>".utf8))
        }
        #expect(error?.kind == .malformed)
        let number = try #require(text.unicodeScalars.first { $0.value < 0x20 || $0.value > 0xFFF }).value
        for reference in ["&#\(number);", "&#x\(String(number, radix: 16));"] {
            #expect(throws: PropertyListSyntaxError.self) {
                try PropertyListValue(parsing: Data("<string>\(reference)</string>".utf8))
            }
        }
    }

    @Test(arguments: [
        ("a\r\nb", "a\nb"), ("a\rb", "a\nb"), ("\r\r\n", "\n\n"), ("<![CDATA[\r\n]]>", "\n"), ("&#13;\r", "\r\n"),
    ])
    func lineEndsBecomeLF(source: String, text: String) throws {
        let value = try PropertyListValue(parsing: Data("<string>\(source)</string>".utf8))
        #expect(value.string.map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test(arguments: ["&#x+41;", "&#+65;", "&#;", "&#x;", "&#-1;", "&x41;"]) func malformedReferencesAreRefused(
        text: String
    ) {
        #expect(throws: PropertyListSyntaxError.self) {
            try PropertyListValue(parsing: Data("<string>\(text)</string>".utf8))
        }
    }

    @Test(arguments: [PropertyListValue.Format.xml, .binary]) func zerosKeepTheirSign(format: PropertyListValue.Format)
        throws
    {
        let data = try PropertyListValue.array([0.0, -0.0, 1.5, -0.0]).data(format: format)
        let read = try PropertyListValue(parsing: data)
        #expect((0..<4).map { read[$0]?.double?.sign } == [.plus, .minus, .plus, .minus])
        let response = makeResponse(data, type: "application/x-plist")
        #expect(
            try DecodablePropertyListResponseSerializer([Double].self).serialize(response).map(\.sign)
                == [.plus, .minus, .plus, .minus])
    }

    @Test(
        arguments: [
            ("<integer> 12 </integer>", 12), ("<integer>\n\t-7\r\n</integer>", -7), ("<real> 1.5 </real>", 1.5),
            ("<date>\n2001-01-01T00:00:00Z </date>", .date(Date(timeIntervalSinceReferenceDate: 0))),
            ("<string> 12 </string>", " 12 "),
        ] as [(String, PropertyListValue)])
    func spaceAroundNumbersAndDatesIsIgnored(text: String, expected: PropertyListValue) throws {
        #expect(try PropertyListValue(parsing: Data(text.utf8)) == expected)
        if case .integer(let number) = expected {
            let response = makeResponse("<plist><array>\(text)</array></plist>", type: "application/x-plist")
            #expect(try DecodablePropertyListResponseSerializer([Int64].self).serialize(response) == [number])
        }
    }

    @Test(arguments: ["1 2", "", " ", "\u{A0}1", "1\u{2003}"]) func malformedNumbersAreRefused(text: String) {
        for tag in ["integer", "real", "date"] {
            #expect(throws: PropertyListSyntaxError.self) {
                try PropertyListValue(parsing: Data("<\(tag)>\(text)</\(tag)>".utf8))
            }
        }
    }

    @Test func canonicallyEquivalentKeysAreRefused() throws {
        let xml = "<dict><key>é</key><true/><key>e\u{301}</key><false/></dict>"
        let error = #expect(throws: PropertyListSyntaxError.self) { try PropertyListValue(parsing: Data(xml.utf8)) }
        #expect(error?.kind == .equivalentKeys)
        let binary: [[UInt8]] = [
            [0xD2, 1, 2, 3, 3], [0x61, 0x00, 0xE9], [0x62, 0x00, 0x65, 0x03, 0x01], [0x09],
        ]
        let other = #expect(throws: PropertyListSyntaxError.self) {
            try PropertyListValue(parsing: binaryPropertyList(binary))
        }
        #expect(other?.kind == .equivalentKeys)
        let twice: [[UInt8]] = [[0xD2, 1, 1, 2, 3], [0x51, 0x61], [0x09], [0x08]]
        let equal = #expect(throws: PropertyListSyntaxError.self) {
            try PropertyListValue(parsing: binaryPropertyList(twice))
        }
        #expect(equal?.kind == .equivalentKeys)
        let parameters: RequestParameters = ["é": 1, "e\u{301}": 2]
        let refused = #expect(throws: SerializationError.self) {
            try PropertyListRequestSerializer().serialize(makeRequest(method: .post), parameters: parameters)
        }
        #expect(refused?.code == .invalidParameters)
        let repeated = try PropertyListValue(parsing: Data("<dict><key>a</key><true/><key>a</key><false/></dict>".utf8))
        #expect(repeated == ["a": false])
    }

    /// The seconds are from Python's `datetime`, which is proleptic Gregorian, as ISO 8601 is.
    @Test(
        arguments: [
            ("1582-10-15T00:00:00Z", -12_219_292_800), ("1582-10-14T00:00:00Z", -12_219_379_200),
            ("1500-03-01T12:00:00Z", -14_826_628_800), ("1500-02-28T12:00:00Z", -14_826_715_200),
            ("1066-10-14T09:00:00Z", -28_502_722_800), ("0001-01-01T00:00:00Z", -62_135_596_800),
            ("0000-02-29T00:00:00Z", -62_162_121_600), ("-0001-12-31T23:59:59Z", -62_167_219_201),
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T23:59:59Z", 951_868_799), ("2100-03-01T00:00:00Z", 4_107_542_400),
            ("9999-12-31T23:59:59Z", 253_402_300_799), ("12345-06-07T08:09:10Z", 327_416_976_550),
        ] as [(String, Double)])
    func datesAreProlepticGregorian(text: String, seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(try PropertyListValue(parsing: Data("<date>\(text)</date>".utf8)) == .date(date))
        let written = try PropertyListValue.array([.date(date)]).data()
        #expect(String(decoding: written, as: UTF8.self).contains("<date>\(text)</date>"))
        let response = makeResponse(written, type: "application/x-plist")
        #expect(try DecodablePropertyListResponseSerializer([Date].self).serialize(response) == [date])
        let body = try PropertyListRequestSerializer().serialize(makeRequest(method: .post), encoding: [date]).body?
            .data
        #expect(body == written)
    }

    @Test(arguments: [
        "1582-10-15", "2001-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-02-31T00:00:00Z",
        "2001-13-01T00:00:00Z", "2001-04-31T00:00:00Z",
        "2001-01-00T00:00:00Z", "2001-01-01T24:00:00Z", "2001-01-01T00:60:00Z", "2001-01-01T00:00:00",
        "201-01-01T00:00:00Z",
        "2001-01-01 00:00:00Z", "2001-1-01T00:00:00Z", "2001-01-01T00:00:00ZZ", "+2001-01-01T00:00:00Z",
        "9999999999-01-01T00:00:00Z",
    ])
    func malformedDatesAreRefused(text: String) {
        #expect(throws: PropertyListSyntaxError.self) {
            try PropertyListValue(parsing: Data("<date>\(text)</date>".utf8))
        }
    }

    @Test func daysOfTwelveHundredYearsReadBack() throws {
        for day in stride(from: -365 * 1200, to: 365 * 100, by: 97) {
            let value = PropertyListValue.array([.date(Date(timeIntervalSinceReferenceDate: Double(day) * 86_400))])
            #expect(try PropertyListValue(parsing: value.data()) == value)
        }
    }

    /// The reader does not refuse the shared values of the writer.
    @Test func binaryOutputIsWithinTheReadersLimits() throws {
        let key = String(repeating: "k", count: 32)
        for value in [
            .array(.init(repeating: .string(String(repeating: "x", count: 15)), count: 5000)),
            .array(.init(repeating: .string(String(repeating: "x", count: 500)), count: 200)),
            .array(.init(repeating: [key: true], count: 3000)), .array(.init(repeating: true, count: 70_000)),
        ] as [PropertyListValue] {
            let data = try value.data(format: .binary)
            #expect(try PropertyListValue(parsing: data) == value)
        }
    }
}

/// A binary property list of objects, the first at the top.
func binaryPropertyList(_ objects: [[UInt8]]) -> Data {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
        offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
        bytes += object
    }
    let table = bytes.count
    bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
    for number in [objects.count, 0, table] {
        bytes += (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }
    return Data(bytes)
}
