internal import LinnetMessages
internal import NIOCore

/// Encodes requests' field sections (RFC 7541). Pure.
///
/// The encoding of each line is remembered for the same place in the next request, since requests repeat their fields.
struct HTTP2FieldEncoder {
    /// The indexing of a line (RFC 7541, 6.2 and 7.1.3).
    enum Indexing: Equatable {
        case indexed
        /// The value changes each time and would only fill the table.
        case notIndexed
        /// The value is secret, also for intermediaries.
        case neverIndexed
    }

    struct Line: Equatable {
        let name: String
        /// The octets of the value, each as a character (ISO 8859-1).
        let value: String
        var indexing = Indexing.indexed
    }

    private enum Place {
        case fixed(Int)
        /// The number of the insertion.
        case dynamic(Int)
    }

    /// The maximum size of our table, whatever the server allows.
    private static let mostCapacity = 4096
    private static let mostRemembered = 64

    private var table = HPACKDynamicTable<Line>(capacity: mostCapacity)
    private var memory: [(line: Line, place: Place)?] = []
    /// The smallest size since the last block. The next block announces this and the current size (RFC 7541, 4.2).
    private var smallestCapacity: Int?

    /// Sets the table size that the server allows.
    mutating func allow(_ capacity: Int) {
        let capacity = min(capacity, Self.mostCapacity)
        guard capacity != table.capacity else { return }
        smallestCapacity = min(smallestCapacity ?? .max, capacity)
        table.resize(capacity)
    }

    mutating func encode(_ lines: [Line], into buffer: inout ByteBuffer) {
        if let smallest = smallestCapacity {
            buffer.writeHPACK(integer: smallest, prefix: 5, flags: 0x20)
            if smallest < table.capacity { buffer.writeHPACK(integer: table.capacity, prefix: 5, flags: 0x20) }
            smallestCapacity = nil
        }
        for (number, line) in lines.enumerated() { encode(line, number: number, into: &buffer) }
    }

    private mutating func encode(_ line: Line, number: Int, into buffer: inout ByteBuffer) {
        guard line.indexing == .indexed else { return writeLiteral(line, into: &buffer) }
        if let index = remembered(line, number: number) {
            return buffer.writeHPACK(integer: index, prefix: 7, flags: 0x80)
        }
        if let (index, place) = find(line) {
            buffer.writeHPACK(integer: index, prefix: 7, flags: 0x80)
            return remember(line, place, number: number)
        }
        // A large line would evict more useful ones.
        guard line.size <= table.capacity / 2 else { return writeLiteral(line, into: &buffer) }
        writeName(line.name, prefix: 6, flags: 0x40, into: &buffer)
        buffer.writeHPACK(isoLatin1: line.value)
        table.insert(line, size: line.size)
        remember(line, .dynamic(table.insertions), number: number)
    }

    private func writeLiteral(_ line: Line, into buffer: inout ByteBuffer) {
        writeName(line.name, prefix: 4, flags: line.indexing == .neverIndexed ? 0x10 : 0, into: &buffer)
        buffer.writeHPACK(isoLatin1: line.value)
    }

    private func writeName(_ name: String, prefix: UInt8, flags: UInt8, into buffer: inout ByteBuffer) {
        let index = HPACKStaticTable.indices[name] ?? 0
        buffer.writeHPACK(integer: index, prefix: prefix, flags: flags)
        if index == 0 { buffer.writeHPACK(string: name) }
    }

    // MARK: Lookup

    private func remembered(_ line: Line, number: Int) -> Int? {
        guard number < memory.count, let before = memory[number], before.line == line else { return nil }
        switch before.place {
        case .fixed(let index): return index
        case .dynamic(let insertion):
            return table.distance(ofInsertion: insertion).map { HPACKStaticTable.count + 1 + $0 }
        }
    }

    private func find(_ line: Line) -> (index: Int, Place)? {
        if let first = HPACKStaticTable.indices[line.name] {
            for index in first...HPACKStaticTable.count {
                let field = HPACKStaticTable.fields[index - 1]
                guard field.name == line.name else { break }
                if field.value == line.value { return (index, .fixed(index)) }
            }
        }
        for distance in 0..<table.count where table[distance] == line {
            return (HPACKStaticTable.count + 1 + distance, .dynamic(table.insertions - distance))
        }
        return nil
    }

    private mutating func remember(_ line: Line, _ place: Place, number: Int) {
        guard number < Self.mostRemembered else { return }
        while memory.count <= number { memory.append(nil) }
        memory[number] = (line, place)
    }
}

extension HTTP2FieldEncoder.Line {
    /// The size of the line in the table (RFC 7541, 4.1).
    fileprivate var size: Int { name.utf8.count + value.unicodeScalars.count + 32 }
}

extension ByteBuffer {
    /// Writes an integer whose first bits follow flags (RFC 7541, 5.1).
    fileprivate mutating func writeHPACK(integer value: Int, prefix: UInt8, flags: UInt8) {
        let mask = 1 << Int(prefix) - 1
        guard value >= mask else {
            writeInteger(flags | UInt8(truncatingIfNeeded: value))
            return
        }
        writeInteger(flags | UInt8(truncatingIfNeeded: mask))
        var rest = value - mask
        while rest >= 0x80 {
            writeInteger(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        writeInteger(UInt8(truncatingIfNeeded: rest))
    }

    fileprivate mutating func writeHPACK(string: String) {
        var string = string
        string.withUTF8 { writeHPACK(octets: UnsafeRawBufferPointer($0)) }
    }

    fileprivate mutating func writeHPACK(isoLatin1 text: String) {
        guard !text.isASCII else { return writeHPACK(string: text) }
        text.isoLatin1Octets.withUnsafeBytes { writeHPACK(octets: $0) }
    }

    /// Writes a string, Huffman-coded if that is shorter (RFC 7541, 5.2).
    private mutating func writeHPACK(octets: UnsafeRawBufferPointer) {
        let length = HPACKHuffmanCode.shared.encodedLength(octets)
        guard length < octets.count else {
            writeHPACK(integer: octets.count, prefix: 7, flags: 0)
            writeBytes(octets)
            return
        }
        writeHPACK(integer: length, prefix: 7, flags: 0x80)
        HPACKHuffmanCode.shared.encode(octets) { writeInteger($0) }
    }
}
