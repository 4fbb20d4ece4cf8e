internal import FoundationEssentials
internal import HTTPTypes
internal import NIOCore

/// Puts a response on the wire as HTTP/1.1 says it, byte for byte.
final class HTTP1ResponseSink: ResponseSink {
    /// Whether the connection is to be closed after the response.
    let closes: Bool
    private let response: MockResponse
    private let connection: ServerConnection
    private let framing: ResponseFraming
    /// Bytes that have not been handed to the connection.
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
