/// A media type with its parameters, as Content-Type carries it (RFC 9110, section 8.3.1).
public struct MediaType: Sendable, Hashable, CustomStringConvertible {
    /// A parameter such as `charset=utf-8`.
    public struct Parameter: Sendable, Hashable {
        /// The name in lower case.
        public let name: String
        /// The value without quotes.
        public let value: String
    }

    /// The type in lower case, such as `text`.
    public let type: String
    /// The subtype in lower case, such as `html` or `problem+json`.
    public let subtype: String
    /// The parameters in order.
    public let parameters: [Parameter]

    /// Reads a media type; nil if the text is not one.
    public init?(_ text: String) {
        var scanner = MediaTypeScanner(text)
        guard let parsed = scanner.scan() else { return nil }
        (type, subtype, parameters) = parsed
    }

    /// The type and subtype, such as `text/html`.
    public var essence: String { "\(type)/\(subtype)" }

    /// The essence, for messages.
    public var description: String { essence }

    /// The first parameter of a name, which is compared without case.
    public func parameter(_ name: String) -> String? {
        let name = name.lowercased()
        return parameters.first { $0.name == name }?.value
    }

    /// Whether the type is one that a pattern names: `text/html`, `text/*`, `*/*`, `application/*+json`.
    ///
    /// `*` before a suffix stands for any name, and for the suffix alone: `application/*+json` takes
    /// `application/problem+json`, but not `application/json`. Parameters of the pattern are not looked at.
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

/// Reads `type/subtype; name=value; name="quoted"`.
private struct MediaTypeScanner {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func scan() -> (String, String, [MediaType.Parameter])? {
        skipSpace()
        guard let type = token(), take(UInt8(ascii: "/")), let subtype = token() else { return nil }
        var parameters: [MediaType.Parameter] = []
        while true {
            skipSpace()
            if position == bytes.count { return (type.lowercased(), subtype.lowercased(), parameters) }
            guard take(UInt8(ascii: ";")) else { return nil }
            skipSpace()
            // A stray semicolon is common and says nothing.
            if position == bytes.count || bytes[position] == UInt8(ascii: ";") { continue }
            guard let name = token(), take(UInt8(ascii: "=")), let value = token() ?? quoted() else { return nil }
            parameters.append(MediaType.Parameter(name: name.lowercased(), value: value))
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

    private mutating func token() -> String? {
        let start = position
        while position < bytes.count, ASCII.isToken(bytes[position]) { position += 1 }
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    private mutating func quoted() -> String? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var value: [UInt8] = []
        while position < bytes.count {
            var byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: value, as: UTF8.self) }
            if byte == UInt8(ascii: "\\"), position < bytes.count {
                byte = bytes[position]
                position += 1
            }
            guard byte >= 0x20 || byte == 0x09, byte != 0x7F else { return nil }
            value.append(byte)
        }
        return nil
    }
}
