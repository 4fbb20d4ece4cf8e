public import FoundationEssentials
internal import LinnetMessages

/// Settings for one request; nil means the setting of the serializer or else of the session. A time limit of
/// `.seconds(Int64.max)` never passes, also in a session that has one.
public struct RequestOptions: Sendable, Hashable {
    private struct Values: Sendable, Hashable {
        var timeout: Duration?
        var idleTimeout: Duration?
        var connectTimeout: Duration?
        var cachePolicy: CachePolicy?
        var usesCookies: Bool?
        var mainDocument: URL?
        var isTopLevelNavigation: Bool?
        var allowsExpensiveNetworks: Bool?
        var waitsForConnectivity: Bool?
        var continuePolicy: ContinuePolicy?
        var sendsIdempotencyKey: Bool?
        var tag: String?
        var template: String?
    }

    /// Boxed, since most requests have no options, and requests are copied often.
    private indirect enum Box: Sendable, Hashable {
        case values(Values)
    }

    /// Nil if no option is set.
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

    /// Creates options that set nothing.
    public init() {}

    /// Creates options that a function sets.
    public init(_ configure: (inout RequestOptions) throws -> Void) rethrows {
        try configure(&self)
    }

    /// The time limit for the whole request, including redirects and retries. The default is nil: the timeout of the
    /// session. Exceeding it is `timeout`.
    public var timeout: Duration? {
        get { said?.timeout }
        set { change { $0.timeout = newValue } }
    }
    /// The time limit without a byte from the server. The default is nil: the timeout of the session. Exceeding it is
    /// `timeout`.
    public var idleTimeout: Duration? {
        get { said?.idleTimeout }
        set { change { $0.idleTimeout = newValue } }
    }
    /// The time limit for opening a connection. The default is nil: the timeout of the session. Exceeding it is
    /// `timeout`.
    public var connectTimeout: Duration? {
        get { said?.connectTimeout }
        set { change { $0.connectTimeout = newValue } }
    }
    /// How stored responses may be used; without effect in a session without a cache.
    public var cachePolicy: CachePolicy? {
        get { said?.cachePolicy }
        set { change { $0.cachePolicy = newValue } }
    }
    /// Whether stored cookies are sent, and cookies of the response are stored. The default is true; without effect in
    /// a session without a cookie jar.
    public var usesCookies: Bool? {
        get { said?.usesCookies }
        set { change { $0.usesCookies = newValue } }
    }
    /// The URL of the document that the user sees, for programs that show pages; nil, the default, for a request of the
    /// program itself. It decides about SameSite cookies and third-party cookies (`CookieContext`), and is not sent. It
    /// corresponds to `NSURLRequest.mainDocumentURL`, and has no effect in a session without a cookie jar.
    public var mainDocument: URL? {
        get { said?.mainDocument }
        set { change { $0.mainDocument = newValue } }
    }
    /// Whether the response replaces the ``mainDocument``; the default is false. A page that follows a link to another
    /// site has the cookies of that site then, unless they are `SameSite=Strict`.
    public var isTopLevelNavigation: Bool? {
        get { said?.isTopLevelNavigation }
        set { change { $0.isTopLevelNavigation = newValue } }
    }
    /// Whether expensive networks, such as cellular ones, may be used; the default is true. False requires a session
    /// with a reachability monitor, which is checked before each attempt; without one, the request fails.
    public var allowsExpensiveNetworks: Bool? {
        get { said?.allowsExpensiveNetworks }
        set { change { $0.allowsExpensiveNetworks = newValue } }
    }
    /// Whether the request waits when it cannot be sent because this machine has no network. Nil, the default, leaves
    /// that to the session's configuration; true requires a session with a reachability monitor.
    public var waitsForConnectivity: Bool? {
        get { said?.waitsForConnectivity }
        set { change { $0.waitsForConnectivity = newValue } }
    }
    /// Whether the request asks for the server's consent before its body is sent. Nil, the default, leaves that to the
    /// session's configuration.
    public var continuePolicy: ContinuePolicy? {
        get { said?.continuePolicy }
        set { change { $0.continuePolicy = newValue } }
    }
    /// Whether the request has an Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): a UUID that is the same
    /// in all attempts of a request, by which the server performs it once. The default is false.
    ///
    /// A request with a key is retried whatever its method, so use this with servers that are known to check the key. A
    /// key of your own in the header fields is kept, and has the same effect.
    public var sendsIdempotencyKey: Bool? {
        get { said?.sendsIdempotencyKey }
        set { change { $0.sendsIdempotencyKey = newValue } }
    }
    /// A label of your own for interceptors and observers.
    public var tag: String? {
        get { said?.tag }
        set { change { $0.tag = newValue } }
    }
    /// The template of the URL's path, such as `/users/{id}`, for metrics and traces (`url.template` of OpenTelemetry's
    /// conventions). It must not contain identifiers: a backend keeps a series for each value. `HTTPCall.path(_:)` sets
    /// it.
    public var template: String? {
        get { said?.template }
        set { change { $0.template = newValue } }
    }

