/// Which encoding a document is in (RFC 7303, 3.2; XML 1.0, 4.3.3 and appendix F).
///
/// A byte order mark says it, else the charset that came beside the document, else the document's first bytes and its
/// own declaration, else it is UTF-8.
enum XMLEncoding {
    /// The name under which a converter knows it; throws ``XMLSyntaxError`` if the document contradicts itself, or
    /// names what has no converter.
    static func name(of bytes: UnsafeRawBufferPointer, charset: String?) throws(XMLSyntaxError) -> String {
        let start = Array(bytes.prefix(4))
        if let marked = marks.first(where: { start.starts(with: $0.bytes) }) { return marked.name }
        if let charset, !charset.isEmpty { return try checked(charset, start) }
        if let sniffed = beginnings.first(where: { start.starts(with: $0.bytes) }) { return sniffed.name }
        let isEBCDIC = start == [0x4C, 0x6F, 0xA7, 0x94]
        let head = UnsafeRawBufferPointer(rebasing: bytes.prefix(512))
        let text = isEBCDIC ? try converted(head, from: "IBM037") : String(decoding: head, as: UTF8.self)
        guard let declared = declaredName(text) else { return isEBCDIC ? "IBM037" : "UTF-8" }
        if isUTF8(declared), !isEBCDIC { return declared }
        // A name that the document's own beginning cannot be in, such as UTF-16 in a document that is read as ASCII.
        let beginning = UnsafeRawBufferPointer(rebasing: bytes.prefix(5))
        guard try converted(beginning, from: declared) == "<?xml" else {
            throw XMLSyntaxError(
                kind: .unsupportedEncoding, line: 1, detail: "\(shown(declared)) is declared, in another encoding")
        }
        return declared
    }

    static func isUTF8(_ name: String) -> Bool { ["UTF-8", "UTF8"].contains(name.uppercased()) }

    /// A name for messages, which is as long and as strange as the server likes.
    static func shown(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.prefix(40))).debugDescription
    }

    // The marks of UTF-32 first: that of UTF-16 begins one of them. UTF-8's is left to the reader, as each is.
    private static let marks: [(bytes: [UInt8], name: String)] = [
        ([0xEF, 0xBB, 0xBF], "UTF-8"), ([0x00, 0x00, 0xFE, 0xFF], "UTF-32BE"), ([0xFF, 0xFE, 0x00, 0x00], "UTF-32LE"),
        ([0xFE, 0xFF], "UTF-16BE"), ([0xFF, 0xFE], "UTF-16LE"),
    ]
    private static let beginnings: [(bytes: [UInt8], name: String)] = [
        ([0x00, 0x00, 0x00, 0x3C], "UTF-32BE"), ([0x3C, 0x00, 0x00, 0x00], "UTF-32LE"), ([0x00, 0x3C], "UTF-16BE"),
        ([0x3C, 0x00], "UTF-16LE"),
    ]

    /// The name from outside; where it leaves the byte order open, the first character says it (RFC 2781, 4.3).
    private static func checked(_ name: String, _ start: [UInt8]) throws(XMLSyntaxError) -> String {
        switch name.uppercased() {
        case "UTF-16", "UTF16", "UCS-2", "ISO-10646-UCS-2":
            return start.starts(with: [0x3C, 0x00]) ? "UTF-16LE" : "UTF-16BE"
        case "UTF-32", "UTF32", "UCS-4", "ISO-10646-UCS-4":
            return start.starts(with: [0x3C, 0x00, 0x00, 0x00]) ? "UTF-32LE" : "UTF-32BE"
        default: break
        }
        guard isEncodingName(name[...]) else {
            throw XMLSyntaxError(kind: .unsupportedEncoding, line: 0, detail: shown(name))
        }
        return name
    }

    /// What `<?xml … encoding="…"?>` names, at the very beginning of the document and nowhere else.
    private static func declaredName(_ head: String) -> String? {
        guard head.hasPrefix("<?xml"), let end = head.firstRange(of: "?>") else { return nil }
        let declaration = head[..<end.lowerBound].dropFirst(5)
        guard let word = declaration.firstRange(of: "encoding") else { return nil }
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
        var rest = declaration[word.upperBound...].drop(while: isBlank)
        guard rest.popFirst() == "=" else { return nil }
        rest = rest.drop(while: isBlank)
        guard let quote = rest.popFirst(), quote == "\"" || quote == "'" else { return nil }
        let name = rest.prefix { $0 != quote }
        // What is no name is left to the parser to refuse.
        guard let first = name.first, first.isASCII, first.isLetter, !name.contains(":") else { return nil }
        return isEncodingName(name) ? String(name) : nil
    }

    /// What IANA's register has in names: EncName (XML 1.0, production 81) and a little more.
    private static func isEncodingName(_ name: Substring) -> Bool {
        !name.isEmpty && name.utf8.count <= 40
            && name.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":")].contains($0)
                }
            }
    }

    private static func converted(
        _ bytes: UnsafeRawBufferPointer, from name: String
    ) throws(XMLSyntaxError) -> String {
        var decoder = try XMLDecoder(bytes, from: name)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2048) { output in
            // What is not in the encoding is as good as a text of another kind.
            let count = (try? decoder.decode(into: UnsafeMutableRawBufferPointer(output))) ?? 0
            return String(decoding: output.prefix(count), as: UTF8.self)
        }
    }
}
