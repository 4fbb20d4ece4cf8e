import FoundationEssentials
internal import LinnetMessages

/// Reads the XML format. The grammar is small enough not to need an XML library, which would add a dependency.
///
/// A document type is accepted without declarations: only the five predefined entities exist.
struct XMLPropertyListReader {
    let bytes: [UInt8]
    private let options: PropertyListValue.ParsingOptions
    var position = 0

    init(_ bytes: [UInt8], options: PropertyListValue.ParsingOptions) throws(PropertyListSyntaxError) {
        self.options = options
        if let charset = Charset(byteOrderMarkOf: bytes), charset != .utf8 {
            guard let text = charset.decode(bytes) else {
                throw PropertyListSyntaxError(kind: .malformed, offset: 0)
            }
            self.bytes = Array(text.utf8)
        } else {
            self.bytes = bytes
        }
        if self.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        skipSpace()
        guard starts(with: "<") else { throw failure(.unknownFormat) }
    }

    mutating func read() throws(PropertyListSyntaxError) -> PropertyListValue {
        try skipMisc()
        var tag = try readTag()
        let isWrapped = tag.name == "plist"
        if isWrapped {
            guard tag.kind == .open else { throw failure(.malformed) }
            tag = try readNextTag()
        }
        let value = try value(of: tag, depth: 0)
        if isWrapped, try readNextTag() != Tag(name: "plist", kind: .close) { throw failure(.malformed) }
        try skipMisc()
        guard position == bytes.count else { throw failure(.malformed) }
        return value
    }

    private mutating func value(of tag: Tag, depth: Int) throws(PropertyListSyntaxError) -> PropertyListValue {
        if tag.kind == .close { throw failure(.malformed) }
        switch tag.name {
        case "array": return try array(tag, depth: depth)
        case "dict": return try dictionary(tag, depth: depth)
        case "true", "false":
            if tag.kind == .open, !(try text(of: tag)).isEmpty { throw failure(.malformed) }
            return .bool(tag.name == "true")
        default: break
        }
        let start = position
        let text = try text(of: tag)
        guard let value = Self.plainValue(text, tag: tag.name) else {
            throw PropertyListSyntaxError(kind: .malformed, offset: start)
        }
        return value
    }

    private static func plainValue(_ text: String, tag: String) -> PropertyListValue? {
        switch tag {
        case "string": .string(text)
        case "integer": integer(text.withoutOuterSpace)
        case "real": real(text.withoutOuterSpace)
        case "date": PropertyListDate(text.withoutOuterSpace).map { .date($0.date) }
        case "data": Data(base64Encoded: String(text.filter { !$0.isWhitespace })).map(PropertyListValue.data)
        default: nil
        }
    }

    private static func integer(_ text: Substring) -> PropertyListValue? {
        let isNegative = text.hasPrefix("-")
        var digits = text
        if isNegative || text.hasPrefix("+") { digits = digits.dropFirst() }
        let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
        if isHexadecimal { digits = digits.dropFirst(2) }
        guard let first = digits.first, first.isHexDigit, let magnitude = UInt64(digits, radix: isHexadecimal ? 16 : 10)
        else { return nil }
        if isNegative {
            return magnitude <= UInt64(Int64.max) + 1 ? .integer(Int64(bitPattern: 0 &- magnitude)) : nil
        }
        return Int64(exactly: magnitude).map(PropertyListValue.integer) ?? .unsigned(magnitude)
    }

    private static func real(_ text: Substring) -> PropertyListValue? {
        switch text.lowercased() {
        case "nan": .real(.nan)
        case "inf", "+inf", "infinity", "+infinity": .real(.infinity)
        case "-inf", "-infinity": .real(-.infinity)
        case let text: Double(text).map(PropertyListValue.real)
        }
    }

    private mutating func array(_ tag: Tag, depth: Int) throws(PropertyListSyntaxError) -> PropertyListValue {
        try check(depth)
        var values: [PropertyListValue] = []
        if tag.kind == .empty { return .array(values) }
        while true {
            let next = try readNextTag()
            if next == Tag(name: "array", kind: .close) { return .array(values) }
            values.append(try value(of: next, depth: depth + 1))
        }
    }

    private mutating func dictionary(_ tag: Tag, depth: Int) throws(PropertyListSyntaxError) -> PropertyListValue {
        try check(depth)
        var values: [String: PropertyListValue] = [:]
        if tag.kind == .empty { return .dictionary(values) }
        while true {
            let next = try readNextTag()
            if next == Tag(name: "dict", kind: .close) { return .dictionary(values) }
            guard next.name == "key", next.kind != .close else { throw failure(.malformed) }
            let key = try text(of: next)
            let value = try value(of: try readNextTag(), depth: depth + 1)
            guard values.set(value, forKey: key) else { throw failure(.equivalentKeys) }
        }
    }

    private func check(_ depth: Int) throws(PropertyListSyntaxError) {
        if depth >= options.maximumDepth { throw failure(.nestedTooDeep) }
    }

    func failure(_ kind: PropertyListSyntaxError.Kind) -> PropertyListSyntaxError {
        PropertyListSyntaxError(kind: kind, offset: position)
    }
}

