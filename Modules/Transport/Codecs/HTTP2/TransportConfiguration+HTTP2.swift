extension TransportConfiguration {
    /// Settings for HTTP/2 connections (RFC 9113).
    public struct HTTP2: Sendable, Hashable {
        /// Limits on frames that cost a client more than a server. Exceeding one closes the connection with
        /// ENHANCE_YOUR_CALM (RFC 9113, 10.5).
        ///
        /// Frames that belong to a request need no limit of their own, since the client makes the requests: a
        /// RST_STREAM that ends a stream, frames still in transit for a stream that the client has reset, an empty DATA
        /// frame for each one with content. The CONTINUATION frames of a head count against
        /// ``TransportConfiguration/ResponseLimits/headBytes``, each for 64 bytes more than its size.
        public struct Limits: Sendable, Hashable {
            /// The period in which the frames of the next two limits are counted. The default is 30 seconds.
            public var countingWindow: Duration = .seconds(30)
            /// The largest number of frames in ``countingWindow`` that do not belong to a request: PING, SETTINGS,
            /// PRIORITY, unknown ones, additional empty DATA frames, and additional frames on closed streams. The
            /// default is 10,000. Exceeding it is ``TransportError/Code/invalidResponse``.
            public var controlFrames = 10_000
            /// The largest number of streams in ``countingWindow`` with protocol errors. The default is 200. Exceeding
            /// it is ``TransportError/Code/invalidResponse``.
            public var streamErrors = 200
            /// The largest number of frames that wait to be sent because the server causes answers and does not read
            /// them. The default is 10,000. Exceeding it is ``TransportError/Code/invalidResponse``.
            public var waitingControlFrames = 10_000

            /// The defaults.
            public init() {}
        }

        /// The maximum number of bytes of a response body that the server may send ahead of its reader. It bounds the
        /// memory for a slow reader, and the throughput at high latency to one window per round trip. From 65,535 to
        /// 2,147,483,647; the default is 4 MiB. Exceeding it is ``TransportError/Code/invalidResponse``.
        ///
        /// Each response starts with a window of 256 KiB, or this size if it is smaller. The window grows while the
        /// response is read, as far as ``connectionWindowSize`` allows.
        public var initialWindowSize = 4 * 1024 * 1024
        /// The maximum number of bytes of all bodies in transit. They count until they arrive, so that a slow reader
        /// does not block others. From 65,535 to 2,147,483,647; the default is 16 MiB. Exceeding it is
        /// ``TransportError/Code/invalidResponse``.
        ///
        /// This is also the budget of a connection for the windows of its responses beyond the first 256 KiB of each;
        /// the budget of all connections of a transport is four times as large. A window takes at most half of the
        /// rest, so that many slow readers shrink the windows of others but never close them: memory is bounded,
        /// throughput at high latency decreases, and no response waits for another one's reader.
        public var connectionWindowSize = 16 * 1024 * 1024
        /// The maximum size of a frame that the server may send. From 16,384 to 16,777,215; the default is 64 KiB.
        /// Exceeding it is ``TransportError/Code/invalidResponse``.
        public var maximumFrameSize = 64 * 1024
        /// The silence after which a PING is sent while a response is due; nil disables it. The default is 30 seconds.
        public var keepAlivePing: Duration? = .seconds(30)
        /// The longest time in which the server answers a PING and acknowledges the client's SETTINGS (RFC 9113,
        /// 6.5.3). The default is 15 seconds. Beyond it, the connection's requests fail with
        /// ``TransportError/Code/pingTimeout``. A request that fails with ``TransportError/Code/readTimeout`` also
        /// causes a PING, and one that fails with it or with ``TransportError/Code/requestTimeout`` after a second
        /// without any byte of the server retires the connection: later requests use another one.
        public var pingTimeout: Duration = .seconds(15)
        /// The maximum number of HTTP/2 connections to an origin. Another one is opened when the server allows no more
        /// streams on the first. The default is 1. Beyond it, requests wait.
        public var maximumConnectionsPerOrigin = 1
        /// Limits on frames that cost a client more than a server.
        public var limits = Limits()

        /// The defaults.
        public init() {}

        func validate() throws(TransportError) {
            let windows = 65_535...2_147_483_647
            guard windows ~= initialWindowSize, windows ~= connectionWindowSize else {
                throw TransportError(
                    .invalidConfiguration, "The HTTP/2 window sizes must be from 65,535 to 2,147,483,647.")
            }
            guard 16_384...16_777_215 ~= maximumFrameSize else {
                throw TransportError(.invalidConfiguration, "The HTTP/2 frame size must be from 16,384 to 16,777,215.")
            }
            guard maximumConnectionsPerOrigin > 0 else {
                throw TransportError(
                    .invalidConfiguration, "The limit on HTTP/2 connections to an origin must be at least 1.")
            }
            let counts = [limits.controlFrames, limits.streamErrors, limits.waitingControlFrames]
            guard counts.allSatisfy({ $0 > 0 }), limits.countingWindow > .zero, pingTimeout > .zero,
                keepAlivePing.map({ $0 > .zero }) ?? true
            else {
                throw TransportError(.invalidConfiguration, "The HTTP/2 limits and times must be above 0.")
            }
        }

        /// The initial window of a response.
        var firstWindowSize: Int { min(initialWindowSize, 256 * 1024) }
    }
}