    /// Returns these options, with values of `other` in place of nil.
    package func filled(from other: RequestOptions) -> RequestOptions {
        if other.box == nil { return self }
        if box == nil { return other }
        var options = self
        options.timeout = timeout ?? other.timeout
        options.idleTimeout = idleTimeout ?? other.idleTimeout
        options.connectTimeout = connectTimeout ?? other.connectTimeout
        options.cachePolicy = cachePolicy ?? other.cachePolicy
        options.usesCookies = usesCookies ?? other.usesCookies
        options.mainDocument = mainDocument ?? other.mainDocument
        options.isTopLevelNavigation = isTopLevelNavigation ?? other.isTopLevelNavigation
        options.allowsExpensiveNetworks = allowsExpensiveNetworks ?? other.allowsExpensiveNetworks
        options.waitsForConnectivity = waitsForConnectivity ?? other.waitsForConnectivity
        options.continuePolicy = continuePolicy ?? other.continuePolicy
        options.sendsIdempotencyKey = sendsIdempotencyKey ?? other.sendsIdempotencyKey
        options.tag = tag ?? other.tag
        options.template = template ?? other.template
        return options
    }

    /// How stored responses may be used; the counterpart of NSURLRequestCachePolicy.
    public struct CachePolicy: Sendable, Hashable, Codable, CustomStringConvertible {
        /// The policy's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The rules of HTTP (RFC 9111).
        public static let protocolDefined = CachePolicy("protocolDefined")
        /// Stored responses are not used; the new one may be stored.
        public static let reloadIgnoringCache = CachePolicy("reloadIgnoringCache")
        /// Stored responses are not used, neither here nor by caches on the way, which `Cache-Control: no-cache` tells
        /// so; the new response may be stored.
        public static let reloadIgnoringAllCaches = CachePolicy("reloadIgnoringAllCaches")
        /// A stored response is used only after the server confirms it, here and in the caches on the way, by
        /// `Cache-Control: max-age=0` (RFC 9111, section 5.2.1.1).
        public static let revalidate = CachePolicy("revalidate")
        /// A stored response is used, whatever its age. Without one, the request is sent.
        public static let cacheElseLoad = CachePolicy("cacheElseLoad")
        /// A stored response is used, whatever its age. Without one, the request fails.
        public static let cacheOnly = CachePolicy("cacheOnly")
    }
}

/// Coded as an object with the options that are set; time limits are numbers of seconds.
extension RequestOptions: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case timeout, idleTimeout, connectTimeout, cachePolicy, usesCookies, mainDocument, isTopLevelNavigation,
            allowsExpensiveNetworks, waitsForConnectivity, continuePolicy, sendsIdempotencyKey, tag, template
    }

    /// Decodes options; missing ones are nil. An unknown key is an error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
        timeout = try container.seconds(.timeout)
        idleTimeout = try container.seconds(.idleTimeout)
        connectTimeout = try container.seconds(.connectTimeout)
        cachePolicy = try container.decodeIfPresent(CachePolicy.self, forKey: .cachePolicy)
        usesCookies = try container.decodeIfPresent(Bool.self, forKey: .usesCookies)
        mainDocument = try container.decodeIfPresent(URL.self, forKey: .mainDocument)
        isTopLevelNavigation = try container.decodeIfPresent(Bool.self, forKey: .isTopLevelNavigation)
        allowsExpensiveNetworks = try container.decodeIfPresent(Bool.self, forKey: .allowsExpensiveNetworks)
        waitsForConnectivity = try container.decodeIfPresent(Bool.self, forKey: .waitsForConnectivity)
        continuePolicy = try container.decodeIfPresent(ContinuePolicy.self, forKey: .continuePolicy)
        sendsIdempotencyKey = try container.decodeIfPresent(Bool.self, forKey: .sendsIdempotencyKey)
        tag = try container.decodeIfPresent(String.self, forKey: .tag)
        template = try container.decodeIfPresent(String.self, forKey: .template)
    }

    /// Encodes the options that are set.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(timeout?.codedSeconds, forKey: .timeout)
        try container.encodeIfPresent(idleTimeout?.codedSeconds, forKey: .idleTimeout)
        try container.encodeIfPresent(connectTimeout?.codedSeconds, forKey: .connectTimeout)
        try container.encodeIfPresent(cachePolicy, forKey: .cachePolicy)
        try container.encodeIfPresent(usesCookies, forKey: .usesCookies)
        try container.encodeIfPresent(mainDocument, forKey: .mainDocument)
        try container.encodeIfPresent(isTopLevelNavigation, forKey: .isTopLevelNavigation)
        try container.encodeIfPresent(allowsExpensiveNetworks, forKey: .allowsExpensiveNetworks)
        try container.encodeIfPresent(waitsForConnectivity, forKey: .waitsForConnectivity)
        try container.encodeIfPresent(continuePolicy, forKey: .continuePolicy)
        try container.encodeIfPresent(sendsIdempotencyKey, forKey: .sendsIdempotencyKey)
        try container.encodeIfPresent(tag, forKey: .tag)
        try container.encodeIfPresent(template, forKey: .template)
    }
}
