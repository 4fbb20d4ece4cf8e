internal import HTTPTypes

/// Reads the heads of one connection's responses (RFC 9112, 4 and 5). Pure.
///
/// A server repeats itself: most lines of a head are those of the head before. What is made of a line is kept with its
/// bytes, so that a line that comes again is compared, and neither checked nor copied again.
struct HTTP1HeadParser {
    /// A field line, and what was made of it.
    struct Line {
        /// Where the line stands in its head, without its end.
        let range: Range<Int>
        let nameLength: Int
        let field: HTTPField
    }

    /// The head before.
    private struct Memory {
        var bytes: [UInt8] = []
        var lines: [Line] = []
        var head: HTTP1ResponseHead?

        /// Whether the bytes of a range are those that stood here before.
        func has(_ new: UnsafeRawBufferPointer, _ range: Range<Int>, at old: Range<Int>) -> Bool {
            bytes.withUnsafeBytes { new.hasBytes(range, equalTo: UnsafeRawBufferPointer(rebasing: $0[old])) }
        }
    }

    /// Heads with more are not remembered.
    private static let mostRemembered = (bytes: 4096, lines: 64)

    private var memory = Memory()

    /// Reads a head; the bytes are all of it, its empty line included.
    mutating func parse(
        _ bytes: UnsafeRawBufferPointer, maximumFields: Int
    ) throws(HTTP1SyntaxError) -> HTTP1ResponseHead {
        if let head = memory.head, memory.has(bytes, 0..<bytes.count, at: memory.bytes.indices) { return head }
        var reader = HTTP1LineReader(bytes, maximumFields: maximumFields)
        var head = try HTTP1ResponseHead(reader.nextLine(), in: bytes)
        head.response.headerFields.reserveCapacity(memory.lines.count)
        var lines: [Line] = []
        lines.reserveCapacity(memory.lines.count)
        while let range = try reader.nextFieldLine() {
            let line = try line(range, number: lines.count, in: bytes, &reader)
            try head.add(line, in: bytes)
            lines.append(line)
        }
        try head.checkFraming()
        remember(Memory(bytes: Array(bytes), lines: lines, head: head))
        return head
    }

    /// Reads the trailers; the bytes are all of them, the empty line included.
    static func trailers(
        _ bytes: UnsafeRawBufferPointer, maximumFields: Int
    ) throws(HTTP1SyntaxError) -> HTTPFields? {
        var reader = HTTP1LineReader(bytes, maximumFields: maximumFields)
        var fields = HTTPFields()
        while let range = try reader.nextFieldLine() {
            fields.append(try reader.field(range, named: nil))
        }
        return fields.isEmpty ? nil : fields
    }

    private func line(
        _ range: Range<Int>, number: Int, in bytes: UnsafeRawBufferPointer, _ reader: inout HTTP1LineReader
    ) throws(HTTP1SyntaxError) -> Line {
        let before = number < memory.lines.count ? memory.lines[number] : nil
        if let before, !reader.isFolded, memory.has(bytes, range, at: before.range) {
            return Line(range: range, nameLength: before.nameLength, field: before.field)
        }
        let name = before.flatMap { hasSameName(bytes, range, as: $0) ? $0.field.name : nil }
        let field = try reader.field(range, named: name)
        return Line(range: range, nameLength: field.name.rawName.utf8.count, field: field)
    }

    /// Whether a line begins with another's name and colon.
    private func hasSameName(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>, as before: Line) -> Bool {
        let length = before.nameLength + 1
        guard line.count >= length else { return false }
        return memory.has(
            bytes, line.lowerBound..<line.lowerBound + length,
            at: before.range.lowerBound..<before.range.lowerBound + length)
    }

    private mutating func remember(_ new: Memory) {
        let isSmall =
            new.bytes.count <= Self.mostRemembered.bytes && new.lines.count <= Self.mostRemembered.lines
        memory = isSmall ? new : Memory()
    }
}
