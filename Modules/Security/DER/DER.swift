/// Bytes that are no DER (X.690), or not what was expected there.
struct DERError: Error {}

/// Reads DER (X.690, 10): one value inside another, by its place in the bytes.
///
/// OpenSSL also reads what is BER only. A certificate is signed over its DER (RFC 5280, 4.1), so two readers must not be
/// able to see two things in it.
struct DER: Sendable {
    /// One value: its tag and where it lies.
    struct Element: Sendable {
        /// The identifier octet; of a long form the first one alone.
        let tag: UInt8
        /// With tag and length.
        let range: Range<Int>
        /// The value alone.
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

    /// The only value of the bytes.
    func root(_ tag: UInt8) throws(DERError) -> Element {
        var cursor = DERCursor(self, bytes.startIndex..<bytes.endIndex)
        let element = try cursor.next(tag)
        try cursor.end()
        return element
    }

    func cursor(_ element: Element) -> DERCursor { DERCursor(self, element.content) }

    func content(_ element: Element) -> [UInt8] { Array(bytes[element.content]) }

    func whole(_ element: Element) -> [UInt8] { Array(bytes[element.range]) }

    /// The values inside of one.
    func children(_ element: Element) throws(DERError) -> [Element] {
        var children: [Element] = []
        var cursor = cursor(element)
        while !cursor.isAtEnd { children.append(try cursor.next()) }
        return children
    }
}

/// A place between two values.
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

    /// The next value, whatever it is.
    mutating func next() throws(DERError) -> DER.Element {
        let start = position
        let tag = try byte()
        if tag & 0x1F == 0x1F { try longTag() }
        let length = try length()
        guard length <= limit - position else { throw DERError() }
        let content = position..<(position + length)
        position = content.upperBound
        return DER.Element(tag: tag, range: start..<position, content: content)
    }

    /// The next value, which must be of this kind.
    mutating func next(_ tag: UInt8) throws(DERError) -> DER.Element {
        guard peek == tag else { throw DERError() }
        return try next()
    }

    /// The next value, if it is of this kind.
    mutating func optional(_ tag: UInt8) throws(DERError) -> DER.Element? {
        peek == tag ? try next() : nil
    }

    private var peek: UInt8? { isAtEnd ? nil : der.bytes[position] }

    private mutating func byte() throws(DERError) -> UInt8 {
        guard position < limit else { throw DERError() }
        defer { position += 1 }
        return der.bytes[position]
    }

    /// A tag number of 31 and more, in four octets at most.
    private mutating func longTag() throws(DERError) {
        for index in 0..<4 {
            let octet = try byte()
            guard index > 0 || octet != 0x80 else { throw DERError() }
            if octet & 0x80 == 0 { return }
        }
        throw DERError()
    }

    /// Definite, and as short as it can be written (X.690, 10.1).
    private mutating func length() throws(DERError) -> Int {
        let first = try byte()
        guard first >= 0x80 else { return Int(first) }
        let count = Int(first & 0x7F)
        guard (1...4).contains(count) else { throw DERError() }
        var length = 0
        for _ in 0..<count { length = length << 8 | Int(try byte()) }
        guard length >= 0x80, count == 1 || length >= 1 << (8 * (count - 1)) else { throw DERError() }
        return length
    }
}

extension DERCursor {
    /// The next value, which must be of this kind and the last.
    func only(_ tag: UInt8) throws(DERError) -> DER.Element {
        var cursor = self
        let element = try cursor.next(tag)
        try cursor.end()
        return element
    }
}
