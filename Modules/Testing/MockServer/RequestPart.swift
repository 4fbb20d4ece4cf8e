internal import HTTPTypes
internal import NIOCore

/// What a request consists of on its way in, whatever the protocol version.
enum RequestPart: Sendable {
    case head(RequestHead)
    case body(ByteBuffer)
    case end(HTTPFields?)
}

/// The head of a request that was just read.
struct RequestHead: Sendable {
    var method: HTTPRequest.Method
    var target: String
    var authority: String?
    var headerFields: HTTPFields
    var httpVersion: String
    /// The HTTP/2 stream; nil over HTTP/1.1.
    var streamID: Int?
    /// Whether the client wants to go on with the connection.
    var isKeepAlive = true

    var isHTTP10: Bool { httpVersion == "HTTP/1.0" }

    var expectsContinue: Bool {
        !isHTTP10 && headerFields[values: .expect].contains { $0.lowercased() == "100-continue" }
    }
}
