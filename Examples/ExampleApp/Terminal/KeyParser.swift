/// A key, or an answer of the terminal.
enum Key: Hashable, Sendable {
    case character(Character)
    case control(Character)
    case up, down, pageUp, pageDown, home, end, escape
    /// An answer to a query: the sequence without ESC and its end, such as `_Gi=31;OK` or `[?62;4c`.
    case answer(String)
}

/// Parses the bytes of a terminal. Sequences may be cut anywhere; the rest is kept for the next bytes.
struct KeyParser {
    /// The longest sequence; longer ones are discarded.
    private static let limit = 1024
    private static let escape: UInt8 = 0x1B
    /// The keys of control sequences, by the final byte, and for `~` by the first parameter.
    private static let keys: [String: Key] = [
        "A": .up, "B": .down, "H": .home, "F": .end, "1~": .home, "7~": .home, "4~": .end, "8~": .end, "5~": .pageUp,
        "6~": .pageDown,
    ]

    private var pending: [UInt8] = []

    /// Whether the bytes so far can be the beginning of a sequence.
    var isWaiting: Bool { !pending.isEmpty }

    /// Returns the keys that the bytes complete.
    mutating func keys(_ bytes: some Sequence<UInt8>) -> [Key] {
        pending += bytes
        var keys: [Key] = []
        var start = 0
        while start < pending.count, let (key, length) = Self.parse(pending[start...]) {
            if let key { keys.append(key) }
            start += length
        }
        pending.removeFirst(start)
        if pending.count > Self.limit { pending = [] }
        return keys
    }

    /// Ends a wait: a lone ESC is the escape key. The beginning of any other sequence is discarded.
    mutating func finish() -> [Key] {
        defer { pending = [] }
        return pending == [Self.escape] ? [.escape] : []
    }

    /// The first key and its length; nil if the bytes are incomplete, and a nil key for bytes without a meaning.
    private static func parse(_ bytes: ArraySlice<UInt8>) -> (Key?, Int)? {
        guard let first = bytes.first else { return nil }
        switch first {
        case escape: return parseSequence(bytes)
        case 0x01...0x1A: return (.control(Character(Unicode.Scalar(first + 0x60))), 1)
        case 0x20..<0x7F: return (.character(Character(Unicode.Scalar(first))), 1)
        case 0xC2...0xF4: return parseUTF8(bytes)
        default: return (nil, 1)
        }
    }

    private static func parseUTF8(_ bytes: ArraySlice<UInt8>) -> (Key?, Int)? {
        let first = bytes[bytes.startIndex]
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        let rest = bytes.dropFirst().prefix(length - 1)
        guard rest.allSatisfy({ $0 & 0xC0 == 0x80 }) else { return (nil, 1) }
        guard rest.count == length - 1 else { return nil }
        return (String(validating: bytes.prefix(length), as: UTF8.self)?.first.map { .character($0) }, length)
    }

    private static func parseSequence(_ bytes: ArraySlice<UInt8>) -> (Key?, Int)? {
        guard bytes.count > 1 else { return nil }
        switch bytes[bytes.startIndex + 1] {
        case UInt8(ascii: "["): return parseControlSequence(bytes)
        case UInt8(ascii: "O"): return bytes.count < 3 ? nil : (key(final: bytes[bytes.startIndex + 2]), 3)
        case UInt8(ascii: "_"), UInt8(ascii: "]"), UInt8(ascii: "P"): return parseString(bytes)
        // Two ESC: the first one is the key.
        case escape: return (.escape, 1)
        // A key with Alt, which has no meaning here.
        default: return (nil, 2)
        }
    }

    /// A control sequence (ECMA-48, 5.4): parameters, then a final byte.
    private static func parseControlSequence(_ bytes: ArraySlice<UInt8>) -> (Key?, Int)? {
        let body = bytes.dropFirst(2)
        guard let end = body.firstIndex(where: { !(0x20...0x3F).contains($0) }) else { return nil }
        let length = end - bytes.startIndex + 1
        let final = body[end]
        // Another control byte interrupts the sequence, and begins a key of its own.
        guard (0x40...0x7E).contains(final) else { return (nil, length - 1) }
        let parameters = String(decoding: body[..<end], as: UTF8.self)
        if parameters.hasPrefix("?") || final == UInt8(ascii: "c") {
            return (.answer(String(decoding: bytes[(bytes.startIndex + 1)...end], as: UTF8.self)), length)
        }
        let isNumbered = final == UInt8(ascii: "~")
        return (key(isNumbered ? parameters.prefix { $0 != ";" } : "", final: final), length)
    }

    private static func key(_ number: Substring = "", final: UInt8) -> Key? {
        keys["\(number)\(Character(Unicode.Scalar(final)))"]
    }

    /// A string of the application, the system or the device (ECMA-48, 5.6), up to ST or BEL.
    private static func parseString(_ bytes: ArraySlice<UInt8>) -> (Key?, Int)? {
        var index = bytes.startIndex + 2
        while index < bytes.endIndex {
            let isBell = bytes[index] == 0x07
            let isEnd = bytes[index] == escape && index + 1 < bytes.endIndex && bytes[index + 1] == UInt8(ascii: "\\")
            if isBell || isEnd {
                let text = String(decoding: bytes[(bytes.startIndex + 1)..<index], as: UTF8.self)
                return (.answer(text), index - bytes.startIndex + (isBell ? 1 : 2))
            }
            index += 1
        }
        return nil
    }
}
