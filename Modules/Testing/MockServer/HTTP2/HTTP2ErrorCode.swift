extension MockServer {
    /// An error code of HTTP/2 (RFC 9113, 7), as RST_STREAM and GOAWAY carry it.
    public struct HTTP2ErrorCode: Sendable, Hashable, CustomStringConvertible {
        /// The code's number.
        public var rawValue: UInt32

        /// Makes a code from its number; any is allowed.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// NO_ERROR: not for an error, but to end something in order.
        public static let noError = HTTP2ErrorCode(rawValue: 0)
        /// PROTOCOL_ERROR.
        public static let protocolError = HTTP2ErrorCode(rawValue: 1)
        /// INTERNAL_ERROR.
        public static let internalError = HTTP2ErrorCode(rawValue: 2)
        /// FLOW_CONTROL_ERROR.
        public static let flowControlError = HTTP2ErrorCode(rawValue: 3)
        /// SETTINGS_TIMEOUT.
        public static let settingsTimeout = HTTP2ErrorCode(rawValue: 4)
        /// STREAM_CLOSED.
        public static let streamClosed = HTTP2ErrorCode(rawValue: 5)
        /// FRAME_SIZE_ERROR.
        public static let frameSizeError = HTTP2ErrorCode(rawValue: 6)
        /// REFUSED_STREAM: nothing of the request was processed, it can be sent again (RFC 9113, 8.7).
        public static let refusedStream = HTTP2ErrorCode(rawValue: 7)
        /// CANCEL: the stream is no longer needed.
        public static let cancel = HTTP2ErrorCode(rawValue: 8)
        /// COMPRESSION_ERROR.
        public static let compressionError = HTTP2ErrorCode(rawValue: 9)
        /// CONNECT_ERROR.
        public static let connectError = HTTP2ErrorCode(rawValue: 10)
        /// ENHANCE_YOUR_CALM: the peer causes too much work.
        public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 11)
        /// INADEQUATE_SECURITY.
        public static let inadequateSecurity = HTTP2ErrorCode(rawValue: 12)
        /// HTTP_1_1_REQUIRED: the request is to be sent over HTTP/1.1.
        public static let http11Required = HTTP2ErrorCode(rawValue: 13)

        private static let names = [
            "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
            "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
        ]

        /// The name that RFC 9113 gives the code, or its number.
        public var description: String {
            rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "\(rawValue)"
        }
    }
}
