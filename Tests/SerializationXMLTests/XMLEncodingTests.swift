import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSerializationXML
import Testing

@Suite(.timeLimit(.minutes(5)))
struct XMLEncodingTests {
    private func utf16(_ text: String, isBigEndian: Bool, mark: Bool) -> Data {
        let units = (mark ? [0xFEFF] : []) + Array(text.utf16)
        return Data(
            units.flatMap { unit -> [UInt8] in
                let bytes = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
                return isBigEndian ? bytes : bytes.reversed()
            })
    }

    @Test(arguments: [true, false], [true, false])
    func utf16IsRead(isBigEndian: Bool, mark: Bool) throws {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><a b=\"é\">漢😀</a>"
        let tree = try XMLTree(parsing: utf16(text, isBigEndian: isBigEndian, mark: mark))
        #expect(tree.root.attributes["b"] == "é")
        #expect(tree.root.text == "漢😀")
    }

    @Test(arguments: ["ISO-8859-1", "windows-1252"])
    func digitsInPiecesOfOneByteAreParsed(encoding: String) throws {
        let head = Data("<?xml version='1.0' encoding='\(encoding)'?><a b='".utf8)
        let tree = try XMLTree(parsing: head + Data([0xE9]) + Data("'>".utf8) + Data([0xFC]) + Data("</a>".utf8))
        #expect(tree.root.attributes["b"] == "é")
        #expect(tree.root.text == "ü")
    }

    @Test(arguments: [
        Data([0x3C, 0x61, 0x20, 0x62, 0x3D, 0x22, 0xED, 0x44, 0x22, 0x2F, 0x3E]),
        Data("<?xml version='1.0' encoding='us-ascii'?><a>é</a>".utf8),
        Data("<?xml version='1.0' encoding='UTF-16'?><a>b</a>".utf8),
        Data([0xFF, 0xFE, 0x3C, 0x00, 0x61]),
    ])
    func bytesThatAreNotInTheEncodingAreRefused(document: Data) {
        #expect(throws: XMLSyntaxError.self) { try XMLTree(parsing: document) }
    }

