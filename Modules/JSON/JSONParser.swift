/// Parses one JSON text (RFC 8259) in a single pass.
///
/// It recurses once per level of nesting; `JSONValue.ParsingOptions` limits the depth to the capacity of a thread's
/// stack.
struct JSONParser {
    let bytes: UnsafeRawBufferPointer
    let options: JSONValue.ParsingOptions
    var position = 0
    private var depth = 0
    /// The number of bytes of memory that the tree may still take.
    private var memory: Int

    init(bytes: UnsafeRawBufferPointer, options: JSONValue.ParsingOptions) {
        self.bytes = bytes
        self.options = options
        memory = options.maximumMemory
    }

    mutating func parse() throws(JSONSyntaxError) -> JSONValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        skipSpace()
        let start = position
        try spend(MemoryLayout<JSONValue>.stride)
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
            try spend(Cost.member)
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
            try spend(Cost.element)
            values.append(try parseValue())
            if try isLast(UInt8(ascii: "]")) { return leave(.array(values)) }
        }
    }

    /// The memory for parts of a tree, in bytes.
    ///
    /// An array and the index of an object grow by doubling, and so have up to twice the room that they use.
    enum Cost {
        /// The header of a heap block, including the allocator's overhead.
        static let block = 48
        static let element = 2 * MemoryLayout<JSONValue>.stride
        static let member = 2 * (MemoryLayout<JSONObject.Element>.stride + MemoryLayout<NameBytes>.stride + 16)
        /// Strings up to this length are in the value itself.
        static let shortString = 15
    }

    private mutating func spend(_ count: Int) throws(JSONSyntaxError) {
        memory &-= count
        guard memory >= 0 else { throw failure(.tooLarge) }
    }

    private mutating func enter() throws(JSONSyntaxError) {
        guard depth < options.maximumDepth else { throw failure(.nestedTooDeep) }
        try spend(Cost.block)
        depth += 1
        position += 1
    }

    private mutating func leave(_ value: JSONValue) -> JSONValue {
        depth -= 1
        position += 1
        return value
    }

    /// Starts at the closing byte or at a comma; skips the comma and the space after it.
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

