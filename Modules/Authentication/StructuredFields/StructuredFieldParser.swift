internal import FoundationEssentials
internal import LinnetMessages

/// Parses a structured field value (RFC 8941, section 4.2). A function returns nil if the value is malformed.
struct StructuredFieldParser {
    private var scanner: FieldScanner

    private init(_ text: String) { scanner = FieldScanner(text) }

    static func dictionary(_ text: String) -> [StructuredField.Entry]? {
        whole(text) { parser in
            var entries: [StructuredField.Entry] = []
            // The last one of several with the same key counts, in the place of the first.
            var places: [String: Int] = [:]
            let isValid = parser.elements { parser in
                guard let key = parser.key(), let member = parser.entryValue() else { return false }
                if let place = places[key] {
                    entries[place].member = member
                } else {
                    places[key] = entries.count
                    entries.append(StructuredField.Entry(key: key, member: member))
                }
                return true
            }
            return isValid ? entries : nil
        }
    }

    static func list(_ text: String) -> [StructuredField.Member]? {
        whole(text) { parser in
            var members: [StructuredField.Member] = []
            let isValid = parser.elements { parser in
                guard let member = parser.member() else { return false }
                members.append(member)
                return true
            }
            return isValid ? members : nil
        }
    }

    static func item(_ text: String) -> StructuredField.Item? { whole(text) { $0.item() } }

    private static func whole<Value>(_ text: String, _ parse: (inout Self) -> Value?) -> Value? {
        var parser = StructuredFieldParser(text)
        parser.skipSpaces()
        guard let value = parse(&parser) else { return nil }
        parser.skipSpaces()
        return parser.scanner.isAtEnd ? value : nil
    }

    /// Parses elements between commas. The last one has no comma after it.
    private mutating func elements(_ parse: (inout Self) -> Bool) -> Bool {
        while !scanner.isAtEnd {
            guard parse(&self) else { return false }
            scanner.skipBlanks()
            if scanner.isAtEnd { return true }
            guard scanner.take(UInt8(ascii: ",")) else { return false }
            scanner.skipBlanks()
            if scanner.isAtEnd { return false }
        }
        return true
    }

    private mutating func entryValue() -> StructuredField.Member? {
        if scanner.take(UInt8(ascii: "=")) { return member() }
        return parameters().map { .item(StructuredField.Item(value: .boolean(true), parameters: $0)) }
    }

    private mutating func member() -> StructuredField.Member? {
        if scanner.current == UInt8(ascii: "(") { return innerList().map { .list($0) } }
        return item().map { .item($0) }
    }

    private mutating func innerList() -> StructuredField.InnerList? {
        guard scanner.take(UInt8(ascii: "(")) else { return nil }
        var items: [StructuredField.Item] = []
        while true {
            skipSpaces()
            if scanner.take(UInt8(ascii: ")")) {
                return parameters().map { StructuredField.InnerList(items: items, parameters: $0) }
            }
            guard let item = item() else { return nil }
            items.append(item)
            guard scanner.current == UInt8(ascii: " ") || scanner.current == UInt8(ascii: ")") else { return nil }
        }
    }

    private mutating func item() -> StructuredField.Item? {
        guard let value = bareItem(), let parameters = parameters() else { return nil }
        return StructuredField.Item(value: value, parameters: parameters)
    }

    private mutating func parameters() -> [StructuredField.Parameter]? {
        var parameters: [StructuredField.Parameter] = []
        // The last one of several with the same key counts, in the place of the first.
        var places: [String: Int] = [:]
        while scanner.take(UInt8(ascii: ";")) {
            skipSpaces()
            guard let key = key() else { return nil }
            var value = StructuredField.BareItem.boolean(true)
            if scanner.take(UInt8(ascii: "=")) {
                guard let given = bareItem() else { return nil }
                value = given
            }
            if let place = places[key] {
                parameters[place].value = value
            } else {
                places[key] = parameters.count
                parameters.append(StructuredField.Parameter(key: key, value: value))
            }
        }
        return parameters
    }

    private mutating func key() -> String? {
        guard let first = scanner.current, StructuredField.isKeyStart(first) else { return nil }
        return String(decoding: scanner.until { !StructuredField.isKeyByte($0) }, as: UTF8.self)
    }

    private mutating func skipSpaces() { scanner.until { $0 != UInt8(ascii: " ") } }
}

extension StructuredFieldParser {
    private mutating func bareItem() -> StructuredField.BareItem? {
        guard let first = scanner.current else { return nil }
        switch first {
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: ":"): return bytes()
        case UInt8(ascii: "?"): return boolean()
        case UInt8(ascii: "-"), 0x30...0x39: return number()
        case UInt8(ascii: "*"), 0x41...0x5A, 0x61...0x7A: return .token(token())
        default: return nil
        }
    }

    private mutating func string() -> StructuredField.BareItem? {
        guard scanner.take(UInt8(ascii: "\"")) else { return nil }
        var content: [UInt8] = []
        while let byte = scanner.current, 0x20...0x7E ~= byte {
            scanner.position += 1
            if byte == UInt8(ascii: "\"") { return .string(String(decoding: content, as: UTF8.self)) }
            guard byte == UInt8(ascii: "\\") else {
                content.append(byte)
                continue
            }
            guard let escaped = scanner.current, "\"\\".utf8.contains(escaped) else { return nil }
            scanner.position += 1
            content.append(escaped)
        }
        return nil
    }

    private mutating func bytes() -> StructuredField.BareItem? {
        guard scanner.take(UInt8(ascii: ":")) else { return nil }
        let text = String(decoding: scanner.until { $0 == UInt8(ascii: ":") }, as: UTF8.self)
        guard scanner.take(UInt8(ascii: ":")), let data = Data(base64Encoded: text) else { return nil }
        return .bytes(Array(data))
    }

    private mutating func boolean() -> StructuredField.BareItem? {
        guard scanner.take(UInt8(ascii: "?")) else { return nil }
        if scanner.take(UInt8(ascii: "1")) { return .boolean(true) }
        return scanner.take(UInt8(ascii: "0")) ? .boolean(false) : nil
    }

    private mutating func token() -> String {
        String(decoding: scanner.until { !(ASCII.isToken($0) || ":/".utf8.contains($0)) }, as: UTF8.self)
    }

    /// At most 15 digits, or 12 before the point and 3 after it.
    private mutating func number() -> StructuredField.BareItem? {
        let sign: Int64 = scanner.take(UInt8(ascii: "-")) ? -1 : 1
        let whole = digits()
        guard !whole.isEmpty else { return nil }
        guard scanner.take(UInt8(ascii: ".")) else {
            return whole.count <= 15 ? Int64(whole).map { .integer(sign * $0) } : nil
        }
        let fraction = digits()
        guard whole.count <= 12, 1...3 ~= fraction.count else { return nil }
        let padded = whole + fraction + String(repeating: "0", count: 3 - fraction.count)
        return Int64(padded).map { .decimal(thousandths: sign * $0) }
    }

    private mutating func digits() -> String {
        String(decoding: scanner.until { !(0x30...0x39 ~= $0) }, as: UTF8.self)
    }
}
