/// Reads one JSON text (RFC 8259) in one pass.
///
/// It calls itself once per level of nesting, and `JSONParsingOptions` keeps the levels within what a stack holds.
struct JSONParser {
    let bytes: UnsafeRawBufferPointer
    let options: JSONParsingOptions
    var position = 0
    private var depth = 0

    init(bytes: UnsafeRawBufferPointer, options: JSONParsingOptions) {
        self.bytes = bytes
        self.options = options
    }

    mutating func parse() throws(JSONSyntaxError) -> JSONValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        skipSpace()
        let start = position
        let value = try parseValue()
        skipSpace()
        guard position == bytes.count else { throw failure(.trailingCharacters) }
        if !options.allowsFragments {
            switch value {
            case .array, .object: break
            default: throw JSONSyntaxError(kind: .fragment, offset: start)
            }
        }
        return value
    }

    private mutating func parseValue() throws(JSONSyntaxError) -> JSONValue {
        switch try peek() {
        case UInt8(ascii: "{"): return try parseObject()
        case UInt8(ascii: "["): return try parseArray()
        case UInt8(ascii: "\""): return .string(try parseString())
        case UInt8(ascii: "t"): return try parseWord("true", .bool(true))
        case UInt8(ascii: "f"): return try parseWord("false", .bool(false))
        case UInt8(ascii: "n"): return try parseWord("null", .null)
        default: return .number(try parseNumber())
        }
    }

    private mutating func parseObject() throws(JSONSyntaxError) -> JSONValue {
        try enter()
        var object = JSONObject()
        skipSpace()
        if try peek() == UInt8(ascii: "}") { return leave(.object(object)) }
        while true {
            guard try peek() == UInt8(ascii: "\"") else { throw failure(.unexpectedCharacter) }
            let start = position
            let key = try parseString()
            skipSpace()
            guard try peek() == UInt8(ascii: ":") else { throw failure(.unexpectedCharacter) }
            position += 1
            skipSpace()
            try set(key, try parseValue(), in: &object, at: start)
            if try isLast(UInt8(ascii: "}")) { return leave(.object(object)) }
        }
    }

    private func set(
        _ key: String, _ value: JSONValue, in object: inout JSONObject, at start: Int
    ) throws(JSONSyntaxError) {
        switch options.duplicateNames.kind {
        case .last: object.set(key, value)
        case .first: if !object.contains(key) { object.set(key, value) }
        case .refused:
            if object.contains(key) { throw JSONSyntaxError(kind: .duplicateName, offset: start) }
            object.set(key, value)
        }
    }

    private mutating func parseArray() throws(JSONSyntaxError) -> JSONValue {
        try enter()
        var values: [JSONValue] = []
        skipSpace()
        if try peek() == UInt8(ascii: "]") { return leave(.array(values)) }
        while true {
            values.append(try parseValue())
            if try isLast(UInt8(ascii: "]")) { return leave(.array(values)) }
        }
    }

    private mutating func enter() throws(JSONSyntaxError) {
        guard depth < options.maximumDepth else { throw failure(.nestedTooDeep) }
        depth += 1
        position += 1
    }

    private mutating func leave(_ value: JSONValue) -> JSONValue {
        depth -= 1
        position += 1
        return value
    }

    /// Stands at the closing byte, or after a comma and its space.
    private mutating func isLast(_ closing: UInt8) throws(JSONSyntaxError) -> Bool {
        skipSpace()
        let byte = try peek()
        if byte == closing { return true }
        guard byte == UInt8(ascii: ",") else { throw failure(.unexpectedCharacter) }
        position += 1
        skipSpace()
        return false
    }

    private mutating func parseWord(_ word: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        for index in 0..<word.utf8CodeUnitCount {
            guard try peek() == word.utf8Start[index] else { throw failure(.unexpectedCharacter) }
            position += 1
        }
        return value
    }

    mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    func peek() throws(JSONSyntaxError) -> UInt8 {
        guard position < bytes.count else { throw failure(.unexpectedEnd) }
        return bytes[position]
    }

    func failure(_ kind: JSONSyntaxError.Kind) -> JSONSyntaxError {
        JSONSyntaxError(kind: kind, offset: position)
    }
}
