internal import HTTPTypes

/// A response head received over HTTP/1.1, and its message framing.
struct HTTP1ResponseHead: Sendable, Equatable {
    /// The length of the body (RFC 9112, 6.3).
    enum Framing: Equatable {
        case none
        case length(Int64)
        case chunked
        /// The body ends with the connection.
        case untilClose
    }

    var response: HTTPResponse
    /// The status code; HTTPTypes parses it from text on each access.
    var statusCode: Int
    var isHTTP11 = true
    var asksToClose = false
    var asksToKeepAlive = false
    /// Whether bytes after the message cannot be trusted.
    var isFaulty = false
    /// The value of `Content-Length`.
    var contentLength: Int64?
    /// Whether the last coding of `Transfer-Encoding` is `chunked`; nil without the field.
    var endsInChunks: Bool?

    var isInformational: Bool { statusCode < 200 }

    /// Whether the server keeps the connection open (RFC 9112, 9.3).
    var keepsAlive: Bool { !isFaulty && !asksToClose && (isHTTP11 || asksToKeepAlive) }

    func framing(for method: HTTPRequest.Method) -> Framing {
        // The order of RFC 9112, 6.3: status and method come before the fields, which describe what GET would return.
        switch statusCode {
        case 100..<200, 204, 304: return .none
        default: break
        }
        if method == .head { return .none }
        if let endsInChunks { return endsInChunks ? .chunked : .untilClose }
        guard let contentLength else { return .untilClose }
        return contentLength == 0 ? .none : .length(contentLength)
    }
}

/// Why bytes are not an HTTP/1.1 response.
enum HTTP1SyntaxError: Error, Equatable {
    case headTooLarge
    case tooManyFields
    case tooManyInformationalResponses
    /// The problem, as the end of a sentence.
    case malformed(String)
}

extension HTTP1ResponseHead {
    /// Parses a status line: `HTTP/1.1 200 OK`. The reason and the space before it are optional (RFC 9112, 4). A higher
    /// minor version is treated as HTTP/1.1 (RFC 9110, 2.5).
    init(_ line: Range<Int>, in bytes: UnsafeRawBufferPointer) throws(HTTP1SyntaxError) {
        let start = line.lowerBound
        guard line.count >= 12, bytes.hasPrefix("HTTP/1.", at: start), bytes[start + 8] == 0x20,
            bytes[start + 7].isDecimalDigit
        else { throw .malformed("a first line that is not an HTTP/1.1 status line") }
        var code = 0
        for index in start + 9..<start + 12 {
            guard bytes[index].isDecimalDigit else { throw .malformed("a status that is not a number") }
            code = code * 10 + Int(bytes[index] - 0x30)
        }
        guard code >= 100, line.count == 12 || bytes[start + 12] == 0x20 else {
            throw .malformed("a status that is not three digits")
        }
        let reason = UnsafeRawBufferPointer(rebasing: bytes[min(start + 13, line.upperBound)..<line.upperBound])
        guard reason.holdsFieldBytesAlone else { throw .malformed("a control character in the reason phrase") }
        statusCode = code
        response = HTTPResponse(
            status: HTTPResponse.Status(code: code, reasonPhrase: String(decoding: reason, as: UTF8.self)))
        isHTTP11 = bytes[start + 7] != UInt8(ascii: "0")
    }

    /// Adds a field and records its meaning for the message.
    mutating func add(_ line: HTTP1HeadParser.Line, in bytes: UnsafeRawBufferPointer) throws(HTTP1SyntaxError) {
        let name = line.range.lowerBound..<line.range.lowerBound + line.nameLength
        if bytes.matches(name, "content-length") {
            try addContentLength(line.field)
        } else if bytes.matches(name, "transfer-encoding") {
            try addTransferEncoding(line.field)
        } else if bytes.matches(name, "connection") {
            addConnection(line.field)
        }
        response.headerFields.append(line.field)
    }

    /// A message with both could be interpreted in two ways (RFC 9112, 6.3).
    func checkFraming() throws(HTTP1SyntaxError) {
        guard contentLength == nil || endsInChunks == nil else {
            throw .malformed("both Content-Length and Transfer-Encoding")
        }
    }

    private mutating func addContentLength(_ field: HTTPField) throws(HTTP1SyntaxError) {
        let length = field.withUnsafeBytesOfValue { UnsafeRawBufferPointer($0).contentLength }
        guard let length, contentLength == nil else { throw .malformed("a Content-Length that is not a single number") }
        contentLength = length
    }

    private mutating func addTransferEncoding(_ field: HTTPField) throws(HTTP1SyntaxError) {
        for coding in field.value.listMembers {
            // No coding may follow chunked, including chunked itself (RFC 9112, 6.1).
            guard endsInChunks != true else { throw .malformed("a Transfer-Encoding with a coding after chunked") }
            // Requests have no TE field, so servers may use chunked only (RFC 9110, 10.1.4); other codings change the
            // content. `identity` means none (RFC 2616).
            guard coding == "chunked" || coding == "identity" else {
                throw .malformed(
                    "a Transfer-Encoding that the request did not accept: \(coding.prefix(40).debugDescription)")
            }
            endsInChunks = coding == "chunked"
        }
        guard endsInChunks != nil else { throw .malformed("an empty Transfer-Encoding") }
        // HTTP/1.0 has no chunked coding, so bytes after such a message have no meaning (RFC 9112, 6.1).
        if !isHTTP11 { isFaulty = true }
    }

    private mutating func addConnection(_ field: HTTPField) {
        for option in field.value.listMembers {
            if option == "close" { asksToClose = true }
            if option == "keep-alive" { asksToKeepAlive = true }
        }
    }
}

extension String {
    /// The lower-case members of a token list (RFC 9110, 5.6.1).
    var listMembers: some Sequence<String> {
        split(separator: ",").lazy.map { member in
            let member = member.drop { $0 == " " || $0 == "\t" }
            let end = member.lastIndex { $0 != " " && $0 != "\t" }
            return end.map { String(member[...$0]).lowercased() } ?? ""
        }.filter { !$0.isEmpty }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func hasPrefix(_ text: StaticString, at start: Int) -> Bool {
        hasBytes(
            start..<start + text.utf8CodeUnitCount,
            equalTo: UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

/// Parses the response heads of a connection (RFC 9112, 4 and 5). Pure.
///
/// Most lines of a head are the same as in the head before. Parsed lines are kept with their bytes, so that a repeated
/// line is compared instead of validated and copied again.
struct HTTP1HeadParser {
    /// A field line and its parsed field.
    struct Line {
        /// The range of the line in its head, without its end.
        let range: Range<Int>
        let nameLength: Int
        let field: HTTPField
    }

    /// The previous head.
    private struct Memory {
        var bytes: [UInt8] = []
        var lines: [Line] = []
        var head: HTTP1ResponseHead?

        /// Whether a range equals a range of the previous head.
        func has(_ new: UnsafeRawBufferPointer, _ range: Range<Int>, at old: Range<Int>) -> Bool {
            bytes.withUnsafeBytes { new.hasBytes(range, equalTo: UnsafeRawBufferPointer(rebasing: $0[old])) }
        }
    }

    /// Larger heads are not kept.
    private static let mostRemembered = (bytes: 4096, lines: 64)

    private var memory = Memory()

    /// Parses a head; the bytes are the whole head with its empty line.
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

    /// Parses trailers; the bytes are the whole section with its empty line.
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

    /// Whether a line starts with the name and colon of a previous line.
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
