/// Decodes a server's field blocks (RFC 7541). Pure.
///
/// Results are cached, since servers repeat themselves: lines while they are in the table or at the same place in the
/// next block, and whole blocks while the table does not change.
struct HTTP2FieldDecoder {
    /// The lines of the previous block.
    private struct Memory {
        struct Line {
            let range: Range<Int>
            let line: HTTP2FieldLine
            /// The number of insertions into the dynamic table when the line was looked up; nil if it does not depend
            /// on the table.
            let insertions: Int?
        }

        var bytes: [UInt8] = []
        var lines: [Line] = []
    }

    private struct KnownBlock {
        let bytes: [UInt8]
        let section: HTTP2FieldSection
    }

    /// The maximum size of the server's table (RFC 9113, 6.5.2).
    static let tableCapacity = 4096
    private static let mostKnownBlocks = 4
    /// HTTPFields traps on more.
    static let mostLines = 65_534
    /// Larger blocks are not cached.
    private static let mostRemembered = (bytes: 4096, lines: 64)

    private let maximumListSize: Int
    private var table = HPACKDynamicTable<HTTP2FieldLine>(capacity: tableCapacity)
    private var memory = Memory()
    /// Blocks that did not change the table.
    private var known: [KnownBlock] = []
    private var nextKnown = 0
    /// Buffers for decoded strings.
    private var (name, value) = ([UInt8](), [UInt8]())

    init(maximumListSize: Int) {
        self.maximumListSize = maximumListSize
    }

    mutating func decode(_ block: UnsafeRawBufferPointer) throws(HPACKError) -> HTTP2FieldSection {
        if let section = knownSection(block) { return section }
        let insertions = table.insertions
        var (reader, section, listSize, updates) = (HPACKReader(block), HTTP2FieldSection(), 0, 0)
        var lines: [Memory.Line] = []
        section.reserve(memory.lines.count)
        lines.reserveCapacity(memory.lines.count)
        while let first = reader.next {
            if first & 0xE0 == 0x20 {
                // Table size updates come first, at most two of them (RFC 7541, 4.2).
                updates += 1
                guard lines.isEmpty, updates <= 2 else { throw .invalidTableSize }
                try resizeTable(&reader)
                continue
            }
            let line = try nextLine(first, &reader, number: lines.count)
            // A reference to a table counts with the size of its line: a small block could otherwise become a large
            // list.
            listSize += line.line.size
            guard listSize <= maximumListSize, lines.count < Self.mostLines else { throw .listTooLarge }
            section.add(line.line)
            lines.append(line)
        }
        remember(block, section, lines, isStable: table.insertions == insertions && updates == 0)
        return section
    }

    // MARK: Lines

    private mutating func nextLine(
        _ first: UInt8, _ reader: inout HPACKReader, number: Int
    ) throws(HPACKError) -> Memory.Line {
        let start = reader.position
        if first & 0x80 != 0 {
            let line = try line(at: reader.integer(prefix: 7))
            return Memory.Line(range: start..<reader.position, line: line, insertions: table.insertions)
        }
        let isAdded = first & 0x40 != 0
        let index = try reader.integer(prefix: isAdded ? 6 : 4)
        let name = index == 0 ? try reader.string() : nil
        let value = try reader.string()
        let insertions = index > HPACKStaticTable.count ? table.insertions : nil
        let range = start..<reader.position
        let line =
            if let known = remembered(range, in: reader.bytes, number: number) { known } else {
                try makeLine(index: index, name: name, value: value, reader.bytes)
            }
        if isAdded { table.insert(line, size: line.size) }
        return Memory.Line(range: range, line: line, insertions: insertions)
    }

    private mutating func makeLine(
        index: Int, name: HPACKReader.StringRange?, value: HPACKReader.StringRange, _ bytes: UnsafeRawBufferPointer
    ) throws(HPACKError) -> HTTP2FieldLine {
        try Self.read(value, in: bytes, into: &self.value)
        if let name {
            try Self.read(name, in: bytes, into: &self.name)
            return self.name.withUnsafeBytes { name in
                self.value.withUnsafeBytes { value in
                    HTTP2FieldLine(HTTP2FieldLine.Name(name), nameLength: name.count, value: value)
                }
            }
        }
        let named = try line(at: index)
        return self.value.withUnsafeBytes {
            HTTP2FieldLine(named.name, nameLength: named.nameLength, value: $0)
        }
    }

    private static func read(
        _ string: HPACKReader.StringRange, in bytes: UnsafeRawBufferPointer, into output: inout [UInt8]
    ) throws(HPACKError) {
        // One large string must not occupy memory for the life of the connection.
        output.removeAll(keepingCapacity: output.capacity <= 4096)
        let bytes = UnsafeRawBufferPointer(rebasing: bytes[string.range])
        guard string.isHuffman else { return output.append(contentsOf: bytes) }
        try HPACKHuffmanCode.shared.decode(bytes, to: &output)
    }

    // MARK: Tables

    private func line(at index: Int) throws(HPACKError) -> HTTP2FieldLine {
        guard index > 0 else { throw .invalidIndex }
        if index <= HPACKStaticTable.count { return HPACKStaticTable.lines[index - 1] }
        let distance = index - HPACKStaticTable.count - 1
        guard distance < table.count else { throw .invalidIndex }
        return table[distance]
    }

    private mutating func resizeTable(_ reader: inout HPACKReader) throws(HPACKError) {
        let size = try reader.integer(prefix: 5)
        guard size <= Self.tableCapacity else { throw .invalidTableSize }
        table.resize(size)
        known = []
        memory = Memory()
    }

    // MARK: Cache

    private func knownSection(_ block: UnsafeRawBufferPointer) -> HTTP2FieldSection? {
        known.first { known in
            known.bytes.withUnsafeBytes { block.hasBytes(0..<block.count, equalTo: $0) }
        }?.section
    }

    private func remembered(
        _ range: Range<Int>, in bytes: UnsafeRawBufferPointer, number: Int
    ) -> HTTP2FieldLine? {
        guard number < memory.lines.count else { return nil }
        let before = memory.lines[number]
        guard before.insertions.map({ $0 == table.insertions }) ?? true else { return nil }
        let isSame = memory.bytes.withUnsafeBytes {
            bytes.hasBytes(range, equalTo: UnsafeRawBufferPointer(rebasing: $0[before.range]))
        }
        return isSame ? before.line : nil
    }

    private mutating func remember(
        _ block: UnsafeRawBufferPointer, _ section: HTTP2FieldSection, _ lines: [Memory.Line], isStable: Bool
    ) {
        if !isStable { known = [] }
        guard block.count <= Self.mostRemembered.bytes, lines.count <= Self.mostRemembered.lines else {
            memory = Memory()
            return
        }
        let bytes = Array(block)
        memory = Memory(bytes: bytes, lines: lines)
        guard isStable else { return }
        let new = KnownBlock(bytes: bytes, section: section)
        if known.count < Self.mostKnownBlocks { return known.append(new) }
        known[nextKnown % Self.mostKnownBlocks] = new
        nextKnown = (nextKnown + 1) % Self.mostKnownBlocks
    }
}
