internal import LinnetMessages
public import LinnetTransport

// The coded form of the values of a transport's configuration, for an app's configuration file. Durations are numbers
// of seconds, and null where there is no limit. Missing keys have the defaults; unknown keys are an error.

/// Coded as an object with the names of the properties; durations are numbers of seconds, and null for none. Missing
/// keys have the values of `default`.
extension TransportTimeouts: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case poolWait, connect, tlsHandshake, idleRead, idleWrite, request
    }

    /// Decodes timeouts.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        self = .default
        poolWait = try container.seconds(.poolWait, default: poolWait)
        connect = try container.seconds(.connect, default: connect)
        tlsHandshake = try container.seconds(.tlsHandshake, default: tlsHandshake)
        idleRead = try container.seconds(.idleRead, default: idleRead)
        idleWrite = try container.seconds(.idleWrite, default: idleWrite)
        request = try container.seconds(.request, default: request)
    }

    /// Encodes the timeouts.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(seconds: poolWait, forKey: .poolWait)
        try container.encode(seconds: connect, forKey: .connect)
        try container.encode(seconds: tlsHandshake, forKey: .tlsHandshake)
        try container.encode(seconds: idleRead, forKey: .idleRead)
        try container.encode(seconds: idleWrite, forKey: .idleWrite)
        try container.encode(seconds: request, forKey: .request)
    }
}

/// Coded as an object with the names of the properties. Missing keys have the defaults; unknown keys are an error.
extension TransportConfiguration.ResponseLimits: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case headBytes, headFields }

    /// Decodes limits.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        headBytes = try container.decodeIfPresent(Int.self, forKey: .headBytes) ?? headBytes
        headFields = try container.decodeIfPresent(Int.self, forKey: .headFields) ?? headFields
    }

    /// Encodes the limits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(headBytes, forKey: .headBytes)
        try container.encode(headFields, forKey: .headFields)
    }
}

/// Coded as an object with the names of the properties; durations are numbers of seconds, and `maximumAge` null for
/// none. Missing keys have the defaults; unknown keys are an error.
extension TransportConfiguration.PoolLimits: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case connectionsPerOrigin, connections, idleTimeout, maximumAge
    }

    /// Decodes limits.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        if container.contains(.connectionsPerOrigin) {
            connectionsPerOrigin = try container.decode(Int.self, forKey: .connectionsPerOrigin)
        }
        if container.contains(.connections) { connections = try container.decode(Int.self, forKey: .connections) }
        idleTimeout = try container.seconds(.idleTimeout) ?? idleTimeout
        maximumAge = try container.seconds(.maximumAge)
    }

    /// Encodes the limits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(connectionsPerOrigin, forKey: .connectionsPerOrigin)
        try container.encode(connections, forKey: .connections)
        try container.encode(seconds: idleTimeout, forKey: .idleTimeout)
        try container.encode(seconds: maximumAge, forKey: .maximumAge)
    }
}

/// Coded as one of the names `automatic`, `http1` and `http2`.
extension HTTPVersions: Codable {
    private enum Name: String, Codable { case automatic, http1, http2 }

    /// Decodes a name.
    public init(from decoder: any Decoder) throws {
        self =
            switch try decoder.singleValueContainer().decode(Name.self) {
            case .automatic: .automatic
            case .http1: .http1
            case .http2: .http2
            }
    }

    /// Encodes the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .automatic: try container.encode(Name.automatic)
        case .http1: try container.encode(Name.http1)
        case .http2: try container.encode(Name.http2)
        }
    }
}

/// Coded as an object with the names of the properties; the lifetime is a number of seconds. Missing keys have the
/// defaults; unknown keys are an error.
extension TransportConfiguration.Resolution: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case hostOverrides, unixSockets, localAddress, networkInterface, cacheLifetime
    }

    /// Decodes options.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        hostOverrides =
            try container.decodeIfPresent([String: [String]].self, forKey: .hostOverrides) ?? hostOverrides
        unixSockets = try container.decodeIfPresent([String: String].self, forKey: .unixSockets) ?? unixSockets
        localAddress = try container.decodeIfPresent(String.self, forKey: .localAddress)
        networkInterface = try container.decodeIfPresent(String.self, forKey: .networkInterface)
        cacheLifetime = try container.seconds(.cacheLifetime) ?? cacheLifetime
    }

    /// Encodes the options.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(hostOverrides, forKey: .hostOverrides)
        try container.encode(unixSockets, forKey: .unixSockets)
        try container.encodeIfPresent(localAddress, forKey: .localAddress)
        try container.encodeIfPresent(networkInterface, forKey: .networkInterface)
        try container.encode(seconds: cacheLifetime, forKey: .cacheLifetime)
    }
}
