extension DER {
    /// Deeper than any certificate nests.
    private static let maximumDepth = 24

    /// Whether every value inside is written as DER wants it: one way only.
    func isStrict(_ element: Element, depth: Int = 0) -> Bool {
        guard depth < Self.maximumDepth else { return false }
        guard element.isConstructed else { return isStrictPrimitive(element) }
        // Strings in pieces are BER.
        guard element.tag >= 0x80 || element.tag == Tag.sequence || element.tag == Tag.set else { return false }
        var cursor = cursor(element)
        while !cursor.isAtEnd {
            guard let child = try? cursor.next(), isStrict(child, depth: depth + 1) else { return false }
        }
        return true
    }

    private func isStrictPrimitive(_ element: Element) -> Bool {
        let content = bytes[element.content]
        switch element.tag {
        case Tag.boolean: return content.count == 1 && (content.first == 0 || content.first == 0xFF)
        case Tag.integer, Tag.enumerated: return Self.isShortest(content)
        case Tag.null: return content.isEmpty
        case Tag.bitString: return Self.isStrictBitString(content)
        case Tag.objectIdentifier: return Self.isObjectIdentifier(content)
        case 0x10, 0x11: return false
        default: return true
        }
    }

    /// An INTEGER's octets, none of them superfluous (X.690, 8.3.2).
    static func isShortest(_ content: ArraySlice<UInt8>) -> Bool {
        guard let first = content.first else { return false }
        guard content.count > 1 else { return true }
        let second = content[content.startIndex + 1]
        return !(first == 0 && second < 0x80) && !(first == 0xFF && second >= 0x80)
    }

    /// The bits that are not used are zero (X.690, 11.2.1).
    private static func isStrictBitString(_ content: ArraySlice<UInt8>) -> Bool {
        guard let unused = content.first, unused <= 7 else { return false }
        guard content.count > 1, let last = content.last else { return unused == 0 }
        return last & ((1 << unused) - 1) == 0
    }

    private static func isObjectIdentifier(_ content: ArraySlice<UInt8>) -> Bool {
        guard let last = content.last, last & 0x80 == 0 else { return false }
        var isStart = true
        for byte in content {
            if isStart && byte == 0x80 { return false }
            isStart = byte & 0x80 == 0
        }
        return true
    }
}
