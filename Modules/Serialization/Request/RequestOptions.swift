/// What applies to one request only; a nil means "as the serializer, or else the session, is configured".
public struct RequestOptions: Sendable, Hashable, Codable {
    /// The longest time for the whole request, redirects and retries included.
    public var timeout: Duration?
    /// The longest time without a byte from the server.
    public var idleTimeout: Duration?
    /// The longest time to open a connection.
    public var connectTimeout: Duration?
    /// How a stored response may be used; a session without a cache has none to use.
    public var cachePolicy: CachePolicy?
    /// Whether stored cookies are sent, and those of the response stored; a session without a cookie store has none.
    public var usesCookies: Bool?
    /// Whether a network that costs money, such as a cellular one, may be used. With false, a session that is on such a
    /// network, or has no monitor that could tell, fails the request instead of sending it. The default is true.
    public var allowsExpensiveNetworks: Bool?
    /// A mark of the caller's own, seen by interceptors and observers.
    public var tag: String?

    /// Creates options that leave everything to the serializer and the session.
    public init() {}

    /// These options, with those of `other` where these say nothing.
    public func filled(from other: RequestOptions) -> RequestOptions {
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
