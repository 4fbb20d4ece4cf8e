internal import LinnetMessages

/// An entity tag (RFC 9110, section 8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// The tag with its quotation marks, without the `W/` of weak tags.
    package let opaque: String
    /// Whether the tag is weak. A tag without quotation marks is invalid, and counts as weak: servers that send such
    /// tags compare them as text.
    package let isWeak: Bool
    /// The tag as it was received.
    package let text: String

    /// Parses the value of an ETag field; nil if it cannot be sent back in a list.
    package init?(_ value: String) {
        var scanner = Scanner(value)
        guard let tag = scanner.tag(), scanner.isAtEnd else { return nil }
        self = tag
    }

    private init(opaque: ArraySlice<UInt8>, isWeak: Bool, text: ArraySlice<UInt8>) {
        self.opaque = String(decoding: opaque, as: UTF8.self)
        self.isWeak = isWeak
        self.text = String(decoding: text, as: UTF8.self)
    }

    /// Strong comparison (section 8.8.3.2).
    package func isSame(as other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Weak comparison (section 8.8.3.2).
    package func isEquivalent(to other: EntityTag) -> Bool { opaque == other.opaque }

    /// The content of an If-None-Match field (section 13.1.2).
    package enum List: Hashable, Sendable {
        /// `*`
        case any
        /// The tags, in order.
        case tags([EntityTag])

        /// Parses a field value; nil if it is malformed.
        package init?(_ value: String) {
            var scanner = Scanner(value)
            if scanner.isAsterisk {
                self = .any
                return
            }
            var tags: [EntityTag] = []
            while !scanner.isAtEnd {
                guard let tag = scanner.tag() else { return nil }
                tags.append(tag)
                guard scanner.skipSeparator() else { return nil }
            }
            guard !tags.isEmpty else { return nil }
            self = .tags(tags)
        }
    }

    private struct Scanner {
        private let bytes: ArraySlice<UInt8>
        private var position: Int

        init(_ value: String) {
            bytes = Array(value.utf8)[...].trimmed
            position = bytes.startIndex
        }

        var isAtEnd: Bool { position == bytes.endIndex }
        var isAsterisk: Bool { bytes.elementsEqual([UInt8(ascii: "*")]) }

        /// `W/"..."`, `"..."`, or text without quotation marks, commas and blanks.
        mutating func tag() -> EntityTag? {
            let start = position
            let isWeak = bytes[position...].starts(with: [UInt8(ascii: "W"), UInt8(ascii: "/")])
            let opaqueStart = isWeak ? start + 2 : start
            position = opaqueStart
            guard position < bytes.endIndex else { return nil }
            let isQuoted = bytes[position] == UInt8(ascii: "\"")
            if isQuoted { position += 1 }
            while position < bytes.endIndex, Self.isTagByte(bytes[position]) {
                if !isQuoted, bytes[position] == UInt8(ascii: ",") { break }
                position += 1
            }
            if isQuoted {
                guard position < bytes.endIndex, bytes[position] == UInt8(ascii: "\"") else { return nil }
                position += 1
            }
            guard position > opaqueStart else { return nil }
            return EntityTag(
                opaque: bytes[opaqueStart..<position], isWeak: isWeak || !isQuoted, text: bytes[start..<position])
        }

        /// Skips commas and blanks; false if there is no comma before the next tag.
        mutating func skipSeparator() -> Bool {
            var hasComma = isAtEnd
            while position < bytes.endIndex, ASCII.isBlank(bytes[position]) || bytes[position] == UInt8(ascii: ",") {
                hasComma = hasComma || bytes[position] == UInt8(ascii: ",")
                position += 1
            }
            return hasComma || isAtEnd
        }

        private static func isTagByte(_ byte: UInt8) -> Bool { byte > 0x20 && byte != 0x22 && byte != 0x7F }
    }
}