extension String {
    /// The text without XML's white space at both ends.
    fileprivate var withoutOuterSpace: Substring {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        guard let first = utf8.firstIndex(where: { !isSpace($0) }), let last = utf8.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return self[first..<utf8.index(after: last)]
    }
}

/// The XML layer: tags, texts, and skipped markup.
extension XMLPropertyListReader {
    struct Tag: Equatable {
        enum Kind { case open, close, empty }
        let name: String
        let kind: Kind
    }

    mutating func readNextTag() throws(PropertyListSyntaxError) -> Tag {
        skipSpace()
        while starts(with: "<!--") {
            try skip(past: "-->")
            skipSpace()
        }
        return try readTag()
    }

    /// Starts at `<`. Attributes are skipped; the only one in property lists is the version.
    mutating func readTag() throws(PropertyListSyntaxError) -> Tag {
        guard starts(with: "<") else { throw failure(.malformed) }
        position += 1
        let isClosing = starts(with: "/")
        if isClosing { position += 1 }
        let start = position
        while position < bytes.count, ASCII.isAlphanumeric(bytes[position]) { position += 1 }
        let name = String(decoding: bytes[start..<position], as: UTF8.self)
        var quote: UInt8?
        while position < bytes.count, quote != nil || bytes[position] != UInt8(ascii: ">") {
            let byte = bytes[position]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "<") {
                throw failure(.malformed)
            }
            position += 1
        }
        guard position < bytes.count, !name.isEmpty else { throw failure(.malformed) }
        let isEmpty = !isClosing && bytes[position - 1] == UInt8(ascii: "/")
        position += 1
        return Tag(name: name, kind: isClosing ? .close : isEmpty ? .empty : .open)
    }

    /// The text up to the closing tag, with LF for each line end (XML 1.0, section 2.11). A nested tag is an error,
    /// and so is a character that XML does not allow (section 2.2).
    mutating func text(of tag: Tag) throws(PropertyListSyntaxError) -> String {
        if tag.kind == .empty { return "" }
        let start = position
        var text: [UInt8] = []
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "&"): try readReference(into: &text)
            case UInt8(ascii: "<"):
                if starts(with: "<!--") {
                    try skip(past: "-->")
                } else if starts(with: "<![CDATA[") {
                    let first = position + 9
                    try skip(past: "]]>")
                    for place in first..<(position - 3) { append(bytes[place], at: place, to: &text) }
                } else {
                    guard try readTag() == Tag(name: tag.name, kind: .close),
                        let valid = String(validating: text, as: UTF8.self),
                        valid.unicodeScalars.allSatisfy(\.isXMLCharacter)
                    else { throw PropertyListSyntaxError(kind: .malformed, offset: start) }
                    return valid
                }
            case let byte:
                append(byte, at: position, to: &text)
                position += 1
            }
        }
        throw failure(.malformed)
    }

    private func append(_ byte: UInt8, at place: Int, to text: inout [UInt8]) {
        guard byte == 0x0D else { return text.append(byte) }
        let isLineEnd = place + 1 < bytes.count && bytes[place + 1] == 0x0A
        if !isLineEnd { text.append(0x0A) }
    }

    /// Starts at `&`.
    private mutating func readReference(into text: inout [UInt8]) throws(PropertyListSyntaxError) {
        let rest = bytes[(position + 1)...].prefix(10)
        guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { throw failure(.malformed) }
        let name = String(decoding: rest[..<end], as: UTF8.self)
        switch name {
        case "amp": text.append(UInt8(ascii: "&"))
        case "lt": text.append(UInt8(ascii: "<"))
        case "gt": text.append(UInt8(ascii: ">"))
        case "quot": text.append(UInt8(ascii: "\""))
        case "apos": text.append(UInt8(ascii: "'"))
        default:
            let isHexadecimal = name.hasPrefix("#x")
            let digits = name.dropFirst(isHexadecimal ? 2 : 1)
            guard name.hasPrefix("#"), digits.utf8.allSatisfy({ ASCII.hexadecimalValue($0) != nil }),
                let scalar = UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
            else { throw failure(.malformed) }
            text += Array(String(Character(scalar)).utf8)
        }
        position = end + 1
    }

    /// Skips the declaration, comments, and a document type without declarations.
    mutating func skipMisc() throws(PropertyListSyntaxError) {
        while true {
            skipSpace()
            if starts(with: "<?") {
                try skip(past: "?>")
            } else if starts(with: "<!--") {
                try skip(past: "-->")
            } else if starts(with: "<!DOCTYPE") {
                position += 9
                try skipDocumentType()
            } else {
                return
            }
        }
    }

    /// Quoted identifiers may contain any character.
    private mutating func skipDocumentType() throws(PropertyListSyntaxError) {
        var quote: UInt8?
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
                case UInt8(ascii: "["): throw failure(.entityDeclaration)
                case UInt8(ascii: ">"): return
                default: break
                }
            }
        }
        throw failure(.malformed)
    }

    mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }

    func starts(with text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - position >= count else { return false }
        return bytes[position..<(position + count)].elementsEqual(
            UnsafeBufferPointer(start: text.utf8Start, count: count))
    }

    private mutating func skip(past text: StaticString) throws(PropertyListSyntaxError) {
        while position < bytes.count {
            if starts(with: text) {
                position += text.utf8CodeUnitCount
                return
            }
            position += 1
        }
        throw failure(.malformed)
    }
}
