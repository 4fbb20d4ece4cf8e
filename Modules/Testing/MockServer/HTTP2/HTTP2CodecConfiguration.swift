internal import NIOHTTP2

/// A test resets and pings as often as it likes: the codec's guards against floods are set far above what tests do.
private let floodLimit = 10_000

extension NIOHTTP2Handler.ConnectionConfiguration {
    /// The codec validates what clients send; what the server sends may have a wrong Content-Length on purpose.
    init(_ options: MockServer.Configuration.HTTP2Options) {
        self.init()
        initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: max(0, options.maximumConcurrentStreams)),
            HTTP2Setting(parameter: .initialWindowSize, value: options.windowSize),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 64 * 1024),
        ]
        contentLengthValidation = .disabled
        targetWindowSize = max(65_535, options.windowSize)
        maximumConnectionGlitches = floodLimit
        controlFrameRateLimit.maximumCount = floodLimit
    }
}

extension NIOHTTP2Handler.StreamConfiguration {
    init(_ options: MockServer.Configuration.HTTP2Options) {
        self.init()
        targetWindowSize = options.windowSize
        streamResetFrameRateLimit.maximumCount = floodLimit
        streamErrorRateLimit.maximumCount = floodLimit
    }
}

extension MockServer.Configuration.HTTP2Options {
    /// The protocol allows no larger window (RFC 9113, 6.9.1).
    fileprivate var windowSize: Int { min(max(1, initialWindowSize), Int(Int32.max)) }
}
