import FoundationEssentials

/// Writes `bplist00`: a header, objects, a table of their offsets, and a trailer of 32 bytes at the end.
struct BinaryPropertyListWriter {
    private enum Object {
        case plain([UInt8])
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    /// Plain values that are written once and shared. Equality compares bytes, so 0 and -0 differ.
    private struct Shared: Hashable {
        let bytes: [UInt8]
    }

    /// Longer values are repeated, so that the tree never exceeds 16 times the size of the bytes, which readers
    /// refuse (``PropertyListValue/ParsingOptions/maximumExpansion``): a key and its value take at least two bytes.
    private static let mostShared = (value: 9, key: 23)

    private var objects: [Object] = []
    private var places: [Shared: Int] = [:]

    /// The bytes of a property list.
    static func data(_ value: PropertyListValue) throws(SerializationError) -> Data {
        var writer = BinaryPropertyListWriter()
        _ = try writer.add(value, depth: 0)
        return Data(writer.bytes())
    }

    /// Adds an object; returns its index.
    private mutating func add(_ value: PropertyListValue, depth: Int) throws(SerializationError) -> Int {
        try NestingLimit.check(depth)
        switch value {
        case .array(let values):
            let place = reserve()
            var elements: [Int] = []
            elements.reserveCapacity(values.count)
            for value in values { elements.append(try add(value, depth: depth + 1)) }
            objects[place] = .array(elements)
            return place
        case .dictionary(let values):
            let place = reserve()
            let entries = values.sortedByKey
            let keys = entries.map { add(Self.plainBytes(of: .string($0.key)), mostShared: Self.mostShared.key) }
            var elements: [Int] = []
            elements.reserveCapacity(entries.count)
            for entry in entries { elements.append(try add(entry.value, depth: depth + 1)) }
            objects[place] = .dictionary(keys: keys, values: elements)
            return place
        case .date(let date) where !date.timeIntervalSinceReferenceDate.isFinite:
            throw SerializationError(
                code: .encodingFailed, message: "A property list cannot represent a date that is not finite.")
        default:
            return add(Self.plainBytes(of: value), mostShared: Self.mostShared.value)
        }
    }

    private mutating func reserve() -> Int {
        objects.append(.array([]))
        return objects.count - 1
    }

    private mutating func add(_ bytes: [UInt8], mostShared: Int) -> Int {
        let shared = bytes.count <= mostShared ? Shared(bytes: bytes) : nil
        if let place = shared.flatMap({ places[$0] }) { return place }
        objects.append(.plain(bytes))
        if let shared { places[shared] = objects.count - 1 }
        return objects.count - 1
    }

    private func bytes() -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        let referenceSize = Self.width(of: objects.count - 1)
        var offsets: [Int] = []
        offsets.reserveCapacity(objects.count)
        for object in objects {
            offsets.append(bytes.count)
            switch object {
            case .plain(let plain): bytes += plain
            case .array(let elements):
                bytes += Self.marker(0xA0, count: elements.count)
                for element in elements { bytes.append(element, width: referenceSize) }
            case .dictionary(let keys, let values):
                bytes += Self.marker(0xD0, count: keys.count)
                for element in keys + values { bytes.append(element, width: referenceSize) }
            }
        }
        let table = bytes.count
        let offsetSize = Self.width(of: table)
        for offset in offsets { bytes.append(offset, width: offsetSize) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        for number in [objects.count, 0, table] { bytes.append(number, width: 8) }
        return bytes
    }

    /// The number of bytes that a number takes: 1, 2, 4 or 8.
    private static func width(of number: Int) -> Int {
        number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }

    /// A marker with the count in its lower half, or in the integer after it.
    private static func marker(_ kind: UInt8, count: Int) -> [UInt8] {
        guard count >= 15 else { return [kind | UInt8(count)] }
        let width = width(of: count)
        var bytes = [kind | 0x0F, 0x10 | UInt8(width.trailingZeroBitCount)]
        bytes.append(count, width: width)
        return bytes
    }

    private static func plainBytes(of value: PropertyListValue) -> [UInt8] {
        switch value {
        case .bool(let value): return [value ? 0x09 : 0x08]
        case .integer(let value) where value < 0: return number(0x13, UInt64(bitPattern: value))
        case .integer(let value):
            let width = width(of: Int(value))
            var bytes = [0x10 | UInt8(width.trailingZeroBitCount)]
            bytes.append(Int(value), width: width)
            return bytes
        // Sixteen bytes, since eight are signed.
        case .unsigned(let value): return [0x14, 0, 0, 0, 0, 0, 0, 0, 0] + number(0, value).dropFirst()
        case .real(let value): return number(0x23, value.bitPattern)
        case .date(let value): return number(0x33, value.timeIntervalSinceReferenceDate.bitPattern)
        case .data(let value): return marker(0x40, count: value.count) + value
        case .string(let value): return text(value)
        case .array, .dictionary: return []
        }
    }

    private static func number(_ marker: UInt8, _ bits: UInt64) -> [UInt8] {
        [marker] + withUnsafeBytes(of: bits.bigEndian) { Array($0) }
    }

    /// ASCII, or UTF-16 with the number of code units.
    private static func text(_ text: String) -> [UInt8] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return marker(0x50, count: text.utf8.count) + text.utf8 }
        let units = Array(text.utf16)
        return marker(0x60, count: units.count) + units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }
}

extension [UInt8] {
    /// Appends a big-endian number.
    fileprivate mutating func append(_ number: Int, width: Int) {
        for index in stride(from: width - 1, through: 0, by: -1) {
            append(UInt8(truncatingIfNeeded: number >> (8 * index)))
        }
    }
}