    @Test func unsupportedEncodingsAreNamed() {
        let error = #expect(throws: XMLSyntaxError.self) {
            try XMLTree(parsing: Data("<?xml version=\"1.0\" encoding=\"EBCDIC-CP-US\"?><a/>".utf8))
        }
        #expect(error?.kind == .unsupportedEncoding)
    }

    // MARK: Detection (RFC 7303, section 3.2)

    private func parsed(_ bytes: [UInt8], charset: String?) throws -> String {
        try XMLTree(parsing: Data(bytes), charset: charset).root.text
    }

    @Test func byteOrderMarkOverridesTheContentType() throws {
        let text = "<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>"
        #expect(try parsed([0xEF, 0xBB, 0xBF] + Array(text.utf8), charset: "ISO-8859-1") == "é")
        let wide = utf16("<a>é</a>", isBigEndian: false, mark: true)
        #expect(try parsed(Array(wide), charset: "utf-8") == "é")
    }

    @Test func contentTypeOverridesTheDeclaration() throws {
        let declared = Array("<?xml version='1.0' encoding='UTF-8'?><a>".utf8) + [0xE9] + Array("</a>".utf8)
        #expect(try parsed(declared, charset: "ISO-8859-1") == "é")
        #expect(throws: XMLSyntaxError.self) { try parsed(declared, charset: nil) }
        let other = Array("<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>".utf8)
        #expect(try parsed(other, charset: "UTF-8") == "é")
        #expect(try parsed(other, charset: nil) == "Ã©")
        #expect(try parsed(other, charset: "") == "Ã©")
    }

    @Test(arguments: [true, false]) func contentTypeMayLeaveTheByteOrderOpen(isBigEndian: Bool) throws {
        let bytes = Array(utf16("<a>é</a>", isBigEndian: isBigEndian, mark: false))
        #expect(try parsed(bytes, charset: "utf-16") == "é")
        #expect(throws: XMLSyntaxError.self) { try parsed(bytes, charset: "utf-8") }
    }

    @Test func responsesAreParsedByTheirContentType() throws {
        var head = HTTPResponse(status: .ok)
        head.headerFields[.contentType] = "text/xml; charset=windows-1251"
        let body = Data(Array("<a>".utf8) + [0xCF, 0xF0] + Array("</a>".utf8))
        let response = SerializedResponse(head: head, body: body)
        #expect(try XMLResponseSerializer().serialize(response)?.root.text == "Пр")
        var text = ""
        try XMLEventResponseSerializer().serialize(response).forEachEvent {
            if case .text(let part) = $0 { text += part }
        }
        #expect(text == "Пр")
    }

    @Test(arguments: ["IBM1364", "UTF-7"]) func responsesInOtherEncodingsAreRefused(name: String) throws {
        var head = HTTPResponse(status: .ok)
        head.headerFields[.contentType] = "text/xml; charset=\(name)"
        let response = SerializedResponse(head: head, body: Data("<a>b</a>".utf8))
        let error = #expect(throws: SerializationError.self) { try XMLResponseSerializer().serialize(response) }
        #expect((error?.underlying as? XMLSyntaxError)?.kind == .unsupportedEncoding)
    }

    @Test(
        arguments: [
            ("Shift_JIS", [0x93, 0xFA, 0x96, 0x7B], "日本"), ("EUC-JP", [0xC6, 0xFC, 0xCB, 0xDC], "日本"),
            ("GB18030", [0xD6, 0xD0], "中"), ("Big5", [0xA4, 0xA4], "中"), ("EUC-KR", [0xC7, 0xD1], "한"),
            ("windows-1252", [0x80], "€"),
            ("KOI8-R", [0xF0], "П"), ("ISO-8859-15", [0xA4], "€"), ("windows-1250", [0xF8], "ř"),
            ("ISO-2022-JP", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42], "日"),
        ] as [(String, [UInt8], String)])
    func encodingsOfTheSystemAreSupported(name: String, bytes: [UInt8], text: String) throws {
        let document = Array("<?xml version=\"1.0\" encoding=\"\(name)\"?>\n<a>".utf8) + bytes + Array("</a>".utf8)
        #expect(try parsed(document, charset: nil) == text)
        #expect(try parsed(Array("<a>".utf8) + bytes + Array("</a>".utf8), charset: name) == text)
    }

    @Test func ebcdicAndUTF32AreRead() throws {
        // <?xml version='1.0' encoding='IBM037'?><a>b</a>
        let head: [UInt8] = [0x4C, 0x6F, 0xA7, 0x94, 0x93, 0x40, 0xA5, 0x85, 0x99, 0xA2, 0x89, 0x96, 0x95, 0x7E, 0x7D]
        let middle: [UInt8] = [
            0xF1, 0x4B, 0xF0, 0x7D, 0x40, 0x85, 0x95, 0x83, 0x96, 0x84, 0x89, 0x95, 0x87, 0x7E, 0x7D,
        ]
        let tail: [UInt8] = [0xC9, 0xC2, 0xD4, 0xF0, 0xF3, 0xF7, 0x7D, 0x6F, 0x6E]
        let element: [UInt8] = [0x4C, 0x81, 0x6E, 0x82, 0x4C, 0x61, 0x81, 0x6E]
        #expect(try parsed(head + middle + tail + element, charset: nil) == "b")
        #expect(try parsed(element, charset: "cp037") == "b")
        // The same with encoding='IBM500'.
        let other: [UInt8] = [0xC9, 0xC2, 0xD4, 0xF5, 0xF0, 0xF0, 0x7D, 0x6F, 0x6E]
        let error = #expect(throws: XMLSyntaxError.self) {
            try parsed(head + middle + other + element, charset: nil)
        }
        #expect(error?.kind == .unsupportedEncoding)
        let wide = "<a>😀</a>".unicodeScalars.flatMap { scalar in (0..<4).map { UInt8(scalar.value >> (8 * $0) & 0xFF) }
        }
        #expect(try parsed(wide, charset: nil) == "😀")
        #expect(try parsed([0xFF, 0xFE, 0, 0] + wide, charset: nil) == "😀")
    }

    /// The C library may have converters for some of them.
    @Test(arguments: [
        "no-such-encoding", "x-user-defined", "UTF-8//IGNORE", "../../etc/passwd", "a b", "UTF-7", "IBM1364", "EUC-TW",
        "ISO-2022-CN-EXT",
    ])
    func unknownCharsetsAreNamed(name: String) throws {
        let error = #expect(throws: XMLSyntaxError.self) { try parsed(Array("<a/>".utf8), charset: name) }
        #expect(error?.kind == .unsupportedEncoding)
        #expect(error?.description.contains(name) == true)
    }

    @Test(arguments: ["no-such-encoding", "UTF-7", "IBM1364", "EUC-TW", "ISO-2022-CN-EXT"])
    func unknownDeclarationsAreNamed(name: String) {
        let text = "<?xml version='1.0' encoding='\(name)'?><a/>"
        let error = #expect(throws: XMLSyntaxError.self) { try parsed(Array(text.utf8), charset: nil) }
        #expect(error?.kind == .unsupportedEncoding)
        #expect(error?.description.contains(name) == true)
    }

    /// Text that looks like a declaration, after the beginning.
    @Test(arguments: [
        "<a><!-- <?xml version='1.0' encoding='ISO-8859-1'?> -->é</a>", "<a b=\"encoding='ISO-8859-1'?>\">é</a>",
    ])
    func encodingIsDeclaredAtTheBeginning(text: String) throws {
        #expect(try parsed(Array(text.utf8), charset: nil) == "é")
    }

    /// Overlong forms, surrogates and scalars beyond Unicode, at every offset and in every construct.
    @Test(
        arguments: [[0xC0, 0xBC], [0xE0, 0x80, 0xBC], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80], [0xC3]]
            as [[UInt8]])
    func invalidUTF8IsRefusedEverywhere(bytes: [UInt8]) {
        for (before, after) in [
            ("<a>", "</a>"), ("<a b='", "'/>"), ("<a><!--", "--></a>"), ("<a><![CDATA[", "]]></a>"), ("<", "/>"),
        ] {
            for padding in [0, 3990, 65_530, 70_000] where before != "<" || padding == 0 {
                let text = Array((before + String(repeating: "x", count: padding)).utf8) + bytes + Array(after.utf8)
                #expect(throws: XMLSyntaxError.self) { try XMLTree(parsing: Data(text)) }
            }
        }
    }

    @Test func longTextsAreConvertedCompletely() throws {
        let text = (0..<60_000).map { ["é", "漢", "😀", "x"][$0 % 4] }.joined()
        #expect(try parsed(Array("<a>\(text)</a>".utf8), charset: nil) == text)
        for isBigEndian in [true, false] {
            let wide = utf16("<a>\(text)</a>", isBigEndian: isBigEndian, mark: true)
            #expect(try XMLTree(parsing: wide).root.text == text)
        }
    }
}
