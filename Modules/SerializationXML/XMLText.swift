import FoundationEssentials
import LinnetSerialization

/// A document's bytes as UTF-8, whatever encoding it came in (XML 1.0, 4.3.3 and appendix F).
///
/// FoundationXML takes it for granted that what its parser hands over is valid UTF-8, and ends the process where it is
/// not; so nothing else reaches it.
enum XMLText {
    /// Throws ``XMLSyntaxError`` where the encoding is not known, or the bytes are not in it.
    static func utf8(_ data: Data) throws(XMLSyntaxError) -> Data {
        let charset = try charset(of: data)
        guard let text = charset.decode(data) else { throw XMLSyntaxError(kind: .malformed, line: 0) }
        // What declares another encoding would have the parser decode it once more.
        guard charset != .utf8, charset != .ascii else { return Data(text.utf8) }
        return Data(withoutDeclaration(text).utf8)
    }

    private static func charset(of data: Data) throws(XMLSyntaxError) -> Charset {
        let start = Array(data.prefix(4))
        if start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE]) { return .utf16 }
        if start.starts(with: [0x00, 0x3C]) { return .utf16BigEndian }
        if start.starts(with: [0x3C, 0x00]) { return .utf16LittleEndian }
        guard let name = declaredEncoding(data.prefix(256)) else { return .utf8 }
        guard let charset = Charset(name: name) else { throw XMLSyntaxError(kind: .unsupportedEncoding, line: 1) }
        return charset
    }

    /// What `<?xml … encoding="…"?>` names.
    private static func declaredEncoding(_ head: Data) -> String? {
        let text = String(decoding: head, as: UTF8.self)
        guard let start = text.firstRange(of: "<?xml"), let end = text[start.upperBound...].firstRange(of: "?>") else {
            return nil
        }
        let declaration = text[start.upperBound..<end.lowerBound]
        guard let word = declaration.firstRange(of: "encoding") else { return nil }
        let rest = declaration[word.upperBound...].drop { $0 != "\"" && $0 != "'" }
        guard let quote = rest.first else { return nil }
        return String(rest.dropFirst().prefix { $0 != quote })
    }

    /// The declaration replaced by spaces, so that lines keep their numbers.
    private static func withoutDeclaration(_ text: String) -> String {
        guard text.hasPrefix("<?xml"), let end = text.firstRange(of: "?>") else { return text }
        let declaration = text[..<end.upperBound]
        return String(declaration.map { $0.isNewline ? $0 : " " }) + text[end.upperBound...]
    }
}
