/// Takes a field block apart into integers and strings (RFC 7541, 5).
struct HPACKReader {
    /// Where a string lies, and whether it is coded.
    struct StringRange {
        let range: Range<Int>
        let isHuffman: Bool
    }

    /// No index and no length of ours is larger.
    private static let largest = 1 << 28

    let bytes: UnsafeRawBufferPointer
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The byte that says what comes next; nil at the end.
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// An integer whose first bits are the last of the next byte (RFC 7541, 5.1).
    mutating func integer(prefix: UInt8) throws(HPACKError) -> Int {
        guard let first = next else { throw .truncated }
        position += 1
        let mask = UInt8(1) << prefix &- 1
        guard first & mask == mask else { return Int(first & mask) }
        var (value, shift) = (Int(mask), 0)
        while let byte = next {
            position += 1
            value += Int(byte & 0x7F) << shift
            guard value <= Self.largest else { throw .integerTooLarge }
            guard byte & 0x80 != 0 else { return value }
            shift += 7
            guard shift <= 28 else { throw .integerTooLarge }
        }
        throw .truncated
    }

    mutating func string() throws(HPACKError) -> StringRange {
        guard let first = next else { throw .truncated }
        let length = try integer(prefix: 7)
        guard length <= bytes.count - position else { throw .truncated }
        position += length
        return StringRange(range: position - length..<position, isHuffman: first & 0x80 != 0)
    }
}
