internal import LinnetMessages
public import LinnetTransport

/// Coded as an object with the names of the properties; durations are numbers of seconds, and null for a ping that is
/// disabled. Missing keys have the defaults; unknown keys are an error.
extension TransportConfiguration.HTTP2: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case initialWindowSize, connectionWindowSize, maximumFrameSize, keepAlivePing, pingTimeout
        case maximumConnectionsPerOrigin, limits
    }

    /// Decodes options.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        func number(_ key: CodingKeys) throws -> Int? { try container.decodeIfPresent(Int.self, forKey: key) }
        initialWindowSize = try number(.initialWindowSize) ?? initialWindowSize
        connectionWindowSize = try number(.connectionWindowSize) ?? connectionWindowSize
        maximumFrameSize = try number(.maximumFrameSize) ?? maximumFrameSize
        keepAlivePing = try container.seconds(.keepAlivePing, default: keepAlivePing)
        pingTimeout = try container.seconds(.pingTimeout) ?? pingTimeout
        maximumConnectionsPerOrigin = try number(.maximumConnectionsPerOrigin) ?? maximumConnectionsPerOrigin
        limits = try container.decodeIfPresent(Limits.self, forKey: .limits) ?? limits
    }

    /// Encodes the options.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(initialWindowSize, forKey: .initialWindowSize)
        try container.encode(connectionWindowSize, forKey: .connectionWindowSize)
        try container.encode(maximumFrameSize, forKey: .maximumFrameSize)
        try container.encode(seconds: keepAlivePing, forKey: .keepAlivePing)
        try container.encode(seconds: pingTimeout, forKey: .pingTimeout)
        try container.encode(maximumConnectionsPerOrigin, forKey: .maximumConnectionsPerOrigin)
        try container.encode(limits, forKey: .limits)
    }
}

/// Coded as an object with the names of the properties; the window is a number of seconds. Missing keys have the
/// defaults; unknown keys are an error.
extension TransportConfiguration.HTTP2.Limits: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case countingWindow, controlFrames, streamErrors, waitingControlFrames
    }

    /// Decodes limits.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        countingWindow = try container.seconds(.countingWindow) ?? countingWindow
        controlFrames = try container.decodeIfPresent(Int.self, forKey: .controlFrames) ?? controlFrames
        streamErrors = try container.decodeIfPresent(Int.self, forKey: .streamErrors) ?? streamErrors
        waitingControlFrames =
            try container.decodeIfPresent(Int.self, forKey: .waitingControlFrames) ?? waitingControlFrames
    }

    /// Encodes the limits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(seconds: countingWindow, forKey: .countingWindow)
        try container.encode(controlFrames, forKey: .controlFrames)
        try container.encode(streamErrors, forKey: .streamErrors)
        try container.encode(waitingControlFrames, forKey: .waitingControlFrames)
    }
}
