internal import HTTPTypes

extension HTTP1ResponseHead {
    /// Reads a status line: `HTTP/1.1 200 OK`, the reason and the space before it optional (RFC 9112, 4). A higher minor
    /// version is read as HTTP/1.1 is (RFC 9110, 2.5).
    init(_ line: Range<Int>, in bytes: UnsafeRawBufferPointer) throws(HTTP1SyntaxError) {
        let start = line.lowerBound
        guard line.count >= 12, bytes.hasPrefix("HTTP/1.", at: start), bytes[start + 8] == 0x20,
            bytes[start + 7].isDecimalDigit
        else { throw .malformed("a first line that is no status line of HTTP/1.1") }
        var code = 0
        for index in start + 9..<start + 12 {
            guard bytes[index].isDecimalDigit else { throw .malformed("a status that is no number") }
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

    /// Takes a field, and what it says of the message.
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

    /// A message with both could be read in two ways (RFC 9112, 6.3).
    func checkFraming() throws(HTTP1SyntaxError) {
        guard contentLength == nil || endsInChunks == nil else {
            throw .malformed("both Content-Length and Transfer-Encoding")
        }
    }

    private mutating func addContentLength(_ field: HTTPField) throws(HTTP1SyntaxError) {
        let length = field.withUnsafeBytesOfValue { UnsafeRawBufferPointer($0).contentLength }
        guard let length, contentLength == nil else { throw .malformed("a Content-Length that is not one number") }
        contentLength = length
    }

    private mutating func addTransferEncoding(_ field: HTTPField) throws(HTTP1SyntaxError) {
        for coding in field.value.listMembers {
            // Nothing may come after chunked, chunked itself least of all (RFC 9112, 6.1).
            guard endsInChunks != true else { throw .malformed("a Transfer-Encoding that goes on after chunked") }
            // No request has a TE field, so that a server may use chunked alone (RFC 9110, 10.1.4); what another coding made
            // of the content is not the content. `identity` is what RFC 2616 called none.
            guard coding == "chunked" || coding == "identity" else {
                throw .malformed("a Transfer-Encoding that nothing asked for: \(coding.prefix(40).debugDescription)")
            }
            endsInChunks = coding == "chunked"
        }
        guard endsInChunks != nil else { throw .malformed("an empty Transfer-Encoding") }
        // HTTP/1.0 has no chunks: whoever sends them may mean anything by what follows (RFC 9112, 6.1).
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
    /// The members of a list of tokens, in lower case (RFC 9110, 5.6.1).
    fileprivate var listMembers: some Sequence<String> {
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
