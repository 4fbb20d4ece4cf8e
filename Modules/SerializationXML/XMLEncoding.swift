import CLibXML2
import LinnetSerialization

/// The encoding of a document (RFC 7303, section 3.2; XML 1.0, section 4.3.3 and appendix F).
///
/// The encoding comes from a byte order mark, or else is the external charset, or else comes from the first bytes and
/// the declaration, or else is UTF-8. Documents and servers choose among the names in `CharsetLabels`, and `IBM037`: no
/// other name reaches the C library.
enum XMLEncoding {
    /// The C library's names for the encoding; the first one with a converter is used. Throws ``XMLSyntaxError`` if the
    /// document contradicts itself, or names an unsupported encoding.
    static func converters(of bytes: UnsafeRawBufferPointer, charset: String?) throws(XMLSyntaxError) -> [String] {
        let start = Array(bytes.prefix(4))
        if let marked = marks.first(where: { start.starts(with: $0.bytes) }) { return [marked.name] }
        if let charset, !charset.isEmpty { return try converters(charset, start) }
        if let sniffed = beginnings.first(where: { start.starts(with: $0.bytes) }) { return [sniffed.name] }
        let isEBCDIC = start == [0x4C, 0x6F, 0xA7, 0x94]
        let head = UnsafeRawBufferPointer(rebasing: bytes.prefix(512))
        let text = isEBCDIC ? try converted(head, from: ["IBM037"]) : String(decoding: head, as: UTF8.self)
        guard let declared = declaredName(text) else { return [isEBCDIC ? "IBM037" : "UTF-8"] }
        let names = try Self.converters(declared)
        // The beginning of the document is not in the declared encoding; an example is a declaration of UTF-16 in
        // ASCII.
        let beginning = UnsafeRawBufferPointer(rebasing: bytes.prefix(5))
        guard try converted(beginning, from: names) == "<?xml" else {
            throw XMLSyntaxError(
                kind: .unsupportedEncoding, line: 1, detail: "\(shown(declared)) is declared, in another encoding")
        }
        return names
    }

    /// A name shortened for messages, since a server may send any.
    static func shown(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.prefix(40))).debugDescription
    }

    // UTF-32 comes first, because its little-endian mark begins with the mark of UTF-16. Readers skip the mark.
    private static let marks: [(bytes: [UInt8], name: String)] = [
        ([0xEF, 0xBB, 0xBF], "UTF-8"), ([0x00, 0x00, 0xFE, 0xFF], "UTF-32BE"), ([0xFF, 0xFE, 0x00, 0x00], "UTF-32LE"),
        ([0xFE, 0xFF], "UTF-16BE"), ([0xFF, 0xFE], "UTF-16LE"),
    ]
    private static let beginnings: [(bytes: [UInt8], name: String)] = [
        ([0x00, 0x00, 0x00, 0x3C], "UTF-32BE"), ([0x3C, 0x00, 0x00, 0x00], "UTF-32LE"), ([0x00, 0x3C], "UTF-16BE"),
        ([0x3C, 0x00], "UTF-16LE"),
    ]
    /// IANA's names for IBM037, the only EBCDIC encoding that is supported.
    private static let ebcdic: Set<String> = [
        "ibm037", "cp037", "ebcdic-cp-us", "ebcdic-cp-ca", "ebcdic-cp-wt", "ebcdic-cp-nl", "csibm037",
    ]

    /// The external charset; if it leaves the byte order open, the first character tells it (RFC 2781, section 4.3).
    private static func converters(_ name: String, _ start: [UInt8]) throws(XMLSyntaxError) -> [String] {
        switch name.uppercased() {
        case "UTF-16", "UTF16", "UCS-2", "ISO-10646-UCS-2":
            return [start.starts(with: [0x3C, 0x00]) ? "UTF-16LE" : "UTF-16BE"]
        case "UTF-32", "UTF32", "UCS-4", "ISO-10646-UCS-4":
            return [start.starts(with: [0x3C, 0x00, 0x00, 0x00]) ? "UTF-32LE" : "UTF-32BE"]
        default: return try converters(name)
        }
    }

    private static func converters(_ name: String) throws(XMLSyntaxError) -> [String] {
        if ebcdic.contains(name.lowercased()) { return ["IBM037"] }
        guard let names = CharsetLabels.converters(name) else {
            throw XMLSyntaxError(kind: .unsupportedEncoding, line: 0, detail: shown(name))
        }
        return names
    }

    /// The encoding in `<?xml … encoding="…"?>` at the very beginning of the document.
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
        // The parser refuses malformed names.
        guard let first = name.first, first.isASCII, first.isLetter, !name.contains(":") else { return nil }
        return isEncodingName(name) ? String(name) : nil
    }

    /// The names in IANA's registry: EncName (XML 1.0, production 81) and a few more characters.
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
        _ bytes: UnsafeRawBufferPointer, from names: [String]
    ) throws(XMLSyntaxError) -> String {
        var decoder = try XMLDecoder(bytes, from: names)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2048) { output in
            // Bytes that are not in the encoding do not match any text.
            let count = (try? decoder.decode(into: UnsafeMutableRawBufferPointer(output))) ?? 0
            return String(decoding: output.prefix(count), as: UTF8.self)
        }
    }
}

