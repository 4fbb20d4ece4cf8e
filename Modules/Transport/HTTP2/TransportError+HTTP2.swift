internal import HTTPTypes

extension TransportError {
    static func streamReset(_ code: HTTP2ErrorCode) -> TransportError {
        TransportError(.streamReset, "The server reset the request's stream: \(code).")
    }

    static func goneAway(_ code: HTTP2ErrorCode) -> TransportError {
        let reason = code == .noError ? "" : ": \(code)"
        return TransportError(
            .connectionClosed, "The server closes the connection and has not processed the request\(reason).")
    }

    static func connectionClosed(saying code: HTTP2ErrorCode) -> TransportError {
        TransportError(.connectionClosed, "The server closed the connection: \(code).")
    }

    static var pingTimeout: TransportError {
        TransportError(.pingTimeout, "The server sent nothing for too long, and did not answer a PING.")
    }

    static var settingsTimeout: TransportError {
        TransportError(.pingTimeout, "The server did not acknowledge the settings of the connection in time.")
    }

    static var noRoomForStreams: TransportError {
        TransportError(.poolTimeout, "The server allowed no further request on its connection in time.")
    }

    init(_ failure: HTTP2StreamStateMachine.Failure) {
        switch failure {
        case .switchedProtocols:
            self.init(.invalidResponse, "The server switched to another protocol, which HTTP/2 cannot.")
        case .endedWithoutResponse:
            self.init(.invalidResponse, "The server ended the stream without a final response.")
        case .tooManyInformationalResponses:
            self.init(.tooManyInformationalResponses, "The server sent too many informational responses.")
        case .wrongLength:
            self.init(.invalidResponse, "The response's body has not the length that its head says.")
        case .bodyWithoutPlace:
            self.init(.invalidResponse, "The response has a body where there can be none.")
        }
    }

    init(_ error: HTTP2ConnectionError) {
        switch error.reason {
        case .headTooLarge:
            self.init(.headTooLarge, "The response's head is larger than the limit.", underlying: error)
        case .flood(let frames):
            self.init(
                .invalidResponse, "The server sent too many frames of a kind that only costs: \(frames).",
                underlying: error)
        case .rule(let rule):
            self.init(.invalidResponse, "The server broke the rules of HTTP/2: \(rule).", underlying: error)
        }
    }

    init(_ error: HTTP2StreamError) {
        self.init(.invalidResponse, "The server broke the rules of HTTP/2: \(error.rule).", underlying: error)
    }
}
