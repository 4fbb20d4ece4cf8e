/// A media type with its parameters, the value of Content-Type (RFC 9110, section 8.3.1).
///
/// Parsing follows browsers (WHATWG MIME Sniffing, section 4.4): a malformed parameter is ignored, and the type is
/// kept. `application/json; charset=` is `application/json`, and an unquoted value may contain any printable
/// character except a semicolon.
public struct MIMEType: Sendable, Hashable, CustomStringConvertible {
    /// A parameter such as `charset=utf-8`.
    struct Parameter: Hashable {
        /// The name in lower case.
        let name: String
        /// The value without quotes.
        let value: String
    }

    /// The type in lower case, such as `text`.
    public let type: String
    /// The subtype in lower case, such as `html` or `problem+json`.
    public let subtype: String
    private let list: [Parameter]

    /// Parses a media type; nil if the text does not begin with a type and a subtype.
    public init?(_ text: String) {
        var scanner = MediaTypeScanner(text)
        guard let parsed = scanner.scan() else { return nil }
        (type, subtype, list) = parsed
    }

    init(type: String, subtype: String, parameters: [Parameter]) {
        (self.type, self.subtype, list) = (type, subtype, parameters)
    }

    /// The type and subtype, such as `text/html`.
    public var essence: String { "\(type)/\(subtype)" }

    /// The parameters in order, with lowercase names and unquoted values. Only the first parameter of a name is kept.
    public var parameters: [(name: String, value: String)] { list.map { ($0.name, $0.value) } }

    /// The essence, for messages.
    public var description: String { essence }

    /// The value of a parameter; nil if there is none. The name is case-insensitive.
    public func parameter(_ name: String) -> String? {
        let name = name.lowercased()
        return list.first { $0.name == name }?.value
    }

    /// Whether the type matches a pattern such as `text/html`, `text/*`, `*/*` or `application/*+json`.
    ///
    /// `*` before a suffix matches any name, but not the suffix alone: `application/*+json` matches
    /// `application/problem+json`, but not `application/json`. Parameters of the pattern are ignored.
    public func matches(_ pattern: String) -> Bool {
        let essence = pattern.prefix { $0 != ";" }
        guard let slash = essence.firstIndex(of: "/") else { return false }
        let wantedType = trimmed(essence[..<slash]).lowercased()
        let wantedSubtype = trimmed(essence[essence.index(after: slash)...]).lowercased()
        guard wantedType == "*" || wantedType == type else { return false }
        if wantedSubtype == "*" { return true }
        if wantedSubtype.hasPrefix("*+") {
            return subtype.hasSuffix(wantedSubtype.dropFirst()) && subtype.utf8.count > wantedSubtype.utf8.count - 1
        }
        return wantedSubtype == subtype
    }

    private func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return start[...last]
    }
}

/// Parses `type/subtype; name=value; name="quoted"` (WHATWG MIME Sniffing, section 4.4).
struct MediaTypeScanner {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ text: String) { self.init(Array(text.utf8)[...]) }

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = Self.withoutTrailingSpace(bytes.drop(while: Self.isSpace))
        position = self.bytes.startIndex
    }

    mutating func scan() -> (String, String, [MIMEType.Parameter])? {
        let type = until { $0 == UInt8(ascii: "/") }
        guard Self.isToken(type), position < bytes.endIndex else { return nil }
        position += 1
        let subtype = Self.withoutTrailingSpace(until { $0 == UInt8(ascii: ";") })
        guard Self.isToken(subtype) else { return nil }
        var parameters: [MIMEType.Parameter] = []
        var names: Set<String> = []
        while let (name, value) = parameter() {
            guard Self.isToken(name), let value, value.allSatisfy(Self.isValueByte) else { continue }
            let lowercased = Self.text(name).lowercased()
            guard names.insert(lowercased).inserted else { continue }
            parameters.append(MIMEType.Parameter(name: lowercased, value: Self.text(value)))
        }
        return (Self.text(type).lowercased(), Self.text(subtype).lowercased(), parameters)
    }

    /// The next parameter, whose value is nil if it has none; nil at the end.
    private mutating func parameter() -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>?)? {
        guard position < bytes.endIndex else { return nil }
        // The semicolon.
        position += 1
        while position < bytes.endIndex, Self.isSpace(bytes[position]) { position += 1 }
        let name = until { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "=") }
        guard position < bytes.endIndex, bytes[position] == UInt8(ascii: "=") else { return (name, nil) }
        position += 1
        if position < bytes.endIndex, bytes[position] == UInt8(ascii: "\"") {
            let value = quoted()
            // Text after the closing quote is ignored.
            _ = until { $0 == UInt8(ascii: ";") }
            return (name, value)
        }
        let value = Self.withoutTrailingSpace(until { $0 == UInt8(ascii: ";") })
        return (name, value.isEmpty ? nil : value)
    }

    /// Reads a quoted string from its opening quote. A missing closing quote is assumed at the end.
    private mutating func quoted() -> ArraySlice<UInt8> {
        position += 1
        var value: [UInt8] = []
        while position < bytes.endIndex {
            var byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\"), position < bytes.endIndex {
                byte = bytes[position]
                position += 1
            }
            value.append(byte)
        }
        return value[...]
    }

    private mutating func until(_ isEnd: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.endIndex, !isEnd(bytes[position]) { position += 1 }
        return bytes[start..<position]
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy(ASCII.isToken)
    }

    /// A byte that is allowed in a quoted string (RFC 9110, section 5.6.4).
    private static func isValueByte(_ byte: UInt8) -> Bool { byte == 0x09 || byte >= 0x20 && byte != 0x7F }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    private static func withoutTrailingSpace(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return bytes
    }
}

