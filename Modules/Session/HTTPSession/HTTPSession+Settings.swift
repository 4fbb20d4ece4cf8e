public import FoundationEssentials
public import LinnetSecurity
public import LinnetSerialization

extension HTTPSession {
    /// The serializable part of a session's configuration, such as for an app's configuration file.
    ///
    /// ```swift
    /// let settings = try JSONDecoder().decode(HTTPSession.Settings.self, from: data)
    /// let client = try HTTPSession(settings: settings) { $0.hooks = hooks }
    /// ```
    /// It excludes values that cannot be serialized: closures, interceptors, hooks, executors, loggers, reachability, event
    /// loops, policies that were not made from a document; and secrets: credentials, client identities. Note that the header
    /// fields of a request serializer may hold a password or a token.
    public struct Settings: Sendable, Codable {
        /// Identifies the settings among several; the session does not use it.
        public var identifier: String?
        /// The base that relative URLs are resolved against.
        public var baseURL: URL?
        /// How parameters are written. The default is `.form`.
        public var requestSerializer = RequestSerializerSetting.form(FormRequestSerializer())
        /// How responses are read where no type and no serializer is asked for.
        public var responseSerializer = JSONResponseSerializer()
        /// The security policy; nil for the system's trust store.
        public var securityPolicy: SecurityPolicyDocument?
        /// The maximum number of redirects. The default is 20.
        public var redirectLimit = RedirectPolicy.follow.limit
        /// The maximum number of retries; see ``RetryPolicy/limited(to:)``. The default is 0.
        public var retryLimit = 0
        /// The maximum number of HTTP/1.1 connections to one origin. The default is 8.
        public var maximumConnectionsPerOrigin = 8

        /// The defaults.
        public init() {}
    }

    /// A serializable choice of a request serializer.
    public enum RequestSerializerSetting: Sendable, Hashable, Codable {
        /// A form or a query.
        case form(FormRequestSerializer)
        /// JSON.
        case json(JSONRequestSerializer)
        /// A property list.
        case propertyList(PropertyListRequestSerializer)

        /// The serializer.
        public var serializer: any RequestSerializer {
            switch self {
            case .form(let serializer): serializer
            case .json(let serializer): serializer
            case .propertyList(let serializer): serializer
            }
        }
    }

    /// Makes a session over sockets from settings, and from what a function adds to them.
    ///
    /// Throws as ``init(baseURL:_:)`` does, and ``SessionError/Code/invalidConfiguration`` for an invalid security policy;
    /// paths in it are relative to the working directory.
    public convenience init(
        settings: Settings, _ configure: (inout Configuration) throws -> Void = { _ in }
    ) throws(SessionError) {
        var configuration = try Configuration(settings)
        do {
            try configure(&configuration)
        } catch {
            throw SessionError(configuring: error)
        }
        try self.init(baseURL: settings.baseURL, configuration: configuration)
    }
}

extension HTTPSession.Configuration {
    /// The defaults, changed by settings.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` for an invalid security policy.
    public init(_ settings: HTTPSession.Settings) throws(SessionError) {
        self.init()
        requestSerializer = settings.requestSerializer.serializer
        responseSerializer = settings.responseSerializer
        redirectPolicy = .follow(limit: settings.redirectLimit)
        retryPolicy = .limited(to: settings.retryLimit)
        maximumConnectionsPerOrigin = settings.maximumConnectionsPerOrigin
        guard let document = settings.securityPolicy else { return }
        do throws(SecurityError) {
            securityPolicy = try SecurityPolicyFile(document).makePolicy()
        } catch {
            throw SessionError(.invalidConfiguration, error.message, underlying: error)
        }
    }
}
