internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages

/// The file name that a response suggests, from its Content-Disposition (RFC 6266) or else from its URL.
///
/// A name from the server never refers to another folder or to a hidden file: all path components except the last,
/// control characters and leading dots are removed.
struct SuggestedFileName {
    /// The maximum length of a name in bytes: below the limit of common file systems (255), with room for a number.
    private static let longest = 240

    let name: String

    init(_ head: HTTPResponse, url: URL) {
        let suggestion = head.headerFields[.contentDisposition].flatMap { Self.fileName(inDisposition: $0) }
        name = suggestion.flatMap(Self.safe) ?? Self.safe(url.lastPathComponent) ?? "download"
    }

    /// Returns the name without its unsafe parts, or nil if nothing remains.
    private static func safe(_ name: String) -> String? {
        // Compares scalars, because a slash or a dot followed by a combining mark is a different Character.
        let last = name.unicodeScalars.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? []
        let scalars = last.filter { scalar in
            switch scalar.properties.generalCategory {
            // Bidirectional control characters could display "exe.gpj" as "jpg.exe".
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            default: true
            }
        }
        let visible = scalars.drop { $0 == "." || $0.properties.isWhitespace }
        let text = withoutEnd(String(String.UnicodeScalarView(visible)))
        // Shortening can leave dots or blanks at the end again.
        return text.isEmpty ? nil : withoutEnd(shortened(text))
    }

    /// Returns the name without trailing dots and blanks, which some systems hide or remove.
    private static func withoutEnd(_ name: String) -> String {
        var name = name[...]
        while let end = name.last, end == "." || end.isWhitespace { name.removeLast() }
        return String(name)
    }

    /// Returns the name shortened to the maximum length, with its extension.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        let tail = name.lastIndex(of: ".").map { name[$0...] }.flatMap { $0.utf8.count <= 32 ? $0 : nil } ?? ""
        var stem = name.dropLast(tail.count)
        while stem.utf8.count + tail.utf8.count > longest, !stem.isEmpty { stem.removeLast() }
        return String(stem + tail)
    }

    // MARK: Content-Disposition

    private static func fileName(inDisposition value: String) -> String? {
        let parameters = parameters(of: value)
        if let extended = parameters["filename*"], let name = decodeExtended(extended) { return name }
        return parameters["filename"]
    }

    /// Parses the parameters after the disposition type. The first parameter of each name counts; values are unquoted.
    private static func parameters(of value: String) -> [String: String] {
        var parameters: [String: String] = [:]
        var scanner = FieldScanner(value)
        while true {
            scanner.until { $0 == UInt8(ascii: ";") }
            guard scanner.take(UInt8(ascii: ";")) else { return parameters }
            let name = scanner.until { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") }
            guard scanner.take(UInt8(ascii: "=")) else { continue }
            scanner.skipBlanks()
            let content = scanner.quotedString()?.content
            let text = String(decoding: content?[...] ?? scanner.until { $0 == UInt8(ascii: ";") }, as: UTF8.self)
            let key = String(decoding: name, as: UTF8.self).trimmed.lowercased()
            if parameters[key] == nil { parameters[key] = content == nil ? text.trimmed : text }
        }
    }

    /// Decodes an extended value with a charset (RFC 8187, section 3.2): `UTF-8''na%C3%AFve.txt`.
    private static func decodeExtended(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = percentDecoded(parts[2].utf8) else { return nil }
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    private static func percentDecoded(_ text: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(), high != UInt8(ascii: "+"),
                high != UInt8(ascii: "-"), let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
        }
        return bytes
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
