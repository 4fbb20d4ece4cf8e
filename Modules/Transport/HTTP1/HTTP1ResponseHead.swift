internal import HTTPTypes

/// A response's head as it came over HTTP/1.1, and what it says of the message around it.
struct HTTP1ResponseHead: Sendable, Equatable {
    /// How long the body is (RFC 9112, 6.3).
    enum Framing: Equatable {
        case none
        case length(Int64)
        case chunked
        /// The body ends with the connection.
        case untilClose
    }

    var response: HTTPResponse
    /// The response's; HTTPTypes reads it anew from text each time.
    var statusCode: Int
    var isHTTP11 = true
    var asksToClose = false
    var asksToKeepAlive = false
    /// What follows the message cannot be trusted.
    var isFaulty = false
    /// What `Content-Length` says.
    var contentLength: Int64?
    /// Whether there is a `Transfer-Encoding`, and if so, whether its last coding is `chunked`.
    var endsInChunks: Bool?

    var isInformational: Bool { statusCode < 200 }

    /// Whether the server means to go on with the connection (RFC 9112, 9.3).
    var keepsAlive: Bool { !isFaulty && !asksToClose && (isHTTP11 || asksToKeepAlive) }

    func framing(for method: HTTPRequest.Method) -> Framing {
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

/// Why bytes are not a response of HTTP/1.1.
enum HTTP1SyntaxError: Error, Equatable {
    case headTooLarge
    case tooManyFields
    case tooManyInformationalResponses
    /// What is wrong, as the end of a sentence.
    case malformed(String)
}
