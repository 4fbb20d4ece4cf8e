/// Reads `type/subtype; name=value; name="quoted"` (WHATWG MIME Sniffing, section 4.4).
struct MediaTypeScanner {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ text: String) { self.init(Array(text.utf8)[...]) }

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = Self.withoutTrailingSpace(bytes.drop(while: Self.isSpace))
        position = self.bytes.startIndex
    }

    mutating func scan() -> (String, String, [MediaType.Parameter])? {
        let type = until { $0 == UInt8(ascii: "/") }
        guard Self.isToken(type), position < bytes.endIndex else { return nil }
        position += 1
        let subtype = Self.withoutTrailingSpace(until { $0 == UInt8(ascii: ";") })
        guard Self.isToken(subtype) else { return nil }
        var parameters: [MediaType.Parameter] = []
        var names: Set<String> = []
        while let (name, value) = parameter() {
            guard Self.isToken(name), let value, value.allSatisfy(Self.isValueByte) else { continue }
            let lowercased = Self.text(name).lowercased()
            guard names.insert(lowercased).inserted else { continue }
            parameters.append(MediaType.Parameter(name: lowercased, value: Self.text(value)))
        }
        return (Self.text(type).lowercased(), Self.text(subtype).lowercased(), parameters)
    }

    /// The next parameter, whose value is nil if there is none; nil at the end.
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
            // What stands behind the quotes says nothing.
            _ = until { $0 == UInt8(ascii: ";") }
            return (name, value)
        }
        let value = Self.withoutTrailingSpace(until { $0 == UInt8(ascii: ";") })
        return (name, value.isEmpty ? nil : value)
    }

    /// Stands at the opening quote. A closing one that is missing is taken to be at the end.
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

    /// A byte that may stand in a quoted string (RFC 9110, section 5.6.4).
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

extension MediaType {
    /// Reads the value of a Content-Type field, which is a list where a server has sent the field several times: the last
    /// that is a media type, and other than `*/*`, holds (WHATWG Fetch, "extract a MIME type").
    ///
    /// A charset that only an earlier one of the same type names is kept.
    package init?(contentType: String) {
        var found: MediaType?
        for value in Self.elements(of: Array(contentType.utf8)) {
            var scanner = MediaTypeScanner(value)
            guard let (type, subtype, parameters) = scanner.scan() else { continue }
            var next = MediaType(type: type, subtype: subtype, parameters: parameters)
            guard next.essence != "*/*" else { continue }
            if let found, found.essence == next.essence, next.parameter("charset") == nil,
                let charset = found.parameter("charset")
            {
                let inherited = Parameter(name: "charset", value: charset)
                next = MediaType(type: type, subtype: subtype, parameters: parameters + [inherited])
            }
            found = next
        }
        guard let found else { return nil }
        self = found
    }

    /// Whether a text is a media type by the grammar (RFC 9110, section 8.3.1), so that it can be written as it is: nothing
    /// in it is left out when it is read.
    package static func isWellFormed(_ text: String) -> Bool {
        var grammar = MediaTypeGrammar(text)
        return grammar.matches()
    }

    /// What stands between commas that are not in quotes.
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
