extension MockServer.Configuration {
    /// Which versions of HTTP a server speaks.
    public enum HTTPVersions: Sendable, Hashable {
        /// HTTP/1.1 alone; over TLS, ALPN offers `http/1.1`.
        case http1
        /// HTTP/2 alone; over TLS, ALPN offers `h2`, and plain connections begin with HTTP/2 at once (prior knowledge;
        /// RFC 9113, 3.3).
        case http2
        /// Both: over TLS, ALPN prefers `h2` to `http/1.1`; a plain connection is HTTP/2 when it begins with that
        /// version's preface (RFC 9113, 3.4).
        case both

        var applicationProtocols: [String] {
            switch self {
            case .http1: ["http/1.1"]
            case .http2: ["h2"]
            case .both: ["h2", "http/1.1"]
            }
        }
    }

    /// What a server announces, and does on purpose, over HTTP/2.
    public struct HTTP2Options: Sendable, Hashable {
        /// How many streams a client may have open at a time (SETTINGS_MAX_CONCURRENT_STREAMS).
        ///
        /// The default is 100. A client that goes on opening more once it has acknowledged the setting loses the
        /// connection.
        public var maximumConcurrentStreams = 100
        /// How many bytes of a request's body may be on their way unread (SETTINGS_INITIAL_WINDOW_SIZE).
        ///
        /// The default is 65,535, the protocol's.
        public var initialWindowSize = 65_535
        /// When the server says that it takes no more requests on a connection.
        ///
        /// The default is nil: never.
        public var goAway: GoAway?
        /// What becomes of streams that a client opens after GOAWAY was sent, before it has read it.
        ///
        /// The default is ``LateStreams/refused``.
        public var lateStreams = LateStreams.refused
        /// The numbers of those streams on each connection, counted from 0, that are refused with REFUSED_STREAM.
        ///
        /// Refused requests are not recorded, and no handler sees them. The default is none.
        public var refusedStreams: Set<Int> = []

        /// The defaults.
        public init() {}
    }

    /// Says when GOAWAY is sent (RFC 9113, 6.8).
    public struct GoAway: Sendable, Hashable {
        /// How many requests a connection serves.
        public var requests: Int
        /// The code in the frame.
        public var errorCode: MockServer.HTTP2ErrorCode

        /// GOAWAY is sent when the last of this many requests arrives, with that request's stream as the last one; when
        /// it and those before it are answered, the connection is closed.
        ///
        /// Less than one counts as one.
        public static func after(_ requests: Int, errorCode: MockServer.HTTP2ErrorCode = .noError) -> GoAway {
            GoAway(requests: max(1, requests), errorCode: errorCode)
        }
    }

    /// What becomes of streams above the last one that GOAWAY names.
    public enum LateStreams: Sendable, Hashable {
        /// They are reset with REFUSED_STREAM.
        case refused
        /// They are not answered at all, as RFC 9113, 6.8 allows.
        case ignored
    }
}

extension MockServer {
    /// A stream that a client has reset.
    public struct StreamReset: Sendable, Hashable {
        /// The connection's number, counted from 0.
        public var connectionIndex: Int
        /// The stream.
        public var streamID: Int
        /// The client's reason.
        public var errorCode: HTTP2ErrorCode

        /// Makes the record of a reset.
        public init(connectionIndex: Int, streamID: Int, errorCode: HTTP2ErrorCode) {
            self.connectionIndex = connectionIndex
            self.streamID = streamID
            self.errorCode = errorCode
        }
    }

    /// The streams that clients have reset so far (RST_STREAM), in the order of arrival.
    public var streamResets: [StreamReset] { log.resets }
}
