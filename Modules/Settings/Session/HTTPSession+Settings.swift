public import FoundationEssentials
internal import LinnetMessages
public import LinnetSession

extension HTTPSession {
    /// The storable part of a session's configuration as JSON, for example for an app's configuration file.
    ///
    /// ```swift
    /// let data = try HTTPSession.Settings(api).json()
    /// let same = try HTTPSession(settings: HTTPSession.Settings(json: data)) { $0.hooks = hooks }
    /// ```
    /// ```json
    /// {
    ///   "baseURL": "https://api.example.com/v1/",
    ///   "pool": {"connectionsPerOrigin": 4},
    ///   "requestSerializer": { "json": {} },
    ///   "retryPolicy": { "limit": 2 },
    ///   "securityPolicy": { "version": 1, "rules": [{ "hosts": ["**.example.com"], "pins": ["sha256/…"] }] },
    ///   "timeouts": { "request": 30, "idleRead": null }
    /// }
    /// ```
    /// The keys are the names of the properties of `HTTPSession.Configuration`. Durations are numbers of seconds, and
    /// null where there is no limit. The security policy is a `SecurityPolicyDocument`, and the request serializer an
    /// object with one of the keys `form`, `json` and `propertyList`. Default values are omitted, so that they follow
    /// the defaults of later releases; the default header fields of a serializer depend on the program and its
    /// environment.
    ///
    /// Decoding is strict: unknown and repeated keys are errors, and so are values of another type, and more than 1,000
    /// header fields. Only the settings of serializers ignore unknown keys.
    ///
    /// The settings omit:
    /// - closures and the program's own types: `contentCodings`, `hooks`, `sessionHooks`, `interceptors`, `retriers`,
    ///   `requestAdapters`, and `encoder` and `decoder`, whose strategies may be closures;
    /// - objects of the process: `cacheStore`, `callbackExecutor`, `circuitBreaker`, `clock`, `concurrencyLimiter`,
    ///   `hstsStore`, `instruments`, `logger` with its `redaction`, `reachabilityMonitor`, the policy's reporter, and
    ///   event loops that are a group;
    /// - secrets: `clientIdentities`, the user names and the passwords in `proxies`, `authenticator`, `requestSigner`,
    ///   `credentialStore`, `cookieJar`, the user name and the password in the base URL, `tls.keyLog`, and header
    ///   fields, of the configuration and of the request serializer, that `Redaction.standard` or the configuration's
    ///   `redaction` hides, among them Authorization, Cookie and Proxy-Authorization.
    ///
    /// Add them with the function of `HTTPSession.init(settings:_:)`. A value that cannot be stored is an error
    /// instead, if a session without it would send or trust something else.
    public struct Settings: Sendable {
        /// Identifies the settings for the program; the session does not use it.
        public var identifier: String?
        /// The base that relative URLs are resolved against.
        public let baseURL: URL?
        /// The configuration, with defaults for all values that cannot be stored.
        public let configuration: Configuration

        /// Creates settings with a whole configuration.
        init(identifier: String? = nil, baseURL: URL?, whole configuration: Configuration) {
            self.identifier = identifier
            self.baseURL = baseURL
            self.configuration = configuration
        }

        /// Creates settings with the storable part of a configuration.
        ///
        /// - Throws: `SessionError.Code.invalidConfiguration` for a custom request serializer, or one with a body or
        ///   a closure; for a function that chooses proxies, or a proxy with a security policy of its own; for a
        ///   security policy with a closure or a custom evaluator; for the hook `SessionHooks.didReceiveServerTrust`,
        ///   which decides on trust; and for a configuration with more than two mebibytes of JSON.
        public init(_ configuration: Configuration = Configuration(), baseURL: URL? = nil) throws(SessionError) {
            guard configuration.sessionHooks.didReceiveServerTrust == nil else {
                throw SessionError(
                    .invalidConfiguration,
                    "The hook didReceiveServerTrust decides on trust and cannot be stored; set it to nil first, and add it "
                        + "where a session is made from the settings.")
            }
            // Writing and reading leaves exactly the contents of a file.
            self = try Self(json: Self(baseURL: baseURL, whole: configuration).json())
        }

        /// Creates settings with the storable part of a session: its base URL and its current
        /// `HTTPSession.configuration`.
        ///
        /// A session over a custom transport does not use the settings for connections, TLS and trust; a session from
        /// the settings does.
        ///
        /// - Throws: The errors of ``init(_:baseURL:)``.
        public init(_ session: HTTPSession) throws(SessionError) {
            try self.init(session.configuration, baseURL: session.baseURL)
        }

        /// Reads JSON in UTF-8 of at most two mebibytes, and the files named in its security policy, whose paths are
        /// relative to the working directory.
        ///
        /// - Throws: `SessionError.Code.invalidConfiguration` with the line and the location of the mistake in
        ///   `SessionError.message`.
        public init(json: Data) throws(SessionError) {
            self = try SettingsText.read(json)
        }

        /// The settings in JSON, with sorted keys and without default values.
        ///
        /// - Throws: `SessionError.Code.invalidConfiguration` for more than two mebibytes, which could not be read.
        public func json() throws(SessionError) -> Data {
            try SettingsText.write(self)
        }
    }

    /// Makes a session over sockets from settings, and from the additions of a function.
    ///
    /// - Throws: The errors of `init(baseURL:_:)`.
    public convenience init(
        settings: Settings, _ configure: (inout Configuration) throws -> Void = { _ in }
    ) throws(SessionError) {
        var configuration = settings.configuration
        do {
            try configure(&configuration)
        } catch {
            throw SessionError(configuring: error)
        }
        try self.init(baseURL: settings.baseURL, configuration: configuration)
    }
}

extension HTTPSession.Settings: CustomReflectable {
    /// The properties, redacted.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "identifier": identifier as Any, "baseURL": baseURL.map(Redaction.standard.text) as Any,
                "configuration": configuration,
            ], displayStyle: .struct)
    }
}
