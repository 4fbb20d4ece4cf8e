internal import FoundationEssentials
public import HTTPTypes
public import LinnetAuthentication
public import LinnetCache
public import LinnetCompression
public import LinnetCookies
public import LinnetMessages
public import LinnetReachability
public import LinnetSecurity
public import LinnetSerialization
public import LinnetTransport
public import Logging

extension HTTPSession {
    /// The configuration of a ``HTTPSession``.
    public struct Configuration: Sendable {
        /// The security policy for servers. The default is the system's trust store.
        public var securityPolicy: SecurityPolicy = .systemTrust
        /// The client identities for servers that request a certificate. The default is none.
        public var clientIdentities: ClientIdentityPolicy = .none
        /// TLS versions, algorithms, resumption. The default is TLS 1.2 and 1.3.
        public var tls = TransportConfiguration.TLS()
        /// The timeouts of each step; nil entries have no limit. The default is 10 s each to connect and for TLS, 60 s
        /// for each idle timeout and for waiting in the pool, and no limit for the whole request.
        public var timeouts: TransportTimeouts = .default
        /// The HTTP versions to use. The default is `.automatic`: over TLS the server chooses between HTTP/2 and
        /// HTTP/1.1, and in clear text HTTP/1.1 is used.
        public var httpVersions = HTTPVersions.automatic
        /// The options of HTTP/2 connections.
        public var http2 = TransportConfiguration.HTTP2()
        /// The proxies. The default is none: connections are direct, whatever the environment says.
        /// `ProxyPolicy.environment` follows `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
        public var proxies: ProxyPolicy = .none
        /// The resolution of host names, hosts that are unix sockets, and the local address of connections.
        public var resolution = TransportConfiguration.Resolution()
        /// The limits on the number and age of connections. The default is 8 to one origin, 256 in total, and 60 s for
        /// an unused one.
        public var pool = TransportConfiguration.PoolLimits()
        /// The maximum size in bytes of a response's body in memory, decoded. The default is 256 MiB. Streamed bodies
        /// and downloads have no limit. Exceeding it is ``SessionError/Code/bodyTooLarge``.
        public var maximumBodySize = ResponseDelivery.defaultLimit
        /// The limits on the parts of a response besides its body.
        public var responseLimits = TransportConfiguration.ResponseLimits()
        /// Selects the requests that ask the server for its consent before sending the body. The default is
        /// `ContinuePolicy.never`; `RequestOptions.continuePolicy` chooses for a request.
        public var continuePolicy = ContinuePolicy.never
        /// The longest time for which a request with `Expect: 100-continue` waits for the server's response (RFC 9110,
        /// section 10.1.1). A request without content does not send the field, which can also be one of
        /// ``headerFields``. The default is 1 second. Beyond it, the request sends its body.
        public var continueTimeout: Duration = .seconds(1)
        /// The event loops of the connections. The default is `.shared`.
        public var eventLoops: TransportConfiguration.EventLoops = .shared
        /// Header fields that the session adds to its requests; see ``HTTPSession/setHeader(_:_:)``. The default is
        /// none.
        public var headerFields: HTTPFields {
            get { hidden.fields }
            set { hidden.fields = newValue }
        }
        private var hidden = RedactedFields()
        /// The custom interceptors of the chain, the outermost first. The default is none.
        public var interceptors: [any Interceptor] = []
        /// Decides which redirects are followed. The default is ``RedirectPolicy/follow``: up to 20, by RFC 9110,
        /// section 15.4.
        public var redirectPolicy: RedirectPolicy = .follow
        /// Decides when requests are sent again. The default is ``RetryPolicy/never``.
        public var retryPolicy: RetryPolicy = .never
        /// Limits all retries of the session to a share of its requests. The default is no limit.
        public var retryBudget: RetryBudget?
        /// Sends requests once more when their answers are late. The default is none.
        public var hedging: HedgingPolicy?
        /// Refuses requests to origins that fail. The default is none.
        public var circuitBreaker: CircuitBreaker?
        /// Limits the requests that run at an origin to what it can serve. The default is none.
        public var concurrencyLimiter: ConcurrencyLimiter?
        /// The retriers, which decide before the policy. The default is none.
        public var retriers: [any RequestRetrier] = []
        /// The adapters, which change the request of each attempt. The default is none.
        public var requestAdapters: [any RequestAdapter] = []
        /// The credentials that answer challenges. The default is none: a 401 is treated like any other status.
        public var credentialStore: CredentialStore?
        /// Adds a credential that is renewed, such as an access token, to the requests of its origins; see
        /// ``RenewableCredential``. The default is none.
        public var authenticator: SessionAuthenticator?
        /// Signs the requests to its origins, each time that one is sent, after all other fields are there; see
        /// ``RequestSigner``. The default is none.
        public var requestSigner: RequestSigner?
        /// The hosts that are requested over https only (RFC 6797): their http URLs are changed to https. A host that
        /// asks for it over a verified connection is added. The default is none: URLs are requested unchanged.
        public var hstsStore: HSTSStore?
        /// The jar for the cookies of requests and responses; sessions can share a jar. The default is none, which is
        /// right for a server that acts for many people. `RequestOptions.usesCookies` excludes a request.
        public var cookieJar: CookieJar?
        /// The store for responses, which is used by the rules of RFC 9111 for a private cache; sessions of one user
        /// can share a store. The default is none, which is right for a server that acts for many people. For an app,
        /// begin with `MemoryCacheStore()`; LinnetDiskCache has stores on disk. `RequestOptions.cachePolicy` chooses
        /// for a request, and ``SessionResponse/cacheOutcome`` reports the result.
        public var cacheStore: (any CacheStore)?
        /// Whether the store serves several users, like the cache of a gateway: `s-maxage` counts, private responses
        /// are not stored, and responses to requests with Authorization only if the server allows it (RFC 9111,
        /// sections 3.5 and 5.2.2). The default is false.
        public var isCacheShared = false
        /// Whether a GET waits for another running GET with the same URL, and is answered by its stored response. The
        /// default is false.
        ///
        /// It waits for a request whose response is read completely, not for a stream or a download. If the response is
        /// not stored, or has other header fields (Vary), the waiting request is sent on its own. Cancelling one of the
        /// requests does not cancel the others. `RequestOptions.timeout` includes the wait. A request with its own
        /// `idleTimeout`, `connectTimeout` or `waitsForConnectivity` takes no part, because its limits would not hold
        /// for both. Without a ``cacheStore`` the setting has no effect.
        public var collapsesEqualRequests = false
        /// Saves the cookies of the jar; nil if the program saves them.
        package var cookieSaver: CookieSaver?
        /// The content codings to accept in responses, the preferred one first (RFC 9110, section 12.5.3). The default
        /// is gzip and deflate; importing LinnetBrotli adds `.brotli`, and importing LinnetZstandard `.zstandard`.
        ///
        /// Requests name them in Accept-Encoding, and responses are decoded as they are read. A request with a Range
        /// field, and a download that may be resumed, ask for `identity`. If a request sets Accept-Encoding itself, its
        /// response is not decoded; only the value `identity` leaves decoding on. Without codings, no field is sent and
        /// nothing is decoded.
        ///
        /// Reading a body in another coding fails with ``SessionError/Code/contentDecodingFailed``, with its first
        /// bytes in ``SessionError/body``. A body that is damaged, truncated, or followed by other bytes fails too.
        public var contentCodings: [ContentCoding] = [.gzip, .deflate]
        /// The limits on decoded bodies. The default is 1,000 bytes for each received one, in bodies of more than 1
        /// MiB. Like a body beyond ``maximumBodySize``, a body beyond a limit fails with
        /// ``SessionError/Code/bodyTooLarge``.
        public var decodingLimits = DecodingLimits()
        /// The clock for the ages of stored responses.
        var cacheTime: @Sendable () -> Date = { Date() }
        /// Measures the delays between attempts. The default is the continuous clock.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// The hooks for every request. The default is none.
        public var hooks = TaskHooks()
        /// The hooks for the session itself. The default is none.
        public var sessionHooks = SessionHooks()
        /// Counts the session's running requests. The default is none.
        package var requestGroup: (any RequestGroup)?
        /// The logger for each attempt of a request and for retries, at the levels of the table under "Logging" in the
        /// documentation of the module; at the level `trace`, header fields are logged as well. Bodies are never
        /// logged. The default is none.
        public var logger: Logger?
        /// Observe the session's requests and connections, for metrics, traces and records. The default is none, and
        /// costs nothing.
        ///
        /// ```swift
        /// import LinnetMetrics
        ///
        /// let session = try HTTPSession { $0.instruments = [.metrics] }
        /// ```
        public var instruments: [any Instrument] = []
        /// The secrets to hide in the log, and the header fields that are sent to no other origin. The default is
        /// `Redaction.standard`; add the names of your own API's secrets.
        public var redaction: Redaction = .standard
        /// Monitors the network, for ``waitsForConnectivity`` and `RequestOptions.allowsExpensiveNetworks`, and for
        /// users of the session. The session does not stop it. When the network changes, the session closes its idle
        /// connections and clears its cache of resolved names. The default is none.
        public var reachabilityMonitor: ReachabilityMonitor?
        /// Whether a request that cannot be sent without a network waits for one: it is sent again when the
        /// ``reachabilityMonitor``, which is then required, sees a default route. `RequestOptions.waitsForConnectivity`
        /// chooses for a request, and ``TaskHooks/isWaitingForConnectivity`` reports the wait. The default is false.
        ///
        /// Each request is sent at once, since a host may be reachable without a default route. It waits if no
        /// connection could be opened and the machine has no network, or only an expensive one that the request may not
        /// use. With a ``retryPolicy``, a request whose connection was lost is sent again, and can then wait in the
        /// same way.
        public var waitsForConnectivity = false
        /// The longest time for which an attempt waits for the network, in total. The default is nil: no limit but
        /// `RequestOptions.timeout` and the timeout for the whole request. Beyond it, the attempt fails with the error
        /// that made it wait, which a ``retryPolicy`` may answer with another attempt.
        public var connectivityTimeout: Duration?
        /// The minimum interval between two progress updates of a task; the last one is delivered at once. The default
        /// is 100 milliseconds. Bytes are counted for handles only.
        public var progressInterval: Duration = .milliseconds(100)
        /// The executor for callbacks. The default is a serial queue of the session, not the main queue.
        public var callbackExecutor: CallbackExecutor = .serial()