/// Converts the bytes of a document to UTF-8, piece by piece.
///
/// The output is valid UTF-8, which is all that the parser sees.
struct XMLDecoder {
    private var rest: UnsafeRawBufferPointer
    /// Nil if the bytes are UTF-8.
    private let converter: XMLConverter?
    private var isFlushed = false

    /// The bytes must outlive the decoder. Throws ``XMLSyntaxError`` if the encoding is not supported.
    init(_ bytes: UnsafeRawBufferPointer, from names: [String]) throws(XMLSyntaxError) {
        rest = bytes
        converter = names == ["UTF-8"] ? nil : try XMLConverter(from: names)
    }

    /// Fills the buffer; returns the number of bytes in it, 0 at the end.
    ///
    /// Throws ``XMLSyntaxError`` at bytes that are not in the encoding, after it has returned those before.
    mutating func decode(into output: UnsafeMutableRawBufferPointer) throws(XMLSyntaxError) -> Int {
        guard let converter else { return try copy(into: output) }
        if isFlushed { return 0 }
        let step = converter.convert(rest, into: output)
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(step.read))
        if step.written == 0, step.isBroken { throw Self.broken }
        guard rest.isEmpty else { return step.written }
        // Some converters hold a character back that may combine with the next.
        let tail = converter.flush(into: UnsafeMutableRawBufferPointer(rebasing: output.dropFirst(step.written)))
        isFlushed = true
        return step.written + tail
    }

    private mutating func copy(into output: UnsafeMutableRawBufferPointer) throws(XMLSyntaxError) -> Int {
        var count = min(output.count, rest.count)
        // Characters are not split.
        while count < rest.count, count > 0, rest[count] & 0xC0 == 0x80 { count -= 1 }
        let part = UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        let valid = Self.validCount(part)
        if valid == 0, !rest.isEmpty { throw Self.broken }
        output.copyMemory(from: UnsafeRawBufferPointer(rebasing: part.prefix(valid)))
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(valid))
        return valid
    }

    private static var broken: XMLSyntaxError {
        XMLSyntaxError(kind: .malformed, line: 0, detail: "bytes that are not in the document's encoding")
    }

    /// The number of bytes at the beginning that are valid UTF-8.
    private static func validCount(_ bytes: UnsafeRawBufferPointer) -> Int {
        if String(validating: bytes, as: UTF8.self) != nil { return bytes.count }
        var count = 0
        var iterator = bytes.makeIterator()
        var decoder = UTF8()
        while case .scalarValue(let scalar) = decoder.decode(&iterator) { count += UTF8.width(scalar) }
        return count
    }
}

/// A converter of the C library.
private final class XMLConverter {
    private let handle: UnsafeMutableRawPointer

    /// The names come from this module or from `CharsetLabels`.
    init(from names: [String]) throws(XMLSyntaxError) {
        for name in names {
            guard let handle = linnet_iconv_open(name) else { continue }
            self.handle = handle
            return
        }
        let all = names.joined(separator: " or ")
        throw XMLSyntaxError(kind: .unsupportedEncoding, line: 0, detail: "the C library has no converter for \(all)")
    }

    deinit { linnet_iconv_close(handle) }

    /// Converts until the buffer is full. `isBroken` is true after malformed or incomplete bytes.
    func convert(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> (read: Int, written: Int, isBroken: Bool) {
        var source = input.baseAddress?.assumingMemoryBound(to: CChar.self)
        var sourceCount = input.count
        var target = output.baseAddress?.assumingMemoryBound(to: CChar.self)
        var targetCount = output.count
        let status = linnet_iconv(handle, &source, &sourceCount, &target, &targetCount)
        return (input.count - sourceCount, output.count - targetCount, status != 0)
    }

    func flush(into output: UnsafeMutableRawBufferPointer) -> Int {
        var target = output.baseAddress?.assumingMemoryBound(to: CChar.self)
        var targetCount = output.count
        _ = linnet_iconv(handle, nil, nil, &target, &targetCount)
        return output.count - targetCount
    }
}