extension MIMEType {
    /// Parses the value of a Content-Type field. If the server sent several fields, the value is a list, and the last
    /// valid media type other than `*/*` counts (WHATWG Fetch, "extract a MIME type").
    ///
    /// Without a charset, it inherits the charset of an earlier one with the same type.
    package init?(contentType: String) {
        var found: MIMEType?
        for value in Self.elements(of: Array(contentType.utf8)) {
            var scanner = MediaTypeScanner(value)
            guard let (type, subtype, parameters) = scanner.scan() else { continue }
            var next = MIMEType(type: type, subtype: subtype, parameters: parameters)
            guard next.essence != "*/*" else { continue }
            if let found, found.essence == next.essence, next.parameter("charset") == nil,
                let charset = found.parameter("charset")
            {
                let inherited = Parameter(name: "charset", value: charset)
                next = MIMEType(type: type, subtype: subtype, parameters: parameters + [inherited])
            }
            found = next
        }
        guard let found else { return nil }
        self = found
    }

    /// Whether a text matches the grammar of a media type (RFC 9110, section 8.3.1), so that parsing loses none of
    /// it.
    package static func isWellFormed(_ text: String) -> Bool {
        var grammar = MediaTypeGrammar(text)
        return grammar.matches()
    }

    /// The elements between commas outside of quotes.
    private static func elements(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var elements: [ArraySlice<UInt8>] = []
        var (start, isQuoted, isEscaped) = (0, false, false)
        for (index, byte) in bytes.enumerated() {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if isQuoted {
                isEscaped = byte == UInt8(ascii: "\\")
            } else if byte == UInt8(ascii: ",") {
                elements.append(bytes[start..<index])
                start = index + 1
            }
        }
        elements.append(bytes[start...])
        return elements
    }
}

/// Matches `type/subtype; name=value; name="quoted"` by the grammar of RFC 9110, section 8.3.1.
struct MediaTypeGrammar {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func matches() -> Bool {
        guard token(), take(UInt8(ascii: "/")), token() else { return false }
        while true {
            skipSpace()
            if position == bytes.count { return true }
            guard take(UInt8(ascii: ";")) else { return false }
            skipSpace()
            // Empty parameters are allowed (RFC 9110, section 5.6.6).
            if position == bytes.count || bytes[position] == UInt8(ascii: ";") { continue }
            guard token(), take(UInt8(ascii: "=")), token() || quoted() else { return false }
        }
    }

    private mutating func skipSpace() {
        while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func token() -> Bool {
        let start = position
        while position < bytes.count, ASCII.isToken(bytes[position]) { position += 1 }
        return position > start
    }

    private mutating func quoted() -> Bool {
        guard take(UInt8(ascii: "\"")) else { return false }
        while position < bytes.count {
            var byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte == UInt8(ascii: "\\"), position < bytes.count {
                byte = bytes[position]
                position += 1
            }
            guard byte >= 0x20 || byte == 0x09, byte != 0x7F else { return false }
        }
        return false
    }
}
