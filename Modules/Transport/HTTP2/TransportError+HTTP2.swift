internal import NIOHTTP2

/// HTTPTypes has a type of the same name.
typealias HTTP2ErrorCode = NIOHTTP2.HTTP2ErrorCode

extension TransportError {
    static func streamReset(_ code: HTTP2ErrorCode) -> TransportError {
        TransportError(.streamReset, "The server reset the request's stream: \(code.text).")
    }

    static func goneAway(_ code: HTTP2ErrorCode) -> TransportError {
        let reason = code == .noError ? "" : ": \(code.text)"
        return TransportError(
            .connectionClosed, "The server closes the connection and has not processed the request\(reason).")
    }

    static func connectionClosed(saying code: HTTP2ErrorCode) -> TransportError {
        TransportError(.connectionClosed, "The server closed the connection: \(code.text).")
    }

    static var pingTimeout: TransportError {
        TransportError(.pingTimeout, "The server sent nothing for too long, and did not answer a PING.")
    }

    init(_ failure: HTTP2StreamStateMachine.Failure) {
        switch failure {
        case .switchedProtocols:
            self.init(.invalidResponse, "The server switched to another protocol, which HTTP/2 cannot.")
        case .endedWithoutResponse:
            self.init(.invalidResponse, "The server ended the stream without a final response.")
        case .tooManyInformationalResponses:
            self.init(.tooManyInformationalResponses, "The server sent too many informational responses.")
        }
    }

    /// An error that came out of the framing, or from below it, in our terms.
    init(translatingHTTP2 error: any Error) {
        switch error {
        case let error as NIOHTTP2Errors.StreamError:
            self.init(translatingHTTP2: error.baseError)
        case is NIOHTTP2Errors.ExcessivelyLargeHeaderBlock, is NIOHTTP2Errors.ExcessiveContinuationFrames:
            self.init(.headTooLarge, "The response's head is larger than the limit.", underlying: error)
        case is NIOHTTP2Errors.ExcessiveRSTFrames, is NIOHTTP2Errors.ExcessiveControlFrames,
            is NIOHTTP2Errors.ExcessiveEmptyDataFrames, is NIOHTTP2Errors.ExcessiveStreamErrors,
            is NIOHTTP2Errors.ExcessiveOutboundFrameBuffering, is NIOHTTP2Errors.ExcessiveNumberOfGlitches:
            self.init(
                .invalidResponse, "The server sent too many frames of a kind that only costs: \(Self.name(error)).",
                underlying: error)
        case is NIOHTTP2Errors.ContentLengthViolated:
            self.init(
                .invalidResponse, "The response's body has not the length that its head says.", underlying: error)
        case let error as any NIOHTTP2Error:
            self.init(
                .invalidResponse, "The server broke the rules of HTTP/2: \(Self.name(error)).", underlying: error)
        default:
            self.init(translating: error)
        }
    }

    /// The error's type: its description can have bytes that the server chose.
    private static func name(_ error: any Error) -> String {
        String(describing: type(of: error))
    }
}

extension HTTP2ErrorCode {
    /// The code's name (RFC 9113, 7) and its number.
    var text: String {
        let number = "0x" + String(networkCode, radix: 16)
        return Self.names.indices ~= networkCode ? "\(Self.names[networkCode]) (\(number))" : number
    }

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]
}
