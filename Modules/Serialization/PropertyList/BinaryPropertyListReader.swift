import FoundationEssentials
internal import LinnetMessages

/// Reads `bplist00`: a header, objects, a table of their offsets, and a trailer of 32 bytes at the end.
struct BinaryPropertyListReader {
    private let bytes: [UInt8]
    private let options: PropertyListValue.ParsingOptions
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let topObject: Int
    private let tableOffset: Int
    private var budget: Int

    init(_ bytes: [UInt8], options: PropertyListValue.ParsingOptions) throws(PropertyListSyntaxError) {
        self.bytes = bytes
        self.options = options
        budget = options.budget(for: bytes.count)
        let trailer = bytes.count - 32
        guard trailer >= 8, bytes.starts(with: "bplist0".utf8) else { throw Self.malformed(at: 0) }
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let objectCount = Self.number(bytes[(trailer + 8)..<(trailer + 16)]),
            let topObject = Self.number(bytes[(trailer + 16)..<(trailer + 24)]),
            let tableOffset = Self.number(bytes[(trailer + 24)..<(trailer + 32)]),
            objectCount <= trailer, topObject < objectCount, tableOffset >= 8, tableOffset <= trailer,
            // Foundation refuses a list with bytes between the table and the trailer as well.
            objectCount * offsetSize == trailer - tableOffset
        else { throw Self.malformed(at: trailer) }
        self.objectCount = objectCount
        self.topObject = topObject
        self.tableOffset = tableOffset
    }

    mutating func read() throws(PropertyListSyntaxError) -> PropertyListValue {
        // Foundation refuses a list for an object at a wrong place also if nothing refers to it.
        for index in 0..<objectCount { _ = try offset(of: index) }
        return try object(topObject, depth: 0)
    }

    private func offset(of index: Int) throws(PropertyListSyntaxError) -> Int {
        let place = tableOffset + index * offsetSize
        guard let offset = Self.number(bytes[place..<(place + offsetSize)]), offset >= 8, offset < tableOffset else {
            throw Self.malformed(at: place)
        }
        return offset
    }

    private mutating func object(_ index: Int, depth: Int) throws(PropertyListSyntaxError) -> PropertyListValue {
        // A reference may be any number, and is checked before it is used in arithmetic.
        guard index < objectCount else { throw Self.malformed(at: tableOffset) }
        let offset = try offset(of: index)
        try spend(1, at: offset)
        let marker = bytes[offset]
        switch marker >> 4 {
        case 0x0: return try singleton(marker, at: offset)
        case 0x1: return try integer(try slice(at: offset + 1, count: 1 << Int(marker & 0x0F), limit: 16), at: offset)
        case 0x2:
            return .real(try real(try slice(at: offset + 1, count: 1 << Int(marker & 0x0F), limit: 8), at: offset))
        case 0x3:
            guard marker == 0x33 else { throw Self.malformed(at: offset) }
            return .date(try date(try slice(at: offset + 1, count: 8, limit: 8), at: offset))
        case 0x4: return .data(Data(try counted(at: offset, width: 1)))
        case 0x5: return .string(try text(try counted(at: offset, width: 1), as: Unicode.ASCII.self, at: offset))
        case 0x6: return .string(try wideText(try counted(at: offset, width: 2), at: offset))
        case 0xA, 0xC: return try array(at: offset, depth: depth)
        case 0xD: return try dictionary(at: offset, depth: depth)
        case 0x8: throw PropertyListSyntaxError(kind: .unsupportedValue, offset: offset)
        default: throw Self.malformed(at: offset)
        }
    }

    private func singleton(_ marker: UInt8, at offset: Int) throws(PropertyListSyntaxError) -> PropertyListValue {
        switch marker {
        case 0x08: return .bool(false)
        case 0x09: return .bool(true)
        default: throw PropertyListSyntaxError(kind: .unsupportedValue, offset: offset)
        }
    }

    private mutating func array(at offset: Int, depth: Int) throws(PropertyListSyntaxError) -> PropertyListValue {
        let references = try self.references(at: offset, perElement: 1, depth: depth)
        var values: [PropertyListValue] = []
        for index in 0..<(references.count / referenceSize) {
            values.append(try object(try reference(index, in: references), depth: depth + 1))
        }
        return .array(values)
    }

    private mutating func dictionary(at offset: Int, depth: Int) throws(PropertyListSyntaxError) -> PropertyListValue {
        let references = try self.references(at: offset, perElement: 2, depth: depth)
        let count = references.count / (2 * referenceSize)
        var values: [String: PropertyListValue] = [:]
        for index in 0..<count {
            guard case .string(let key) = try object(try reference(index, in: references), depth: depth + 1) else {
                throw Self.malformed(at: offset)
            }
            let value = try object(try reference(count + index, in: references), depth: depth + 1)
            // No rule says which of two values for one key counts, and readers differ.
            guard values[key] == nil, values.set(value, forKey: key) else {
                throw PropertyListSyntaxError(kind: .equivalentKeys, offset: offset)
            }
        }
        return .dictionary(values)
    }