        /// The serializer for the parameters of requests. The default is `FormRequestSerializer`.
        public var requestSerializer: any RequestSerializer = FormRequestSerializer()
        /// The serializer for responses when no type is requested: JSON. Its validation also applies to responses
        /// decoded as a type.
        public var responseSerializer = JSONResponseSerializer()
        /// The encoder for ``HTTPCall/body(json:)``; nil, the default, is `JSONBodyEncoder` with the request
        /// serializer's layout.
        public var encoder: JSONBodyEncoder?
        /// The decoder of JSON as a type. The default reads the output of the default encoder.
        public var decoder = JSONBodyDecoder()

        /// The source of information about the network; tests replace it.
        var network: NetworkSource? {
            get { givenNetwork ?? reachabilityMonitor.map { NetworkSource($0) } }
            set { givenNetwork = newValue }
        }
        private var givenNetwork: NetworkSource?

        /// Creates a configuration with the defaults.
        public init() {}

        func serializer<T: Decodable & Sendable>(for type: T.Type) -> DecodableResponseSerializer<T> {
            DecodableResponseSerializer(type, decoder: decoder, validation: responseSerializer.validation)
        }

        func jsonRequest(_ request: SessionRequest, _ value: some Encodable) throws(SerializationError)
            -> SessionRequest
        {
            // The request's serializer adds its own fields and options.
            let options = (requestSerializer as? JSONRequestSerializer)?.options ?? JSONValue.WritingOptions()
            return try JSONRequestSerializer(options: options, headerFields: [:])
                .serialize(request, encoding: value, encoder: encoder)
        }

