/// What applies to one request only; a nil means "as the serializer, or else the session, is configured".
public struct RequestOptions: Sendable, Hashable {
    private struct Values: Sendable, Hashable, Codable {
        var timeout: Duration?
        var idleTimeout: Duration?
        var connectTimeout: Duration?
        var cachePolicy: CachePolicy?
        var usesCookies: Bool?
        var allowsExpensiveNetworks: Bool?
        var tag: String?
    }

    /// A place apart: most requests have no options, and requests are copied much.
    private indirect enum Box: Sendable, Hashable {
        case values(Values)
    }

    /// Nil when they say nothing.
    private var box: Box?

    private var said: Values? {
        guard case .values(let values) = box else { return nil }
        return values
    }

    private mutating func change(_ change: (inout Values) -> Void) {
        var values = said ?? Values()
        change(&values)
        box = values == Values() ? nil : .values(values)
    }

    /// Creates options that leave everything to the serializer and the session.
    public init() {}

    /// Creates options that a function sets.
    public init(_ configure: (inout RequestOptions) throws -> Void) rethrows {
        try configure(&self)
    }

    /// The longest time for the whole request, redirects and retries included.
    public var timeout: Duration? {
        get { said?.timeout }
        set { change { $0.timeout = newValue } }
    }
    /// The longest time without a byte from the server.
    public var idleTimeout: Duration? {
        get { said?.idleTimeout }
        set { change { $0.idleTimeout = newValue } }
    }
    /// The longest time to open a connection.
    public var connectTimeout: Duration? {
        get { said?.connectTimeout }
        set { change { $0.connectTimeout = newValue } }
    }
    /// How a stored response may be used; a session without a cache has none to use.
    public var cachePolicy: CachePolicy? {
        get { said?.cachePolicy }
        set { change { $0.cachePolicy = newValue } }
    }
    /// Whether stored cookies are sent, and those of the response stored; a session without a cookie store has none.
    public var usesCookies: Bool? {
        get { said?.usesCookies }
        set { change { $0.usesCookies = newValue } }
    }
    /// Whether a network that costs money, such as a cellular one, may be used. The default is that it may. False needs a
    /// session with a reachability monitor, which is asked before each attempt; without one the request fails.
    public var allowsExpensiveNetworks: Bool? {
        get { said?.allowsExpensiveNetworks }
        set { change { $0.allowsExpensiveNetworks = newValue } }
    }
    /// A mark of the caller's own, seen by interceptors and observers.
    public var tag: String? {
        get { said?.tag }
        set { change { $0.tag = newValue } }
    }

    /// These options, with those of `other` where these say nothing.
    public func filled(from other: RequestOptions) -> RequestOptions {
        if other.box == nil { return self }
        if box == nil { return other }
        var options = self
        options.timeout = timeout ?? other.timeout
        options.idleTimeout = idleTimeout ?? other.idleTimeout
        options.connectTimeout = connectTimeout ?? other.connectTimeout
        options.cachePolicy = cachePolicy ?? other.cachePolicy
        options.usesCookies = usesCookies ?? other.usesCookies
        options.allowsExpensiveNetworks = allowsExpensiveNetworks ?? other.allowsExpensiveNetworks
        options.tag = tag ?? other.tag
        return options
    }

    /// How a stored response may be used, in the place of NSURLRequestCachePolicy.
    public struct CachePolicy: Sendable, Hashable, Codable, CustomStringConvertible {
        /// The policy's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// As HTTP says it (RFC 9111).
        public static let protocolDefined = CachePolicy("protocolDefined")
        /// A stored response is never used; the new one may be stored.
        public static let reloadIgnoringCache = CachePolicy("reloadIgnoringCache")
        /// A stored response is used only after the server has confirmed it.
        public static let revalidate = CachePolicy("revalidate")
        /// A stored response is used whatever its age; the server is asked only if there is none.
        public static let cacheElseLoad = CachePolicy("cacheElseLoad")
        /// As `cacheElseLoad`, but the server is never asked: where no response is stored, the request fails.
        public static let cacheOnly = CachePolicy("cacheOnly")
    }
}

extension RequestOptions: Codable {
    /// Reads options; what is missing is left to the serializer and the session.
    public init(from decoder: any Decoder) throws {
        let values = try Values(from: decoder)
        change { $0 = values }
    }

    /// Writes what the options say.
    public func encode(to encoder: any Encoder) throws {
        try (said ?? Values()).encode(to: encoder)
    }
}
