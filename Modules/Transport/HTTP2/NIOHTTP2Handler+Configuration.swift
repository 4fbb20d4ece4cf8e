internal import NIOCore
internal import NIOHTTP2

extension NIOHTTP2Handler {
    /// A client's side of the framing: frames above, bytes below. ``HTTP2Connection`` gives each stream its frames; a
    /// channel for each stream, as NIO's own multiplexer makes one, would cost more than the rest of a small request.
    static func client(_ configuration: TransportConfiguration) -> NIOHTTP2Handler {
        let options = configuration.http2
        var connection = ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .enablePush, value: 0),
            HTTP2Setting(parameter: .initialWindowSize, value: options.initialWindowSize),
            HTTP2Setting(parameter: .maxFrameSize, value: options.maximumFrameSize),
            HTTP2Setting(parameter: .maxHeaderListSize, value: configuration.limits.headerListSize),
        ]
        connection.headerBlockValidation = .enabled
        connection.contentLengthValidation = .enabled
        connection.maximumSequentialEmptyDataFrames = options.limits.emptyDataFrames
        connection.maximumBufferedControlFrames = options.limits.waitingControlFrames
        connection.maximumSequentialContinuationFrames = options.limits.continuationFrames
        // What a server sends on a stream that we have just reset is no error. It may be sending on all of them.
        connection.maximumRecentlyResetStreams = 1_000
        connection.maximumConnectionGlitches = options.limits.streamErrors
        connection.targetWindowSize = options.connectionWindowSize
        connection.controlFrameRateLimit.maximumCount = options.limits.controlFrames
        connection.controlFrameRateLimit.windowLength = TimeAmount(options.limits.countingWindow)
        var stream = StreamConfiguration()
        stream.targetWindowSize = options.initialWindowSize
        stream.streamResetFrameRateLimit.maximumCount = options.limits.resets
        stream.streamResetFrameRateLimit.windowLength = TimeAmount(options.limits.countingWindow)
        stream.streamErrorRateLimit.maximumCount = options.limits.streamErrors
        stream.streamErrorRateLimit.windowLength = TimeAmount(options.limits.countingWindow)
        return NIOHTTP2Handler(mode: .client, connectionConfiguration: connection, streamConfiguration: stream)
    }
}

extension TransportConfiguration.ResponseLimits {
    /// What a server is told. More than `headBytes`: a head between the two ends its stream, since it could be decoded,
    /// where one above the higher ends the connection.
    var headerListSize: Int {
        let (sum, overflow) = headBytes.addingReportingOverflow(64 * 1024)
        return overflow ? Int(Int32.max) : min(sum, Int(Int32.max))
    }
}
