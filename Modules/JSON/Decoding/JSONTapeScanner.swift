/// Checks a whole JSON text (RFC 8259) and notes its values on a tape, in one pass without recursion.
///
/// It accepts the same texts as `JSONParser`, with the same limit on depth.
struct JSONTapeScanner: ~Copyable {
    private let bytes: UnsafePointer<UInt8>
    private let end: Int
    private let maximumDepth: Int
    private var position = 0
    private var depth = 0
    private var tape: JSONTape

    private init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int) {
        // An empty buffer may have no address; nothing is read from it then.
        let base = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
        self.bytes = base.assumingMemoryBound(to: UInt8.self)
        end = bytes.count
        self.maximumDepth = maximumDepth
        tape = JSONTape(capacity: min(bytes.count, 64) + bytes.count / 6)
    }

    static func scan(
        _ bytes: UnsafeRawBufferPointer, maximumDepth: Int = JSONValue.ParsingOptions().maximumDepth
    ) throws(JSONSyntaxError) -> JSONTape {
        var scanner = JSONTapeScanner(bytes, maximumDepth: maximumDepth)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { scanner.position = 3 }
        try scanner.scanText()
        return scanner.finish()
    }

    private consuming func finish() -> JSONTape { tape }

    // MARK: Structure

    private mutating func scanText() throws(JSONSyntaxError) {
        var container = JSONTape.missing
        var isObject = false
        skipSpace()
        while true {
            // A value begins here.
            let byte = try peek()
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                guard depth < maximumDepth else { throw failure(.nestedTooDeep) }
                isObject = byte == UInt8(ascii: "{")
                container = tape.open(isObject ? .object : .array, in: container)
                depth += 1
                position += 1
                skipSpace()
                if try peek() != (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    tape.countElement(in: container)
                    if isObject { try scanName() }
                    continue
                }
            } else {
                try scanScalar(byte)
            }
            // A value has ended, or an empty container ends here.
            while true {
                guard depth > 0 else {
                    skipSpace()
                    guard position == end else { throw failure(.trailingCharacters) }
                    return
                }
                skipSpace()
                let byte = try peek()
                if byte == UInt8(ascii: ",") {
                    position += 1
                    skipSpace()
                    tape.countElement(in: container)
                    if isObject { try scanName() }
                    break
                }
                guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw failure(.unexpectedCharacter)
                }
                position += 1
                depth -= 1
                container = tape.close(container)
                isObject = tape.kind(at: container) == .object
            }
        }
    }

    /// Starts at the opening quote, and ends before the value.
    @inline(__always) private mutating func scanName() throws(JSONSyntaxError) {
        guard try peek() == UInt8(ascii: "\"") else { throw failure(.unexpectedCharacter) }
        try scanString()
        skipSpace()
        guard try peek() == UInt8(ascii: ":") else { throw failure(.unexpectedCharacter) }
        position += 1
        skipSpace()
    }

    @inline(__always) private mutating func scanScalar(_ byte: UInt8) throws(JSONSyntaxError) {
        switch byte {
        case UInt8(ascii: "\""): try scanString()
        case UInt8(ascii: "t"): try scanWord("true", .true)
        case UInt8(ascii: "f"): try scanWord("false", .false)
        case UInt8(ascii: "n"): try scanWord("null", .null)
        default: try scanNumber()
        }
    }

    private mutating func scanWord(_ word: StaticString, _ kind: JSONTape.Kind) throws(JSONSyntaxError) {
        let start = position
        for index in 0..<word.utf8CodeUnitCount {
            guard try peek() == word.utf8Start[index] else { throw failure(.unexpectedCharacter) }
            position += 1
        }
        tape.append(kind, offset: start, length: position - start)
    }

    @inline(__always) private mutating func skipSpace() {
        while position < end {
            let byte = bytes[position]
            guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    @inline(__always) private func peek() throws(JSONSyntaxError) -> UInt8 {
        guard position < end else { throw failure(.unexpectedEnd) }
        return bytes[position]
    }

    @inline(never) private func failure(_ kind: JSONSyntaxError.Kind) -> JSONSyntaxError {
        JSONSyntaxError(kind: kind, offset: position)
    }

    // MARK: Strings

    /// Starts at the opening quote, and ends after the closing one.
    @inline(__always) private mutating func scanString() throws(JSONSyntaxError) {
        position += 1
        let start = position
        var isEscaped = false
        while true {
            skipPlainASCII()
            switch try peek() {
            case UInt8(ascii: "\""):
                tape.append(isEscaped ? .escapedString : .string, offset: start, length: position - start)
                position += 1
                return
            case UInt8(ascii: "\\"):
                isEscaped = true
                try scanEscape()
            case 0..<0x20: throw failure(.controlCharacter)
            default:
                guard skipScalar() else { throw JSONSyntaxError(kind: .invalidUTF8, offset: start) }
            }
        }
    }

    /// Skips plain characters: ASCII except for quotes, backslashes and control characters.
    @inline(__always) private mutating func skipPlainASCII() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        while position + 8 <= end {
            let word = UInt64(
                littleEndian: UnsafeRawPointer(bytes + position).loadUnaligned(as: UInt64.self))
            let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
            let slashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            // The top bit of a byte is set here if this byte, or a lower one, matches. The lowest set bit is therefore
            // always right.
            let found =
                ((quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes | (word &- ones &* 0x20) & ~word | word)
                & tops
            if found != 0 {
                position += found.trailingZeroBitCount >> 3
                return
            }
            position += 8
        }
        while position < end {
            let byte = bytes[position]
            if byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            position += 1
        }
    }

    /// Skips a scalar value outside of ASCII; false if its bytes are not UTF-8 (The Unicode Standard, table 3-7).
    private mutating func skipScalar() -> Bool {
        func continues(_ index: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            position + index < end && range.contains(bytes[position + index])
        }
        let length: Int
        switch bytes[position] {
        case 0xC2...0xDF:
            guard continues(1) else { return false }
            length = 2
        case 0xE0...0xEF:
            let first = bytes[position]
            guard continues(1, first == 0xE0 ? 0xA0...0xBF : first == 0xED ? 0x80...0x9F : 0x80...0xBF), continues(2)
            else { return false }
            length = 3
        case 0xF0...0xF4:
            let first = bytes[position]
            guard continues(1, first == 0xF0 ? 0x90...0xBF : first == 0xF4 ? 0x80...0x8F : 0x80...0xBF), continues(2),
                continues(3)
            else { return false }
            length = 4
        default: return false
        }
        position += length
        return true
    }

    /// Starts at a backslash.
    private mutating func scanEscape() throws(JSONSyntaxError) {
        position += 1
        switch try peek() {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            let high = try scanHexadecimalQuad()
            guard high & 0xF800 == 0xD800 else { return }
            guard high < 0xDC00, position + 1 < end, bytes[position] == UInt8(ascii: "\\"),
                bytes[position + 1] == UInt8(ascii: "u")
            else { throw failure(.invalidEscape) }
            position += 1
            guard try scanHexadecimalQuad() & 0xFC00 == 0xDC00 else { throw failure(.invalidEscape) }
        default: throw failure(.invalidEscape)
        }
    }

    /// Starts at the `u`, and ends after the last digit.
    private mutating func scanHexadecimalQuad() throws(JSONSyntaxError) -> UInt16 {
        position += 1
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = HexadecimalDigit.value(of: try peek()) else { throw failure(.invalidEscape) }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }

    // MARK: Numbers

    @inline(__always) private mutating func scanNumber() throws(JSONSyntaxError) {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        let first = try peek()
        guard isDigit(first) else {
            throw failure(first == 0x2E || first == 0x2B ? .invalidNumber : .unexpectedCharacter)
        }
        position += 1
        if first == 0x30 {
            if position < end, isDigit(bytes[position]) { throw failure(.invalidNumber) }
        } else {
            skipDigits()
        }
        var kind = JSONTape.Kind.integer
        if position < end, bytes[position] == UInt8(ascii: ".") {
            kind = .number
            position += 1
            try requireDigits()
        }
        if position < end, bytes[position] | 0x20 == UInt8(ascii: "e") {
            kind = .number
            position += 1
            if position < end, bytes[position] == 0x2B || bytes[position] == 0x2D { position += 1 }
            try requireDigits()
        }
        tape.append(kind, offset: start, length: position - start)
    }

    @inline(__always) private func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    @inline(__always) private mutating func skipDigits() {
        while position < end, isDigit(bytes[position]) { position += 1 }
    }

    @inline(__always) private mutating func requireDigits() throws(JSONSyntaxError) {
        let start = position
        skipDigits()
        guard position > start else { throw failure(position < end ? .invalidNumber : .unexpectedEnd) }
    }
}
