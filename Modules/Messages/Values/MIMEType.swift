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
    private var scanner: FieldScanner

    init(_ text: String) { self.init(Array(text.utf8)[...]) }

    init(_ bytes: ArraySlice<UInt8>) {
        scanner = FieldScanner(Self.withoutTrailingSpace(bytes.drop(while: Self.isSpace)))
    }

    mutating func scan() -> (String, String, [MIMEType.Parameter])? {
        let type = scanner.until { $0 == UInt8(ascii: "/") }
        guard Self.isToken(type), scanner.take(UInt8(ascii: "/")) else { return nil }
        let subtype = Self.withoutTrailingSpace(scanner.until { $0 == UInt8(ascii: ";") })
        guard Self.isToken(subtype) else { return nil }
        var parameters: [MIMEType.Parameter] = []
        var names: Set<String> = []
        while let (name, value) = parameter() {
            guard Self.isToken(name), let value, value.allSatisfy(FieldScanner.isQuotable) else { continue }
            let lowercased = Self.text(name).lowercased()
            guard names.insert(lowercased).inserted else { continue }
            parameters.append(MIMEType.Parameter(name: lowercased, value: Self.text(value)))
        }
        return (Self.text(type).lowercased(), Self.text(subtype).lowercased(), parameters)
    }

    /// The next parameter, whose value is nil if it has none; nil at the end.
    private mutating func parameter() -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>?)? {
        guard scanner.take(UInt8(ascii: ";")) else { return nil }
        scanner.until { !Self.isSpace($0) }
        let name = scanner.until { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "=") }
        guard scanner.take(UInt8(ascii: "=")) else { return (name, nil) }
        let quoted = scanner.quotedString()
        let text = scanner.until { $0 == UInt8(ascii: ";") }
        // Text after the closing quotation mark is ignored. A missing one is assumed at the end.
        if let quoted { return (name, quoted.content[...]) }
        let value = Self.withoutTrailingSpace(text)
        return (name, value.isEmpty ? nil : value)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy(ASCII.isToken)
    }

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

    /// The elements between commas outside of quotes.
    private static func elements(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var elements: [ArraySlice<UInt8>] = []
        var scanner = FieldScanner(bytes[...])
        var start = 0
        while true {
            scanner.until { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") }
            if scanner.quotedString() != nil { continue }
            elements.append(bytes[start..<scanner.position])
            guard scanner.take(UInt8(ascii: ",")) else { return elements }
            start = scanner.position
        }
    }

    /// Whether a text matches the grammar of a media type (RFC 9110, section 8.3.1), so that parsing loses none of
    /// it: `type/subtype; name=value; name="quoted"`.
    package static func isWellFormed(_ text: String) -> Bool {
        var scanner = FieldScanner(text)
        guard !scanner.token().isEmpty, scanner.take(UInt8(ascii: "/")), !scanner.token().isEmpty else { return false }
        while true {
            scanner.skipBlanks()
            if scanner.isAtEnd { return true }
            guard scanner.take(UInt8(ascii: ";")) else { return false }
            scanner.skipBlanks()
            // Empty parameters are allowed (RFC 9110, section 5.6.6).
            if scanner.isAtEnd || scanner.current == UInt8(ascii: ";") { continue }
            guard !scanner.token().isEmpty, scanner.take(UInt8(ascii: "=")) else { return false }
            if let quoted = scanner.quotedString() {
                guard quoted.isClosed, quoted.content.allSatisfy(FieldScanner.isQuotable) else { return false }
            } else if scanner.token().isEmpty {
                return false
            }
        }
    }
}
