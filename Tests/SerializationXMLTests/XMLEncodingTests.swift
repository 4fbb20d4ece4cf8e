import FoundationEssentials
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
    func oneByteADigitIsRead(encoding: String) throws {
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

    @Test func anEncodingThatIsNotReadIsSaid() {
        let error = #expect(throws: XMLSyntaxError.self) {
            try XMLTree(parsing: Data("<?xml version=\"1.0\" encoding=\"EBCDIC-CP-US\"?><a/>".utf8))
        }
        #expect(error?.kind == .unsupportedEncoding)
    }
}
