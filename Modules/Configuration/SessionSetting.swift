#if Configuration
internal import Configuration
internal import LinnetJSON

/// A setting of a session that a configuration can have: the place in the settings' JSON, which is also the key.
struct SessionSetting: Sendable {
    enum Kind: Sendable {
        case text, integer, number, flag, texts, integers
        /// A number of seconds, or `none`.
        case seconds
        /// The path of a file with JSON.
        case file
    }

    let path: [String]
    let kind: Kind

    init(_ path: String, _ kind: Kind) {
        self.path = path.split(separator: ".").map(String.init)
        self.kind = kind
    }

    var key: ConfigKey { ConfigKey(path) }

    static let all: [SessionSetting] = [
        SessionSetting("identifier", .text),
        SessionSetting("baseURL", .text),
        SessionSetting("collapsesEqualRequests", .flag),
        SessionSetting("connectivityTimeout", .seconds),
        SessionSetting("continueTimeout", .seconds),
        SessionSetting("decodingLimits.maximumCodings", .integer),
        SessionSetting("decodingLimits.maximumRatio", .integer),
        SessionSetting("decodingLimits.maximumSize", .integer),
        SessionSetting("eventLoops.dedicated", .integer),
        SessionSetting("hedging.delay", .number),
        SessionSetting("hedging.maximumAttempts", .integer),
        SessionSetting("http2.connectionWindowSize", .integer),
        SessionSetting("http2.initialWindowSize", .integer),
        SessionSetting("http2.keepAlivePing", .seconds),
        SessionSetting("http2.maximumConnectionsPerOrigin", .integer),
        SessionSetting("http2.maximumFrameSize", .integer),
        SessionSetting("http2.pingTimeout", .seconds),
        SessionSetting("httpVersions", .text),
        SessionSetting("isCacheShared", .flag),
        SessionSetting("maximumBodySize", .integer),
        SessionSetting("pool.connections", .integer),
        SessionSetting("pool.connectionsPerOrigin", .integer),
        SessionSetting("pool.idleTimeout", .number),
        SessionSetting("pool.maximumAge", .seconds),
        SessionSetting("progressInterval", .number),
        SessionSetting("proxies", .text),
        SessionSetting("proxies.except", .texts),
        SessionSetting("proxies.http", .text),
        SessionSetting("proxies.https", .text),
        SessionSetting("redirectPolicy.limit", .integer),
        SessionSetting("redirectPolicy.staysAtOrigin", .flag),
        SessionSetting("resolution.cacheLifetime", .number),
        SessionSetting("resolution.localAddress", .text),
        SessionSetting("resolution.networkInterface", .text),
        SessionSetting("responseLimits.headBytes", .integer),
        SessionSetting("responseLimits.headFields", .integer),
        SessionSetting("retryBudget.minimumPerSecond", .integer),
        SessionSetting("retryBudget.share", .number),
        SessionSetting("retryPolicy.limit", .integer),
        SessionSetting("retryPolicy.maximumRetryAfter", .seconds),
        SessionSetting("retryPolicy.methods", .texts),
        SessionSetting("retryPolicy.statusCodes", .integers),
        SessionSetting("retryPolicy.backoff.factor", .number),
        SessionSetting("retryPolicy.backoff.first", .number),
        SessionSetting("retryPolicy.backoff.jitter", .number),
        SessionSetting("retryPolicy.backoff.maximum", .number),
        SessionSetting("securityPolicy", .file),
        SessionSetting("timeouts.connect", .seconds),
        SessionSetting("timeouts.idleRead", .seconds),
        SessionSetting("timeouts.idleWrite", .seconds),
        SessionSetting("timeouts.poolWait", .seconds),
        SessionSetting("timeouts.request", .seconds),
        SessionSetting("timeouts.tlsHandshake", .seconds),
        SessionSetting("tls.cipherList", .text),
        SessionSetting("tls.cipherSuites", .text),
        SessionSetting("tls.groups", .text),
        SessionSetting("tls.maximumVersion", .text),
        SessionSetting("tls.minimumVersion", .text),
        SessionSetting("tls.sessionResumption", .flag),
        SessionSetting("tls.signatureAlgorithms", .text),
        SessionSetting("waitsForConnectivity", .flag),
    ]
}

extension ConfigReader {
    /// The value of a setting; nil if the configuration does not have it.
    ///
    /// - Throws: ``InvalidSetting``.
    func value(of setting: SessionSetting) throws(InvalidSetting) -> JSONValue? {
        let key = setting.key
        let value: JSONValue? =
            switch setting.kind {
            case .text, .file: string(forKey: key).map { .string($0) }
            case .integer: int(forKey: key).map { .number(JSONNumber($0)) }
            case .number: number(forKey: key)
            case .seconds: number(forKey: key) ?? noLimit(forKey: key)
            case .flag: bool(forKey: key).map { .bool($0) }
            case .texts: stringArray(forKey: key).map { .array($0.map { .string($0) }) }
            case .integers: intArray(forKey: key).map { .array($0.map { .number(JSONNumber($0)) }) }
            }
        // The reader returns nil for a value of another type as well.
        guard value != nil || !hasValue(forKey: key) else {
            throw InvalidSetting(key: "\(key)", expected: setting.kind.description)
        }
        return value
    }

    private func number(forKey key: ConfigKey) -> JSONValue? {
        (double(forKey: key) ?? int(forKey: key).map(Double.init)).flatMap { JSONNumber($0) }.map { .number($0) }
    }

    private func noLimit(forKey key: ConfigKey) -> JSONValue? {
        // A literal nil would be JSON's null.
        string(forKey: key) == "none" ? Optional.some(.null) : Optional.none
    }

    private func hasValue(forKey key: ConfigKey) -> Bool {
        string(forKey: key) != nil || int(forKey: key) != nil || double(forKey: key) != nil
            || bool(forKey: key) != nil || stringArray(forKey: key) != nil || intArray(forKey: key) != nil
    }
}

/// A value that is not of its setting's kind.
struct InvalidSetting: Error {
    let key: String
    let expected: String
}

extension SessionSetting.Kind: CustomStringConvertible {
    var description: String {
        switch self {
        case .text: "a text"
        case .integer: "an integer"
        case .number: "a number"
        case .seconds: "a number of seconds, or none"
        case .flag: "true or false"
        case .texts: "a list of texts"
        case .integers: "a list of integers"
        case .file: "the path of a file"
        }
    }
}
#endif
