internal import NIOCore

/// Parses a field block into integers and strings (RFC 7541, 5).
struct HPACKReader {
    /// The range of a string, and whether it is Huffman-coded.
    struct StringRange {
        let range: Range<Int>
        let isHuffman: Bool
    }

    /// The maximum integer; no valid index or length is larger.
    private static let largest = 1 << 28

    let bytes: UnsafeRawBufferPointer
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The next byte, which determines the representation; nil at the end.
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Parses an integer that starts in the low bits of the next byte (RFC 7541, 5.1).
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
            // Bytes that add nothing to the value could otherwise follow without end.
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

/// The dynamic table, newest entry first (RFC 7541, 2.3.2 and 4).
struct HPACKDynamicTable<Entry> {
    private var entries: CircularBuffer<(entry: Entry, size: Int)>
    private(set) var size = 0
    /// The maximum of `size`.
    private(set) var capacity: Int
    /// The number of insertions, which is the number of the newest entry.
    private(set) var insertions = 0

    init(capacity: Int) {
        self.capacity = capacity
        entries = CircularBuffer(initialCapacity: 16)
    }

    var count: Int { entries.count }

    /// An entry by its distance from the newest.
    subscript(distance: Int) -> Entry { entries[offset: distance].entry }

    /// The distance of an entry from the newest; nil if it was evicted.
    func distance(ofInsertion number: Int) -> Int? {
        let distance = insertions - number
        return distance < count ? distance : nil
    }

    /// Adds an entry and evicts old ones to make room. An entry larger than the table leaves it empty.
    mutating func insert(_ entry: Entry, size: Int) {
        insertions += 1
        evict(downTo: capacity - size)
        guard size <= capacity else {
            // The insertion is counted without an entry.
            return
        }
        entries.prepend((entry, size))
        self.size += size
    }

    mutating func resize(_ capacity: Int) {
        self.capacity = capacity
        evict(downTo: capacity)
    }

    private mutating func evict(downTo limit: Int) {
        while size > limit, let last = entries.popLast() { size -= last.size }
    }
}

extension CircularBuffer {
    fileprivate subscript(offset offset: Int) -> Element { self[index(startIndex, offsetBy: offset)] }
}

/// The static table (RFC 7541, appendix A).
enum HPACKStaticTable {
    /// The first line has index 1.
    static let lines: [HTTP2FieldLine] = fields.map { name, value in
        var (name, value) = (name, value)
        return name.withUTF8 { name in
            value.withUTF8 { value in
                HTTP2FieldLine(
                    HTTP2FieldLine.Name(UnsafeRawBufferPointer(name)), nameLength: name.count,
                    value: UnsafeRawBufferPointer(value))
            }
        }
    }

    /// The first index of a name.
    static let indices: [String: Int] = Dictionary(
        fields.enumerated().map { ($1.name, $0 + 1) }, uniquingKeysWith: { first, _ in first })

    static let count = fields.count

    static let fields: [(name: String, value: String)] = [
        (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
        (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
        (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
        ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
        ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
        ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
        ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""),
        ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""),
        ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""),
        ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""),
        ("proxy-authorization", ""), ("range", ""), ("referer", ""), ("refresh", ""), ("retry-after", ""),
        ("server", ""), ("set-cookie", ""), ("strict-transport-security", ""), ("transfer-encoding", ""),
        ("user-agent", ""), ("vary", ""), ("via", ""), ("www-authenticate", ""),
    ]
}