extension JSONParser {
    /// Starts at the opening quote.
    mutating func parseString() throws(JSONSyntaxError) -> String {
        position += 1
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let text = try string(bytes[start..<position], at: start)
                position += 1
                return text
            case UInt8(ascii: "\\"): return try parseEscapedString(from: start)
            case 0..<0x20: throw failure(.controlCharacter)
            default: position += 1
            }
        }
        throw failure(.unexpectedEnd)
    }

    /// Starts at the first backslash of a string that begins at `start`.
    private mutating func parseEscapedString(from start: Int) throws(JSONSyntaxError) -> String {
        var unescaped = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                let text = try string(of: unescaped, at: start)
                position += 1
                return text
            case UInt8(ascii: "\\"): try parseEscape(into: &unescaped)
            case 0..<0x20: throw failure(.controlCharacter)
            default:
                unescaped.append(byte)
                position += 1
            }
        }
        throw failure(.unexpectedEnd)
    }

    private mutating func string(
        _ slice: Slice<UnsafeRawBufferPointer>,
        at offset: Int
    ) throws(JSONSyntaxError) -> String {
        if slice.count > Cost.shortString { try spend(Cost.block + slice.count) }
        guard let text = String(validating: UnsafeRawBufferPointer(rebasing: slice), as: UTF8.self) else {
            throw JSONSyntaxError(kind: .invalidUTF8, offset: offset)
        }
        return text
    }

    private mutating func string(of unescaped: [UInt8], at offset: Int) throws(JSONSyntaxError) -> String {
        try unescaped.withUnsafeBytes { bytes in
            Result { () throws(JSONSyntaxError) in try string(bytes[...], at: offset) }
        }.get()
    }

    private mutating func parseEscape(into unescaped: inout [UInt8]) throws(JSONSyntaxError) {
        position += 1
        let byte = try peek()
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(byte)
        case UInt8(ascii: "b"): unescaped.append(0x08)
        case UInt8(ascii: "f"): unescaped.append(0x0C)
        case UInt8(ascii: "n"): unescaped.append(0x0A)
        case UInt8(ascii: "r"): unescaped.append(0x0D)
        case UInt8(ascii: "t"): unescaped.append(0x09)
        case UInt8(ascii: "u"):
            let scalar = try parseUnicodeEscape()
            unescaped.append(contentsOf: Unicode.UTF8.encode(scalar) ?? Unicode.UTF8.encodedReplacementCharacter)
            return
        default: throw failure(.invalidEscape)
        }
        position += 1
    }

    /// Starts at the `u`, and ends after the last digit.
    private mutating func parseUnicodeEscape() throws(JSONSyntaxError) -> Unicode.Scalar {
        let high = try parseHexadecimalQuad()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard high < 0xDC00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else { throw failure(.invalidEscape) }
        position += 1
        let low = try parseHexadecimalQuad()
        let value: UInt32 = 0x10000 + (UInt32(high & 0x3FF) << 10 | UInt32(low & 0x3FF))
        guard (0xDC00..<0xE000).contains(low), let scalar = Unicode.Scalar(value) else { throw failure(.invalidEscape) }
        return scalar
    }

    private mutating func parseHexadecimalQuad() throws(JSONSyntaxError) -> UInt16 {
        position += 1
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = HexadecimalDigit.value(of: try peek()) else { throw failure(.invalidEscape) }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }

    /// Integers that fit `Int64` are stored as such; other numbers keep their text.
    mutating func parseNumber() throws(JSONSyntaxError) -> JSONNumber {
        let start = position
        let isNegative = bytes[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let firstDigit = position
        let integer = try parseInteger()
        let isInteger = try !skipFractionAndExponent()
        // Minus zero differs from zero, which an integer cannot represent.
        if isInteger, let integer, !(isNegative && integer == 0) {
            return JSONNumber(storage: .integer(isNegative ? -integer : integer))
        }
        if position == firstDigit { throw failure(.invalidNumber) }
        let text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
        if isInteger, let integer = Int64(text), integer != 0 { return JSONNumber(storage: .integer(integer)) }
        if position - start > Cost.shortString { try spend(Cost.block + position - start) }
        return JSONNumber(storage: .text(text))
    }

    /// Returns the value of the digits; nil if it overflows `Int64`.
    private mutating func parseInteger() throws(JSONSyntaxError) -> Int64? {
        let first = try peek()
        guard first >= 0x30, first <= 0x39 else {
            throw failure(first == 0x2E || first == 0x2B ? .invalidNumber : .unexpectedCharacter)
        }
        position += 1
        if first == 0x30 {
            let isFollowed = position < bytes.count && (0x30...0x39).contains(bytes[position])
            if isFollowed { throw failure(.invalidNumber) }
            return 0
        }
        var value = Int64(first - 0x30)
        var overflowed = false
        while position < bytes.count, bytes[position] >= 0x30, bytes[position] <= 0x39 {
            let (product, first) = value.multipliedReportingOverflow(by: 10)
            let (sum, second) = product.addingReportingOverflow(Int64(bytes[position] - 0x30))
            overflowed = overflowed || first || second
            value = sum
            position += 1
        }
        return overflowed ? nil : value
    }

    /// Returns whether there was a fraction or an exponent.
    private mutating func skipFractionAndExponent() throws(JSONSyntaxError) -> Bool {
        let start = position
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try skipDigits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < bytes.count, bytes[position] == 0x2B || bytes[position] == 0x2D { position += 1 }
            try skipDigits()
        }
        return position > start
    }

    private mutating func skipDigits() throws(JSONSyntaxError) {
        let start = position
        while position < bytes.count, bytes[position] >= 0x30, bytes[position] <= 0x39 { position += 1 }
        guard position > start else { throw failure(position < bytes.count ? .invalidNumber : .unexpectedEnd) }
    }
}
