import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(1))) struct CharsetTests {
    /// The texts are from Python's codecs.
    @Test(
        arguments: [
            ("iso-8859-15", [0xA4, 0xBD, 0xE9], "€œé"), ("Latin9", [0xA4], "€"), ("iso-8859-2", [0xB1, 0xE6], "ąć"),
            ("windows-1250", [0x9C, 0xB9], "śą"), ("cp1251", [0xCF, 0xF0, 0xE8], "При"),
            ("koi8-r", [0xF0, 0xD2], "Пр"),
            ("windows-1253", [0xC1, 0xE1], "Αα"), ("iso-8859-9", [0xFD, 0x80], "ı€"),
            ("windows-1255", [0xF9, 0xEC], "של"),
            ("windows-1256", [0xC7, 0xE1], "ال"), ("windows-874", [0xA1], "ก"), ("windows-1258", [0x61, 0xEC], "á"),
            ("macintosh", [0x8E], "é"), ("ibm866", [0x8F], "П"), ("iso-8859-8-i", [0xE0], "א"),
            ("Shift_JIS", [0x93, 0xFA, 0x96, 0x7B, 0x5C], "日本\\"), ("windows-31j", [0x87, 0x40], "①"),
            ("euc-jp", [0xC6, 0xFC, 0xCB, 0xDC], "日本"),
            ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42], "日"),
            ("gbk", [0xD6, 0xD0, 0xCE, 0xC4], "中文"), ("gb2312", [0xD6, 0xD0], "中"),
            ("gb18030", [0x81, 0x30, 0x81, 0x30, 0x94, 0x39, 0xFC, 0x36], "\u{80}😀"), ("big5", [0xA4, 0xA4], "中"),
            ("euc-kr", [0xC7, 0xD1, 0x81, 0x41], "한갂"), ("ks_c_5601-1987", [0xB1, 0xDB], "글"),
            ("x-user-defined", [0x41, 0x80, 0xFF], "A\u{F780}\u{F7FF}"), ("utf-32le", [0x00, 0xF6, 0x01, 0x00], "😀"),
            ("utf-32", [0x00, 0x00, 0xFE, 0xFF, 0x00, 0x01, 0xF6, 0x00], "😀"),
        ] as [(String, [UInt8], String)])
    func textsOfOtherCharsetsAreRead(name: String, bytes: [UInt8], text: String) throws {
        let response = makeResponse(Data(bytes), type: "text/plain; charset=\(name)")
        let read = try StringResponseSerializer().serialize(response)
        // `String` compares canonically; the scalars must be equal, too, except for the composed accents of Vietnamese.
        #expect(read == text)
        if name != "windows-1258" { #expect(read.unicodeScalars.elementsEqual(text.unicodeScalars)) }
        #expect(
            try StringResponseSerializer().serialize(makeResponse(Data(), type: "text/plain; charset=\(name)")) == "")
    }

    @Test(
        arguments: [
            ("shift_jis", [0x61, 0x93], 1), ("euc-jp", [0xC6, 0x20], 0), ("gbk", [0x61, 0x62, 0xFF], 2),
            ("big5", [0xFF], 0), ("euc-jp", [0x81], 0), ("euc-jp", [0x41, 0xC6, 0xFC, 0x80], 3), ("euc-jp", [0x9F], 0),
            ("big5", [0x61, 0x80], 1),
            ("iso-8859-3", [0x61, 0xA5], 1), ("windows-1253", [0xAA], 0), ("euc-kr", [0x41, 0xC7], 1),
            ("gb18030", [0x81, 0x30], 0), ("utf-16", [0xD8], 0), ("utf-32", [0, 0, 0xD8, 0], 0),
        ] as [(String, [UInt8], Int)])
    func malformedTextIsATypedError(name: String, bytes: [UInt8], offset: Int) throws {
        let charset = try #require(Charset(name: name))
        #expect(charset.decode(bytes) == nil)
        let error = #expect(throws: SerializationError.self) {
            try StringResponseSerializer().serialize(makeResponse(Data(bytes), type: "text/plain; charset=\(name)"))
        }
        #expect(error?.code == .decodingFailed)
        #expect(error?.message.hasSuffix("byte \(offset) or a later one is not in the charset.") == true)
    }

    @Test(
        arguments: [
            ("utf-16le", [0xFE, 0xFF, 0x00, 0x41], "A"), ("utf-16be", [0xFF, 0xFE, 0x41, 0x00], "A"),
            ("utf-16le", [0xFF, 0xFE, 0x41, 0x00], "A"), ("utf-16be", [0xFE, 0xFF, 0x00, 0x41], "A"),
            ("utf-32le", [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x41], "A"), ("utf-32be", [0xFF, 0xFE, 0, 0, 0x41, 0, 0, 0], "A"),
            ("euc-jp", [0x8E, 0xB1, 0x8F, 0xB0, 0xA1], "ｱ丂"),
        ] as [(String, [UInt8], String)])
    func aByteOrderMarkDecidesTheOrder(name: String, bytes: [UInt8], text: String) throws {
        #expect(try #require(Charset(name: name)).decode(bytes) == text)
    }

    /// Labels from the table of the standard.
    @Test(
        arguments: [
            ("utf-8", "unicode-1-1-utf-8 unicode11utf8 utf8 x-unicode20utf8"), ("ibm866", "866 cp866 csibm866"),
            ("iso-8859-6", "arabic asmo-708 ecma-114 iso-8859-6-e iso88596"),
            ("iso-8859-7", "greek elot_928 sun_eu_greek"),
            ("iso-8859-8", "hebrew visual csiso88598e"), ("iso-8859-8-i", "logical csiso88598i"), ("koi8-u", "koi8-ru"),
            ("windows-874", "dos-874 iso-8859-11 tis-620"), ("windows-1254", "latin5 l5 iso_8859-9:1989 x-cp1254"),
            ("gbk", "chinese gb2312 gb_2312-80 x-gbk iso-ir-58"), ("big5", "big5-hkscs cn-big5 x-x-big5"),
            ("shift_jis", "ms932 ms_kanji sjis x-sjis windows-31j"),
            ("euc-kr", "korean ksc5601 windows-949 iso-ir-149"),
            ("utf-16le", "ucs-2 unicode unicodefeff iso-10646-ucs-2"), ("utf-16be", "unicodefffe"),
            ("x-mac-cyrillic", "x-mac-ukrainian"), ("iso-8859-1", "latin1 l1 ibm819 iso_8859-1:1987"),
            ("us-ascii", "ascii ansi_x3.4-1968"), ("windows-1252", "cp1252 x-cp1252"),
        ])
    func labelsFindTheirCharset(name: String, labels: String) throws {
        for label in labels.split(separator: " ") {
            #expect(Charset(name: label.uppercased())?.description == name)
        }
    }

    @Test(arguments: ["iso-2022-kr", "hz-gb-2312", "replacement", "utf-7", "", "utf-8//IGNORE", "../x", "klingon"])
    func charsetsThatBrowsersRefuseAreNil(name: String) {
        #expect(Charset(name: name) == nil)
    }

    @Test(
        arguments: [
            (nil, [0xFF, 0xFE, 0, 0, 0x41, 0, 0, 0], "A"), (nil, [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x41], "A"),
            ("text/plain; charset=utf-8", [0xFF, 0xFE, 0, 0, 0x41, 0, 0, 0], "A"),
            ("text/plain; charset=utf-16le", [0xFF, 0xFE, 0, 0, 0x41, 0], "\u{0}A"),
            ("text/plain; charset=utf-32", [0xFF, 0xFE, 0, 0, 0x41, 0, 0, 0], "A"),
            ("text/plain; charset=utf-16", [0xFF, 0xFE, 0, 0, 0x41, 0, 0, 0], "A"),
            ("text/plain; charset=utf-16", [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x41], "A"),
        ] as [(String?, [UInt8], String)])
    func markOfUTF32IsNotReadAsUTF16(type: String?, bytes: [UInt8], text: String) throws {
        #expect(try StringResponseSerializer().serialize(makeResponse(Data(bytes), type: type)) == text)
    }

    @Test(arguments: ["klingon", "iso-2022-kr", "utf-16"]) func emptyBodyNeedsNoCharset(name: String) throws {
        #expect(try StringResponseSerializer().serialize(makeResponse("", type: "text/plain; charset=\(name)")) == "")
    }

    @Test func customCharsetsAreUsedByName() throws {
        var serializer = StringResponseSerializer()
        let rot13 = Charset(custom: "X-ROT13") { bytes in
            bytes.contains(0) ? nil : String(decoding: bytes.map { $0 == 0x6E ? 0x61 : $0 }, as: UTF8.self)
        }
        serializer.charsets = [rot13]
        #expect(try serializer.serialize(makeResponse("n", type: "text/plain; charset=x-rot13")) == "a")
        #expect(try serializer.serialize(makeResponse("n", type: "text/plain; charset=utf-8")) == "n")
        let error = #expect(throws: SerializationError.self) {
            try serializer.serialize(makeResponse("\u{0}", type: "text/plain; charset=x-rot13"))
        }
        #expect(error?.message.hasSuffix("is not in the charset.") == true)
        let copy = serializer
        #expect(copy == serializer)
        #expect(rot13 != Charset(custom: "x-rot13") { _ in nil })
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(serializer) }
        serializer.charsets = [.utf8]
        let coded = try JSONDecoder().decode(StringResponseSerializer.self, from: JSONEncoder().encode(serializer))
        #expect(coded == serializer)
    }

    /// Random bytes neither hang nor crash a converter, and do not affect the next text.
    @Test(arguments: ["shift_jis", "euc-jp", "iso-2022-jp", "gb18030", "big5", "euc-kr", "windows-1258", "koi8-u"])
    func randomBytesAreDecodedOrRefused(name: String) throws {
        let charset = try #require(Charset(name: name))
        var random = SplitMix(seed: RandomSeed.next())
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = charset.decode(bytes)
        }
        let long = [UInt8](repeating: 0x41, count: 100_001)
        #expect(charset.decode(long)?.utf8.count == long.count)
    }
}
