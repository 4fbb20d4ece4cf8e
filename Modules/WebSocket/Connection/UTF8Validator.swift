/// Validates UTF-8 that arrives in pieces (RFC 3629, section 4). Pure.
struct UTF8Validator {
    /// The number of bytes that the last character lacks.
    private var missing = 0
    /// The valid values of its next byte.
    private var range = Self.continuation

    private static let continuation: ClosedRange<UInt8> = 0x80...0xBF

    /// Takes the next piece. Returns false if no bytes after it can make the text valid.
    mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if missing == 0 {
                index = Self.endOfASCII(bytes, from: index)
                guard index < bytes.endIndex else { return true }
                guard begins(bytes[index]) else { return false }
            } else {
                guard range ~= bytes[index] else { return false }
                (missing, range) = (missing - 1, Self.continuation)
            }
            index += 1
        }
        return true
    }

    /// Takes the first byte of a character that is not ASCII.
    private mutating func begins(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: (missing, range) = (1, Self.continuation)
        // The ranges exclude overlong forms, surrogates, and values above U+10FFFF.
        case 0xE0: (missing, range) = (2, 0xA0...0xBF)
        case 0xED: (missing, range) = (2, 0x80...0x9F)
        case 0xE1...0xEF: (missing, range) = (2, Self.continuation)
        case 0xF0: (missing, range) = (3, 0x90...0xBF)
        case 0xF1...0xF3: (missing, range) = (3, Self.continuation)
        case 0xF4: (missing, range) = (3, 0x80...0x8F)
        default: return false
        }
        return true
    }

    private static func endOfASCII(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 8 <= bytes.endIndex,
            bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
            index += 8
        }
        while index < bytes.endIndex, bytes[index] < 0x80 { index += 1 }
        return index
    }
}
