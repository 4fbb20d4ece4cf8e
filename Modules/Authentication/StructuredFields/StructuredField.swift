internal import FoundationEssentials

/// A structured field value (RFC 8941), and its canonical text (section 4.1).
enum StructuredField {
    /// The value of an item or a parameter, without parameters of its own.
    enum BareItem: Hashable, Sendable {
        case integer(Int64)
        /// A number with up to three digits after the point.
        case decimal(thousandths: Int64)
        /// Printable characters of ASCII.
        case string(String)
        case token(String)
        case bytes([UInt8])
        case boolean(Bool)
    }

    struct Parameter: Hashable, Sendable {
        let key: String
        var value: BareItem
    }

    struct Item: Hashable, Sendable {
        var value: BareItem
        var parameters: [Parameter] = []
    }

    struct InnerList: Hashable, Sendable {
        var items: [Item]
        var parameters: [Parameter] = []
    }

    enum Member: Hashable, Sendable {
        case item(Item)
        case list(InnerList)
    }

    /// A member of a dictionary with its key.
    struct Entry: Hashable, Sendable {
        let key: String
        var member: Member
    }

    /// Whether a text is a key (section 3.1.2).
    static func isKey(_ text: String) -> Bool {
        guard let first = text.utf8.first else { return false }
        return isKeyStart(first) && text.utf8.allSatisfy(isKeyByte)
    }

    /// Whether a text can be a string (section 3.3.3).
    static func isString(_ text: String) -> Bool { text.utf8.allSatisfy { 0x20...0x7E ~= $0 } }

    static func isKeyStart(_ byte: UInt8) -> Bool { 0x61...0x7A ~= byte || byte == UInt8(ascii: "*") }

    static func isKeyByte(_ byte: UInt8) -> Bool {
        isKeyStart(byte) || 0x30...0x39 ~= byte || "_-.".utf8.contains(byte)
    }
}

extension StructuredField.BareItem {
    var text: String {
        switch self {
        case .integer(let number): return String(number)
        case .decimal(let thousandths): return Self.text(ofThousandths: thousandths)
        case .string(let text):
            return "\"" + text.reduce(into: "") { $0 += "\"\\".contains($1) ? "\\\($1)" : "\($1)" } + "\""
        case .token(let text): return text
        case .bytes(let bytes): return ":" + Data(bytes).base64EncodedString() + ":"
        case .boolean(let isTrue): return isTrue ? "?1" : "?0"
        }
    }

    private static func text(ofThousandths number: Int64) -> String {
        let (whole, rest) = number.magnitude.quotientAndRemainder(dividingBy: 1000)
        var digits = String(1000 + rest).dropFirst()
        while digits.count > 1, digits.last == "0" { digits.removeLast() }
        return "\(number < 0 ? "-" : "")\(whole).\(digits)"
    }
}

extension [StructuredField.Parameter] {
    /// Each parameter after a semicolon. A value that is true is omitted.
    var text: String {
        reduce(into: "") { text, parameter in
            text += ";" + parameter.key
            if parameter.value != .boolean(true) { text += "=" + parameter.value.text }
        }
    }
}

extension StructuredField.Item {
    var text: String { value.text + parameters.text }
}

extension StructuredField.InnerList {
    var text: String { "(" + items.map(\.text).joined(separator: " ") + ")" + parameters.text }
}

extension StructuredField.Member {
    var text: String {
        switch self {
        case .item(let item): item.text
        case .list(let list): list.text
        }
    }
}

extension [StructuredField.Member] {
    var text: String { map(\.text).joined(separator: ", ") }
}

extension [StructuredField.Entry] {
    var text: String {
        map { entry in
            guard case .item(let item) = entry.member, item.value == .boolean(true) else {
                return entry.key + "=" + entry.member.text
            }
            return entry.key + item.parameters.text
        }.joined(separator: ", ")
    }

    /// The member with a key; nil if there is none.
    func member(_ key: String) -> StructuredField.Member? { first { $0.key == key }?.member }
}