        /// Returns this configuration with the serializers, coders and header fields of another one.
        func coding(as other: Configuration) -> Configuration {
            var configuration = self
            configuration.requestSerializer = other.requestSerializer
            configuration.responseSerializer = other.responseSerializer
            configuration.encoder = other.encoder
            configuration.decoder = other.decoder
            configuration.headerFields = other.headerFields
            return configuration
        }

        /// Throws if requests should wait for the network without a monitor, or if the retry budget or the circuit
        /// breaker is invalid.
        func check() throws(SessionError) {
            try retryBudget?.check()
            try hedging?.check()
            try circuitBreaker?.configuration.check()
            try concurrencyLimiter?.configuration.check()
            guard waitsForConnectivity, network == nil else { return }
            throw SessionError(
                .invalidConfiguration, "waitsForConnectivity needs a monitor: set reachabilityMonitor as well.")
        }

        var transport: TransportConfiguration {
            var transport = TransportConfiguration()
            transport.eventLoops = eventLoops
            transport.securityPolicy = securityPolicy
            transport.clientIdentities = clientIdentities
            transport.tls = tls
            transport.httpVersions = httpVersions
            transport.http2 = http2
            transport.proxies = proxies
            transport.resolution = resolution
            transport.pool = pool
            transport.limits = responseLimits
            transport.timeouts = timeouts
            transport.continueTimeout = continueTimeout
            transport.connectionObserver = instruments.connectionObserver
            return transport
        }

        /// Makes a configuration by a function that changes the defaults. Converts its errors into a ``SessionError``.
        static func make(_ configure: (inout Configuration) throws -> Void) throws(SessionError) -> Configuration {
            var configuration = Configuration()
            do {
                try configure(&configuration)
                return configuration
            } catch {
                throw SessionError(configuring: error)
            }
        }
    }
}

extension SessionError {
    /// Creates the session error for an error of a configuring function.
    package init(configuring error: any Error) {
        if let error = error as? SessionError {
            self = error
        } else {
            self.init(
                .invalidConfiguration, "The configuration failed: \(SessionError.cause(error))", underlying: error)
        }
    }
}

/// Header fields that `dump` shows redacted with `Redaction.standard`.
private struct RedactedFields: Sendable, CustomReflectable {
    var fields = HTTPFields()

    var customMirror: Mirror { Mirror(self, children: ["headerFields": Redaction.standard.lines(of: fields)]) }
}
