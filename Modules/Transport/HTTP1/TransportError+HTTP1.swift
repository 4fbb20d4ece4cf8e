internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

extension TransportError {
    static var staleConnection: TransportError {
        TransportError(.connectionClosed, "The server closed the connection before the request was sent.")
    }

    static var truncated: TransportError {
        TransportError(
            .tlsTruncated, "The connection ended without close_notify: the response may have been cut short.")
    }

    static func connectionClosed(afterBytes: Bool) -> TransportError {
        TransportError(
            .connectionClosed,
            afterBytes
                ? "The server closed the connection before the response was complete."
                : "The server closed the connection without a response.")
    }

    init(_ failure: HTTP1StateMachine.Failure) {
        switch failure {
        case .unexpectedResponse:
            self.init(.invalidResponse, "The server sent a response that nobody asked for.")
        case .switchedProtocols:
            self.init(.invalidResponse, "The server switched to another protocol unasked.")
        case .tooManyInformationalResponses:
            self.init(.tooManyInformationalResponses, "The server sent too many informational responses.")
        }
    }

    /// An error that came up the channel, in our terms.
    init(translating error: any Error) {
        switch error {
        case let error as TransportError:
            self = error
        case HTTPParserError.headerOverflow:
            self.init(.headTooLarge, "The response's head is larger than the limit.", underlying: error)
        case HTTPParserError.invalidEOFState:
            self.init(
                .connectionClosed, "The server closed the connection before the response was complete.",
                underlying: error)
        case let error as HTTPParserError:
            self.init(.invalidResponse, "The server's bytes are not HTTP/1.1: \(error)", underlying: error)
        case is NIOHTTPDecoderError:
            self.init(.invalidResponse, "The server sent a response that nobody asked for.", underlying: error)
        default:
            self.init(.connectionClosed, "The connection broke: \(Self.reason(error)).", underlying: error)
        }
    }
}

extension HTTPResponseHead {
    /// Whether only the connection's end ends the body (RFC 9112, 6.3).
    func endsWithConnection(for method: HTTPRequest.Method) -> Bool {
        if method == .head || status == .noContent || status == .notModified { return false }
        return !headers.contains(name: "Content-Length") && !headers.contains(name: "Transfer-Encoding")
    }
}
