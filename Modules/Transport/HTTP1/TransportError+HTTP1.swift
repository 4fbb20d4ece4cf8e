internal import NIOCore

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
        }
    }

    init(_ error: HTTP1SyntaxError) {
        switch error {
        case .headTooLarge:
            self.init(.headTooLarge, "The response's head is larger than the limit.", underlying: error)
        case .tooManyFields:
            self.init(.headTooLarge, "The response's head has more fields than the limit.", underlying: error)
        case .tooManyInformationalResponses:
            self.init(
                .tooManyInformationalResponses, "The server sent too many informational responses.", underlying: error)
        case .malformed(let what):
            self.init(.invalidResponse, "The server's bytes are not HTTP/1.1: \(what).", underlying: error)
        }
    }

    /// An error that came up the channel, in our terms.
    init(translating error: any Error) {
        switch error {
        case let error as TransportError:
            self = error
        default:
            self.init(.connectionClosed, "The connection broke: \(Self.reason(error)).", underlying: error)
        }
    }
}