    /// The references of an array or a dictionary, as bytes.
    ///
    /// They are not decoded at once: a collection can contain itself, and each of its levels would keep all of them.
    private func references(
        at offset: Int, perElement: Int, depth: Int
    ) throws(PropertyListSyntaxError) -> ArraySlice<UInt8> {
        guard depth < options.maximumDepth else { throw PropertyListSyntaxError(kind: .nestedTooDeep, offset: offset) }
        return try content(at: offset, width: referenceSize * perElement)
    }

    private func reference(_ index: Int, in references: ArraySlice<UInt8>) throws(PropertyListSyntaxError) -> Int {
        let start = references.startIndex + index * referenceSize
        guard let reference = Self.number(references[start..<(start + referenceSize)]) else {
            throw Self.malformed(at: start)
        }
        return reference
    }

    /// The bytes of texts and data, which count against the budget at each use.
    private mutating func counted(at offset: Int, width: Int) throws(PropertyListSyntaxError) -> ArraySlice<UInt8> {
        let content = try content(at: offset, width: width)
        try spend(content.count, at: offset)
        return content
    }

    /// Reads the content after a marker. The lower half of the marker is a count, or announces an integer object with
    /// the count.
    private func content(at offset: Int, width: Int) throws(PropertyListSyntaxError) -> ArraySlice<UInt8> {
        let low = Int(bytes[offset] & 0x0F)
        guard low == 0x0F else { return try elements(at: offset + 1, count: low, width: width) }
        let marker = try slice(at: offset + 1, count: 1, limit: 1)
        guard let first = marker.first, first >> 4 == 0x1, first & 0x0F <= 3 else { throw Self.malformed(at: offset) }
        let size = 1 << Int(first & 0x0F)
        guard let count = Self.number(try slice(at: offset + 2, count: size, limit: 8)) else {
            throw Self.malformed(at: offset)
        }
        return try elements(at: offset + 2 + size, count: count, width: width)
    }

    private func elements(at offset: Int, count: Int, width: Int) throws(PropertyListSyntaxError) -> ArraySlice<UInt8> {
        guard offset <= tableOffset, count <= (tableOffset - offset) / width else { throw Self.malformed(at: offset) }
        return bytes[offset..<(offset + count * width)]
    }

    private func slice(at offset: Int, count: Int, limit: Int) throws(PropertyListSyntaxError) -> ArraySlice<UInt8> {
        guard count <= limit else { throw Self.malformed(at: offset) }
        return try elements(at: offset, count: count, width: 1)
    }

    private mutating func spend(_ count: Int, at offset: Int) throws(PropertyListSyntaxError) {
        budget -= count
        if budget < 0 { throw PropertyListSyntaxError(kind: .expandsTooMuch, offset: offset) }
    }

    private static func malformed(at offset: Int) -> PropertyListSyntaxError {
        PropertyListSyntaxError(kind: .malformed, offset: max(offset, 0))
    }

    /// A big-endian number of at most eight bytes; nil if it overflows `Int`.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? { Int(exactly: bits(bytes)) }

    private static func bits(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

extension BinaryPropertyListReader {
    /// Integers of one, two and four bytes are unsigned, integers of eight bytes signed. In sixteen bytes, the upper
    /// half has the sign.
    private func integer(
        _ bytes: ArraySlice<UInt8>, at offset: Int
    ) throws(PropertyListSyntaxError) -> PropertyListValue {
        let low = Self.bits(bytes.suffix(8))
        guard bytes.count >= 8 else { return .integer(Int64(low)) }
        let signed = Int64(bitPattern: low)
        if bytes.count == 8 { return .integer(signed) }
        switch Self.bits(bytes.prefix(8)) {
        case 0: return signed < 0 ? .unsigned(low) : .integer(signed)
        case .max where signed < 0: return .integer(signed)
        default: throw Self.malformed(at: offset)
        }
    }

    private func real(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(PropertyListSyntaxError) -> Double {
        switch bytes.count {
        case 4: return Double(Float(bitPattern: UInt32(Self.bits(bytes))))
        case 8: return Double(bitPattern: Self.bits(bytes))
        default: throw Self.malformed(at: offset)
        }
    }

    private func date(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(PropertyListSyntaxError) -> Date {
        let interval = try real(bytes, at: offset)
        guard interval.isFinite else { throw Self.malformed(at: offset) }
        return Date(timeIntervalSinceReferenceDate: interval)
    }

    private func text<Encoding: Unicode.Encoding>(
        _ units: some Sequence<Encoding.CodeUnit>, as encoding: Encoding.Type, at offset: Int
    ) throws(PropertyListSyntaxError) -> String {
        guard let text = String(validating: units, as: encoding) else { throw Self.malformed(at: offset) }
        return text
    }

    private func wideText(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(PropertyListSyntaxError) -> String {
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { (index: Int) -> UInt16 in
            UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
        }
        return try text(units, as: UTF16.self, at: offset)
    }
}
