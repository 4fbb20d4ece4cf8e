extension JSONValue {
    /// How JSON is laid out.
    public struct WritingOptions: Sendable, Hashable, Codable {
        /// Whether names are sorted by their UTF-8 bytes; the default is false, which keeps their order.
        public var sortsKeys: Bool
        /// Whether each value is on its own line, indented by two spaces; the default is false.
        public var isPretty: Bool

        /// Creates options.
        public init(sortsKeys: Bool = false, isPretty: Bool = false) {
            self.sortsKeys = sortsKeys
            self.isPretty = isPretty
        }

        /// Decodes options; missing ones have their defaults.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                sortsKeys: try container.decodeIfPresent(Bool.self, forKey: .sortsKeys) ?? false,
                isPretty: try container.decodeIfPresent(Bool.self, forKey: .isPretty) ?? false
            )
        }
    }
}

/// Writes the tokens of JSON.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    package let options: JSONValue.WritingOptions
    private var depth = 0

    package init(options: JSONValue.WritingOptions, capacity: Int = 256) {
        self.options = options
        bytes.reserveCapacity(capacity)
    }

    package mutating func write(word: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    package mutating func write(number text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    package mutating func write(_ string: String) {
        var string = string
        bytes.append(UInt8(ascii: "\""))
        string.withUTF8 { utf8 in
            var written = 0
            for (index, byte) in utf8.enumerated() where Self.mustEscape(byte) {
                bytes.append(contentsOf: utf8[written..<index])
                escape(byte)
                written = index + 1
            }
            bytes.append(contentsOf: utf8[written...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func open(_ byte: UInt8) {
        bytes.append(byte)
        depth += 1
    }

    package mutating func separate(isFirst: Bool) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        startLine()
    }

    package mutating func writeColon() {
        bytes.append(UInt8(ascii: ":"))
        if options.isPretty { bytes.append(UInt8(ascii: " ")) }
    }

    package mutating func close(_ byte: UInt8, isEmpty: Bool) {
        depth -= 1
        if !isEmpty { startLine() }
        bytes.append(byte)
    }

    private mutating func startLine() {
        guard options.isPretty else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
    }

    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        default:
            write(word: "u00")
            bytes.append(HexadecimalDigit.character(byte >> 4))
            bytes.append(HexadecimalDigit.character(byte & 0x0F))
        }
    }
}
