internal import FoundationEssentials
internal import HTTPTypes
internal import NIOCore

/// How a response's end is marked on the wire (RFC 9112, 6), as far as its own header fields leave that open.
struct ResponseFraming {
    let hasBody: Bool
    let isChunked: Bool
    /// Whether only the connection's end marks the body's.
    let needsClose: Bool
    /// What is added to the response's own fields.
    private let fields: HTTPFields

    init(_ response: MockResponse, method: HTTPRequest.Method, isHTTP10: Bool) {
        let own = response.headerFields
        let isBodiless = response.status == .noContent || response.status == .notModified
        let transferEncoding = own[.transferEncoding]?.lowercased()
        let isOwn = transferEncoding != nil || own[.contentLength] != nil
        let length = isOwn || isBodiless || response.trailers != nil ? nil : response.body.length
        let isUntilClose = response.body.isUntilClose || isHTTP10
        let chunks = !isOwn && !isBodiless && length == nil && !isUntilClose && !response.body.isRaw
        hasBody = method != .head && !isBodiless && !response.body.isRaw
        isChunked = !response.body.isRaw && (transferEncoding?.contains("chunked") ?? chunks)
        needsClose = hasBody && !isOwn && length == nil && !chunks
        fields =
            if let length { [.contentLength: "\(length)"] } else if chunks { [.transferEncoding: "chunked"] } else {
                [:]
            }
    }

    /// The head as it is to be written.
    func head(of response: MockResponse, closes: Bool) -> HTTPResponse {
        var head = HTTPResponse(status: response.status, headerFields: response.headerFields)
        head.headerFields.append(contentsOf: fields)
        if closes && head.headerFields[.connection] == nil { head.headerFields[.connection] = "close" }
        return head
    }
}

extension MockResponse.Body {
    fileprivate var isUntilClose: Bool { if case .untilClose = storage { true } else { false } }
}

extension ByteBuffer {
    /// Writes a status line, the fields, and the empty line.
    mutating func write(_ head: HTTPResponse) {
        writeString("HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n")
        write(head.headerFields)
        writeString("\r\n")
    }

    /// Writes the chunk that ends a body, and the trailers.
    mutating func writeLastChunk(_ trailers: HTTPFields) {
        writeString("0\r\n")
        write(trailers)
        writeString("\r\n")
    }

    private mutating func write(_ fields: HTTPFields) {
        for field in fields { writeString("\(field.name.rawName): \(field.value)\r\n") }
    }
}
