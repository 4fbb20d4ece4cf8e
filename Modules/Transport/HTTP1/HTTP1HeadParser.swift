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
    }

    /// Heads with more are not remembered.
    private static let mostRemembered = (bytes: 4096, lines: 64)

    private var memory = Memory()

    /// Reads a head; the bytes are all of it, its empty line included.
    mutating func parse(
        _ bytes: UnsafeRawBufferPointer, maximumFields: Int
    ) throws(HTTP1SyntaxError) -> HTTP1ResponseHead {
        if let head = memory.head, bytes.hasBytes(0..<bytes.count, equalTo: memory.bytes) { return head }
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
            fields.append(try reader.field(range, after: nil))
        }
        return fields.isEmpty ? nil : fields
    }

    private func line(
        _ range: Range<Int>, number: Int, in bytes: UnsafeRawBufferPointer, _ reader: inout HTTP1LineReader
    ) throws(HTTP1SyntaxError) -> Line {
        let before = number < memory.lines.count ? memory.lines[number] : nil
        if let before, !reader.isFolded {
            let isSame = memory.bytes.withUnsafeBytes { remembered in
                bytes.hasBytes(range, equalTo: UnsafeRawBufferPointer(rebasing: remembered[before.range]))
            }
            if isSame { return Line(range: range, nameLength: before.nameLength, field: before.field) }
        }
        let name: HTTPField.Name? = before.flatMap { before in
            let isSame = memory.bytes.withUnsafeBytes { remembered in
                let old = before.range.lowerBound..<before.range.lowerBound + before.nameLength + 1
                return range.count >= old.count
                    && bytes.hasBytes(
                        range.lowerBound..<range.lowerBound + old.count,
                        equalTo: UnsafeRawBufferPointer(rebasing: remembered[old]))
            }
            return isSame ? before.field.name : nil
        }
        let field = try reader.field(range, after: name)
        return Line(range: range, nameLength: field.name.rawName.utf8.count, field: field)
    }

    private mutating func remember(_ new: Memory) {
        let isSmall =
            new.bytes.count <= Self.mostRemembered.bytes && new.lines.count <= Self.mostRemembered.lines
        memory = isSmall ? new : Memory()
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func hasBytes(_ range: Range<Int>, equalTo other: [UInt8]) -> Bool {
        range.count == other.count && other.withUnsafeBytes { hasBytes(range, equalTo: $0) }
    }
}
