internal import FoundationEssentials
internal import HTTPTypes
internal import NIOCore

/// Encodes a response as HTTP/1.1.
final class HTTP1ResponseSink: ResponseSink {
    /// Whether the connection is closed after the response.
    let closes: Bool
    private let response: MockResponse
    private let connection: ServerConnection
    private let framing: ResponseFraming
    /// The bytes that were not yet passed to the connection.
    private var pending = ByteBuffer()

    init(_ response: MockResponse, to connection: ServerConnection, method: HTTPRequest.Method, isHTTP10: Bool) {
        self.response = response
        self.connection = connection
        framing = ResponseFraming(response, method: method, isHTTP10: isHTTP10)
        closes = response.closesConnection || framing.needsClose
    }

    var hasBody: Bool { framing.hasBody }

    func writeInformational(_ head: HTTPResponse) {
        pending.write(head)
    }

    func writeHead() {
        pending.write(framing.head(of: response, closes: closes))
    }

    func beginPiece(of count: Int) {
        if framing.isChunked { pending.writeString(String(count, radix: 16) + "\r\n") }
    }

    func write(_ bytes: Data) {
        pending.writeBytes(bytes)
    }

    func endPiece() {
        if framing.isChunked { pending.writeString("\r\n") }
    }

    func writeEnd() {
        if framing.isChunked && framing.hasBody { pending.writeLastChunk(response.trailers ?? [:]) }
    }

    func flush(endsExchange: Bool) async throws {
        let bytes = pending
        pending = ByteBuffer()
        guard bytes.readableBytes > 0 || endsExchange else { return }
        try await connection.write(bytes, endsExchange: endsExchange)
    }
}

/// The framing of a response's body (RFC 9112, 6) where its own header fields do not determine it.
struct ResponseFraming {
    let hasBody: Bool
    let isChunked: Bool
    /// Whether the end of the connection delimits the body.
    let needsClose: Bool
    /// The fields that are added to the response's own.
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

    /// The head with the added fields.
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
    /// Writes the status line, the header fields and the empty line.
    mutating func write(_ head: HTTPResponse) {
        writeString("HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n")
        write(head.headerFields)
        writeString("\r\n")
    }

    /// Writes the last chunk and the trailer section.
    mutating func writeLastChunk(_ trailers: HTTPFields) {
        writeString("0\r\n")
        write(trailers)
        writeString("\r\n")
    }

    private mutating func write(_ fields: HTTPFields) {
        for field in fields {
            writeString("\(field.name.rawName): ")
            field.withUnsafeBytesOfValue { _ = writeBytes($0) }
            writeString("\r\n")
        }
    }
}
