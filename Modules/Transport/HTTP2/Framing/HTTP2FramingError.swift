internal import HTTPTypes

/// Why a connection cannot go on (RFC 9113, 5.4.1).
struct HTTP2ConnectionError: Error, Equatable {
    enum Reason: Equatable {
        /// The server broke a rule; how, as the end of a sentence.
        case rule(String)
        /// The server sent more of something than it is worth.
        case flood(String)
        case headTooLarge
    }

    let code: HTTP2ErrorCode
    let reason: Reason

    static func rule(_ rule: String) -> HTTP2ConnectionError { .rule(.protocolError, rule) }

    static func rule(_ code: HTTP2ErrorCode, _ rule: String) -> HTTP2ConnectionError {
        HTTP2ConnectionError(code: code, reason: .rule(rule))
    }

    static func flood(_ frames: String) -> HTTP2ConnectionError {
        HTTP2ConnectionError(code: .enhanceYourCalm, reason: .flood(frames))
    }

    static var headTooLarge: HTTP2ConnectionError {
        HTTP2ConnectionError(code: .enhanceYourCalm, reason: .headTooLarge)
    }

    init(code: HTTP2ErrorCode, reason: Reason) {
        self.code = code
        self.reason = reason
    }

    init(_ error: HPACKError) {
        if error == .listTooLarge {
            self = .headTooLarge
        } else {
            self = .rule(.compressionError, "a field block that cannot be decoded: \(error)")
        }
    }
}

/// Why one stream cannot go on (RFC 9113, 5.4.2).
struct HTTP2StreamError: Error, Equatable {
    var code = HTTP2ErrorCode.protocolError
    /// What rule was broken, as the end of a sentence.
    let rule: String
}
