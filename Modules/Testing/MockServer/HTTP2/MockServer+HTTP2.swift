extension MockServer.Configuration {
    /// The HTTP versions that a server supports.
    public enum HTTPVersions: Sendable, Hashable {
        /// HTTP/1.1 only. Over TLS, ALPN offers `http/1.1`.
        case http1
        /// HTTP/2 only. Over TLS, ALPN offers `h2`; plain connections use prior knowledge (RFC 9113, 3.3).
        case http2
        /// Both versions. Over TLS, ALPN prefers `h2` to `http/1.1`; a plain connection uses HTTP/2 when it begins with
        /// the connection preface (RFC 9113, 3.4).
        case both

        var applicationProtocols: [String] {
            switch self {
            case .http1: ["http/1.1"]
            case .http2: ["h2"]
            case .both: ["h2", "http/1.1"]
            }
        }
    }

    /// The settings and deliberate behaviour of a server over HTTP/2.
    public struct HTTP2: Sendable, Hashable {
        /// The maximum number of concurrent streams (SETTINGS_MAX_CONCURRENT_STREAMS). Beyond it, the connection of a
        /// client that has acknowledged the setting is closed.
        ///
        /// The default is 100. Numbers below zero count as zero, and greater ones than 4,294,967,295, the largest value
        /// of a setting, count as that.
        public var maximumConcurrentStreams = 100
        /// The initial flow-control window of a stream in bytes (SETTINGS_INITIAL_WINDOW_SIZE).
        ///
        /// The default is 65,535, as in the protocol. Numbers below one count as one, and those above 2,147,483,647,
        /// the largest window (RFC 9113, 6.9.1), count as that.
        public var initialWindowSize = 65_535
        /// When the server sends GOAWAY on a connection.
        ///
        /// Nil, the default, means never.
        public var goAway: GoAway?
        /// Whether streams that a client opens after GOAWAY was sent are reset with REFUSED_STREAM.
        ///
        /// When false, they are not answered at all, as RFC 9113, 6.8 allows. The default is true.
        public var refusesLateStreams = true
        /// The numbers of the streams on each connection, counted from 0, that are refused with REFUSED_STREAM.
        ///
        /// Refused requests are neither recorded nor passed to the handler. The default is empty.
        public var refusedStreams: Set<Int> = []

        /// Creates the default options.
        public init() {}
    }

    /// When GOAWAY is sent (RFC 9113, 6.8).
    public struct GoAway: Sendable, Hashable {
        /// The number of requests that a connection serves.
        public var requests: Int
        /// The error code in the frame.
        public var errorCode: MockServer.HTTP2ErrorCode

        /// Sends GOAWAY when the given number of requests has arrived, with the stream of the last request as the last
        /// stream. The connection is closed when these requests were answered.
        ///
        /// Numbers below one count as one.
        public static func after(_ requests: Int, errorCode: MockServer.HTTP2ErrorCode = .noError) -> GoAway {
            GoAway(requests: max(1, requests), errorCode: errorCode)
        }
    }
}

extension MockServer {
    /// A stream that a client reset.
    public struct StreamReset: Sendable, Hashable {
        /// The number of the connection, counted from 0.
        public var connectionIndex: Int
        /// The identifier of the stream.
        public var streamID: Int
        /// The error code in the frame.
        public var errorCode: HTTP2ErrorCode

        package init(connectionIndex: Int, streamID: Int, errorCode: HTTP2ErrorCode) {
            self.connectionIndex = connectionIndex
            self.streamID = streamID
            self.errorCode = errorCode
        }
    }

    /// The streams that clients have reset so far (RST_STREAM), in order of arrival.
    public var streamResets: [StreamReset] { log.resets }
}

extension MockServer {
    /// An HTTP/2 error code (RFC 9113, 7) in RST_STREAM or GOAWAY.
    public struct HTTP2ErrorCode: Sendable, Hashable, CustomStringConvertible {
        /// The number of the code.
        public var rawValue: UInt32

        /// Creates a code from any number.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// NO_ERROR: a graceful end.
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
        /// REFUSED_STREAM: the request was not processed and can be repeated (RFC 9113, 8.7).
        public static let refusedStream = HTTP2ErrorCode(rawValue: 7)
        /// CANCEL: the stream is no longer needed.
        public static let cancel = HTTP2ErrorCode(rawValue: 8)
        /// COMPRESSION_ERROR.
        public static let compressionError = HTTP2ErrorCode(rawValue: 9)
        /// CONNECT_ERROR.
        public static let connectError = HTTP2ErrorCode(rawValue: 10)
        /// ENHANCE_YOUR_CALM: the peer causes excessive load.
        public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 11)
        /// INADEQUATE_SECURITY.
        public static let inadequateSecurity = HTTP2ErrorCode(rawValue: 12)
        /// HTTP_1_1_REQUIRED: the request must use HTTP/1.1.
        public static let http11Required = HTTP2ErrorCode(rawValue: 13)

        private static let names = [
            "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
            "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
        ]

        /// The name of the code in RFC 9113, or its number.
        public var description: String {
            rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "\(rawValue)"
        }
    }
}
