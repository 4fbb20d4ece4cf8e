/// The bytes are not DER (X.690), or have an unexpected structure.
struct DERError: Error {}

/// Reads DER (X.690, 10). Elements are ranges of the bytes.
///
/// OpenSSL also accepts BER. A certificate is signed over its DER (RFC 5280, 4.1), so two parsers must not be able to
/// interpret it differently. Tags have one octet, since X.509 defines no number above 30, and lengths have their
/// shortest form; ``strictRoot(_:)`` also checks the contents.
struct DER: Sendable {
    /// A value: its tag and its range.
    struct Element: Sendable {
        /// The identifier octet.
        let tag: UInt8
        /// The range including tag and length.
        let range: Range<Int>
        /// The range of the content.
        let content: Range<Int>

        var isConstructed: Bool { tag & 0x20 != 0 }
    }

    enum Tag {
        static let boolean: UInt8 = 0x01
        static let integer: UInt8 = 0x02
        static let bitString: UInt8 = 0x03
        static let octetString: UInt8 = 0x04
        static let null: UInt8 = 0x05
        static let objectIdentifier: UInt8 = 0x06
        static let enumerated: UInt8 = 0x0A
        static let utcTime: UInt8 = 0x17
        static let generalizedTime: UInt8 = 0x18
        static let sequence: UInt8 = 0x30
        static let set: UInt8 = 0x31

        static func context(_ number: UInt8, constructed: Bool = false) -> UInt8 {
            0x80 | (constructed ? 0x20 : 0) | number
        }
    }

    let bytes: [UInt8]

    /// The only top-level value.
    func root(_ tag: UInt8) throws(DERError) -> Element {
        var cursor = DERCursor(self, bytes.startIndex..<bytes.endIndex)
        let element = try cursor.next(tag)
        try cursor.end()
        return element
    }

    func cursor(_ element: Element) -> DERCursor { DERCursor(self, element.content) }

    func content(_ element: Element) -> [UInt8] { Array(bytes[element.content]) }

    func whole(_ element: Element) -> [UInt8] { Array(bytes[element.range]) }
}

/// A position between two values.
struct DERCursor {
    private let der: DER
    private var position: Int
    private let limit: Int

    init(_ der: DER, _ range: Range<Int>) {
        self.der = der
        position = range.lowerBound
        limit = range.upperBound
    }

    var isAtEnd: Bool { position >= limit }

    func end() throws(DERError) {
        guard isAtEnd else { throw DERError() }
    }

    /// The next value.
    mutating func next() throws(DERError) -> DER.Element {
        let start = position
        let tag = try byte()
        // Comparing a tag in the long form (X.690, 8.1.2.4) would confuse it with another tag.
        guard tag & 0x1F != 0x1F else { throw DERError() }
        let length = try length()
        guard length <= limit - position else { throw DERError() }
        let content = position..<(position + length)
        position = content.upperBound
        return DER.Element(tag: tag, range: start..<position, content: content)
    }

    /// The next value, which must have a tag.
    mutating func next(_ tag: UInt8) throws(DERError) -> DER.Element {
        guard peek == tag else { throw DERError() }
        return try next()
    }

    /// The next value if it has a tag.
    mutating func optional(_ tag: UInt8) throws(DERError) -> DER.Element? {
        peek == tag ? try next() : nil
    }

    private var peek: UInt8? { isAtEnd ? nil : der.bytes[position] }

    private mutating func byte() throws(DERError) -> UInt8 {
        guard position < limit else { throw DERError() }
        defer { position += 1 }
        return der.bytes[position]
    }

    /// A definite length in its shortest form (X.690, 10.1).
    private mutating func length() throws(DERError) -> Int {
        let first = try byte()
        guard first >= 0x80 else { return Int(first) }
        let count = Int(first & 0x7F)
        // A count of 0 is an indefinite length, which is BER only; more than four octets exceed every limit.
        guard (1...4).contains(count) else { throw DERError() }
        var length = 0
        for _ in 0..<count { length = length << 8 | Int(try byte()) }
        guard length >= 0x80, count == 1 || length >= 1 << (8 * (count - 1)) else { throw DERError() }
        return length
    }
}

extension DERCursor {
    /// The next value, which must have a tag and be the last one.
    func only(_ tag: UInt8) throws(DERError) -> DER.Element {
        var cursor = self
        let element = try cursor.next(tag)
        try cursor.end()
        return element
    }
}

extension DER {
    /// Certificates nest less deeply.
    private static let maximumDepth = 24

    /// The only top-level value, which must have a tag and contain nothing but DER.
    func strictRoot(_ tag: UInt8) throws(DERError) -> Element {
        let element = try root(tag)
        guard isStrict(element) else { throw DERError() }
        return element
    }

    /// Whether every nested value has its canonical DER encoding.
    func isStrict(_ element: Element, depth: Int = 0) -> Bool {
        guard depth < Self.maximumDepth else { return false }
        guard element.isConstructed else { return isStrictPrimitive(element) }
        // Constructed strings are BER only.
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
        // SEQUENCE and SET are always constructed.
        case 0x10, 0x11: return false
        default: return true
        }
    }

    /// Whether the octets of an INTEGER are minimal (X.690, 8.3.2).
    static func isShortest(_ content: ArraySlice<UInt8>) -> Bool {
        guard let first = content.first else { return false }
        guard content.count > 1 else { return true }
        let second = content[content.startIndex + 1]
        return !(first == 0 && second < 0x80) && !(first == 0xFF && second >= 0x80)
    }

    /// Unused bits are zero (X.690, 11.2.1).
    private static func isStrictBitString(_ content: ArraySlice<UInt8>) -> Bool {
        guard let unused = content.first, unused <= 7 else { return false }
        guard content.count > 1, let last = content.last else { return unused == 0 }
        return last & ((1 << unused) - 1) == 0
    }

    private static func isObjectIdentifier(_ content: ArraySlice<UInt8>) -> Bool {
        guard let last = content.last, last & 0x80 == 0 else { return false }
        var isStart = true
        for byte in content {
            // Such an octet adds nothing to the number, and is not its shortest form (X.690, 8.19.2).
            if isStart && byte == 0x80 { return false }
            isStart = byte & 0x80 == 0
        }
        return true
    }
}
