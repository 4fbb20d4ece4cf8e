internal import HTTPTypes

/// Splits a head or trailers into lines, and parses lines as fields (RFC 9112, 2.2 and 5).
///
/// Lines end with CRLF. A bare CR or LF, which other parsers may interpret differently, is rejected.
struct HTTP1LineReader {
    private let bytes: UnsafeRawBufferPointer
    private let maximumFields: Int
    private var position = 0
    private var fields = 0
    /// Whether the last line continues in the following lines (RFC 9112, 5.2).
    private(set) var isFolded = false

    init(_ bytes: UnsafeRawBufferPointer, maximumFields: Int) {
        self.bytes = bytes
        self.maximumFields = maximumFields
    }

    /// The next line, without its end.
    mutating func nextLine() throws(HTTP1SyntaxError) -> Range<Int> {
        guard let lineFeed = bytes.firstIndex(of: .lineFeed, from: position) else {
            throw .malformed("a line without an end")
        }
        guard lineFeed > position, bytes[lineFeed - 1] == .carriageReturn else {
            throw .malformed("a line that does not end with CRLF")
        }
        let line = position..<lineFeed - 1
        position = lineFeed + 1
        return line
    }

    /// The next field line with its continuation lines; nil at the empty line.
    mutating func nextFieldLine() throws(HTTP1SyntaxError) -> Range<Int>? {
        var line = try nextLine()
        guard !line.isEmpty else { return nil }
        // Parsers differ about such a line after the status line: some ignore it (RFC 9112, 2.2).
        guard !bytes[line.lowerBound].isBlank else { throw .malformed("a continuation line without a field line") }
        isFolded = false
        while position < bytes.count, bytes[position].isBlank {
            isFolded = true
            line = line.lowerBound..<(try nextLine()).upperBound
        }
        fields += 1
        guard fields <= maximumFields else { throw .tooManyFields }
        return line
    }

    /// Parses a field line. A known name is neither validated nor created again.
    func field(_ line: Range<Int>, named known: HTTPField.Name?) throws(HTTP1SyntaxError) -> HTTPField {
        let name = if let known { known } else { try name(line) }
        let value = bytes.trimmed(line.lowerBound + name.rawName.utf8.count + 1..<line.upperBound)
        guard !isFolded else { return HTTPField(name: name, value: try unfolded(value)) }
        let text = UnsafeRawBufferPointer(rebasing: bytes[value])
        guard text.holdsFieldBytesAlone else { throw .malformed("a control character in a field value") }
        return HTTPField(name: name, value: text)
    }

    private func name(_ line: Range<Int>) throws(HTTP1SyntaxError) -> HTTPField.Name {
        var end = line.lowerBound
        while end < line.upperBound, bytes[end].isTokenByte { end += 1 }
        // A blank before the colon is refused, too: parsers that differ about it have caused vulnerabilities (RFC 9112,
        // 5.1).
        guard end > line.lowerBound, end < line.upperBound, bytes[end] == UInt8(ascii: ":"),
            let name = HTTPField.Name(String(decoding: bytes[line.lowerBound..<end], as: UTF8.self))
        else { throw .malformed("an invalid field name") }
        return name
    }

    /// Joins a value of several lines; each line end becomes a space.
    private func unfolded(_ range: Range<Int>) throws(HTTP1SyntaxError) -> [UInt8] {
        var value: [UInt8] = []
        var index = range.lowerBound
        while index < range.upperBound {
            let isEnd = index + 1 < range.upperBound && bytes[index] == .carriageReturn && bytes[index + 1] == .lineFeed
            guard isEnd || bytes[index].isFieldByte else {
                throw .malformed("a control character in a field value")
            }
            value.append(isEnd ? 0x20 : bytes[index])
            index += isEnd ? 2 : 1
        }
        return value
    }
}
