import FoundationEssentials

/// Reads the XML form. Its grammar is so small that no XML library is needed, which would cost this module
/// FoundationXML.
///
/// A document type may be named, but declares nothing: no entity but XML's own five exists.
struct XMLPropertyListReader {
    let bytes: [UInt8]
    private let options: PropertyListParsingOptions
    var position = 0

    init(_ bytes: [UInt8], options: PropertyListParsingOptions) throws(PropertyListSyntaxError) {
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
    /// Without XML's space at both ends.
    fileprivate var withoutOuterSpace: Substring {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        guard let first = utf8.firstIndex(where: { !isSpace($0) }), let last = utf8.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return self[first..<utf8.index(after: last)]
    }
}
