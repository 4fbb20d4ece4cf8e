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
        public var tls = TLSOptions()
        /// The timeouts of each step; nil entries have no limit. The default is 10 s each to connect and for TLS, 60 s for each
        /// idle timeout and for waiting in the pool, and no limit for the whole request.
        public var timeouts: TransportTimeouts = .default
        /// The HTTP versions to use. The default is `.automatic`: HTTP/2 or HTTP/1.1 over TLS, as the server chooses, and
        /// HTTP/1.1 in clear text.
        public var httpVersions = HTTPVersions.automatic
        /// The options of HTTP/2 connections.
        public var http2 = HTTP2Options()
        /// The proxies. The default is none: connections are direct, whatever the environment says. `ProxyPolicy.environment`
        /// takes those of `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
        public var proxies: ProxyPolicy = .none
        /// How host names are resolved, which hosts are unix sockets, and the local address of connections.
        public var resolution = ResolutionOptions()
        /// The limits on the number and age of connections. The default is 8 to one origin, 256 in total, and 60 s for an unused
        /// one.
        public var pool = TransportConfiguration.PoolLimits()
        /// The maximum size in bytes of a response's body in memory, decoded. The default is 256 MiB. Streamed bodies and
        /// downloads have no limit.
        public var maximumBodySize = ResponseDelivery.defaultLimit
        /// The limits on what a server may send besides the body.
        public var responseLimits = TransportConfiguration.ResponseLimits()
        /// Which requests ask the server for its consent before their body is sent. The default is `ContinuePolicy.never`;
        /// `RequestOptions.continuePolicy` chooses for a request.
        public var continuePolicy = ContinuePolicy.never
        /// How long a request with `Expect: 100-continue` waits for the server's response before it sends its body anyway (RFC
        /// 9110, 10.1.1). The field, which can also be one of ``headerFields``, is not sent with a request without content. The default
        /// is 1 second.
        public var continueTimeout: Duration = .seconds(1)
        /// The event loops that connections run on. The default is `.shared`.
        public var eventLoops: TransportConfiguration.EventLoops = .shared
        /// Header fields that the session adds to its requests; see ``HTTPSession/setHeader(_:_:)``. The default is none.
        public var headerFields: HTTPFields {
            get { hidden.fields }
            set { hidden.fields = newValue }
        }
        private var hidden = RedactedFields()
        /// The custom interceptors of the chain, the outermost first. The default is none.
        public var interceptors: [any Interceptor] = []
        /// Which redirects are followed. The default is ``RedirectPolicy/follow``: up to 20, by RFC 9110, section 15.4.
        public var redirectPolicy: RedirectPolicy = .follow
        /// When requests are sent again. The default is ``RetryPolicy/never``.
        public var retryPolicy: RetryPolicy = .never
        /// The retriers, which decide before the policy. The default is none.
        public var retriers: [any RequestRetrier] = []
        /// The adapters, which change the request of each attempt. The default is none.
        public var requestAdapters: [any RequestAdapter] = []
        /// The credentials that answer challenges. The default is none: a 401 is handled as any other status.
        public var credentialStore: CredentialStore?
        /// The hosts that are requested over https only (RFC 6797): their http URLs are changed to https, and hosts that ask for
        /// it over a verified connection are added. The default is none: URLs are requested as they are.
        public var hstsStore: HSTSStore?
        /// The cookies that are sent, and the place where those of responses are stored; sessions can share a jar. The default is
        /// none, which is right for a server that serves many people. `RequestOptions.usesCookies` excludes a request.
        public var cookieJar: CookieJar?
        /// Where responses are stored and taken from, as RFC 9111 says for a private cache; sessions of one user can share a
        /// store. The default is none, which is right for a server that serves many people. For an app,
        /// `MemoryCacheStore()` is a start, and LinnetDiskCache has stores on disk. `RequestOptions.cachePolicy` chooses for a request, and
        /// ``SessionResponse/cacheOutcome`` says what it got.
        public var cacheStore: (any CacheStore)?
        /// Whether the store serves several users, as that of a gateway does: `s-maxage` counts, private responses are not stored,
        /// and those to requests with Authorization only if the server allows it (RFC 9111, sections 3.5 and 5.2.2). The default
        /// is false.
        public var isCacheShared = false
        /// Whether a GET waits for another one with the same URL that is on its way, and is answered by the response that this
        /// one stores. The default is false.
        ///
        /// It waits for a request whose response is read whole, not for a stream or a download. If the response is not stored, or
        /// is for other header fields (Vary), the request is sent on its own. Cancelling one of the requests does not cancel the
        /// others. `RequestOptions.timeout` includes the wait. A request with its own `idleTimeout`, `connectTimeout` or
        /// `waitsForConnectivity` neither waits for others nor do they wait for it, because its limits would not hold for both.
        /// Without a ``cacheStore`` it has no effect.
        public var collapsesEqualRequests = false
        /// Saves the cookies of the jar; nil if the program does.
        package var cookieSaver: CookieSaver?
        /// The content codings that responses may have, the preferred one first (RFC 9110, section 12.5.3). The default is gzip and
        /// deflate; importing LinnetBrotli adds `.brotli`, and importing LinnetZstandard `.zstandard`.
        ///
        /// Requests name them in Accept-Encoding, and responses are decoded as they are read. A request with a Range field and a
        /// download that may be resumed ask for `identity`. A request with an Accept-Encoding field of its own sends that one, and
        /// its response is left as it is, unless the field is `identity`. Without codings no field is sent, and nothing is decoded.
        ///
        /// Reading a body in another coding fails with ``SessionError/Code/contentDecodingFailed``, with its first bytes in
        /// ``SessionError/body``; so does a body that is damaged, cut, or followed by other bytes.
        public var contentCodings: [ContentCoding] = [.gzip, .deflate]
        /// The limits on decoded bodies. The default is 1,000 bytes for each one received, in bodies of more than 1 MiB. A body beyond
        /// a limit fails with ``SessionError/Code/bodyTooLarge``, as one in memory does beyond ``maximumBodySize``.
        public var decodingLimits = DecodingLimits()
        /// The time by which the ages of stored responses are measured.
        var cacheTime: @Sendable () -> Date = { Date() }
        /// Measures the waits between attempts. The default is the continuous clock.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// The hooks for every request. The default is none.
        public var hooks = TaskHooks()
        /// The hooks for the session itself. The default is none.
        public var sessionHooks = SessionHooks()
        /// Counts the session's running requests. The default is none.
        public var completionGroup: CompletionGroup?
        /// The logger for each attempt of a request: `debug` for requests and responses, `info` for failures, `trace` with
        /// their header fields. Bodies are never logged. The default is none.
        public var logger: Logger?
        /// What is hidden in the log, and which header fields are not sent to another origin than the one that they are for. The
        /// default is `Redaction.standard`; add the names of your own API's secrets.
        public var redaction: Redaction = .standard
        /// Monitors the network, for ``waitsForConnectivity`` and `RequestOptions.allowsExpensiveNetworks`, and for users of the
        /// session, which does not stop it. When the network changes, the session closes its idle connections and clears its
        /// cache of resolved names. The default is none.
        public var reachabilityMonitor: ReachabilityMonitor?
        /// Whether a request waits that cannot be sent because this machine has no network: it is sent again once the
        /// ``reachabilityMonitor``, which is required then, sees a default route. `RequestOptions.waitsForConnectivity` chooses for
        /// a request, and ``TaskHooks/isWaitingForConnectivity`` is told. The default is false.
        ///
        /// Each request is sent at once, since a host may be reachable without a default route. It waits if no connection could be
        /// opened and the machine has no network, or only an expensive one that the request may not use. With a
        /// ``retryPolicy``, a request whose connection was lost is sent again, and then waits in the same way.
        public var waitsForConnectivity = false
        /// How long an attempt waits for the network in all, after which it fails with the error that made it wait, which a
        /// ``retryPolicy`` may answer with another attempt. The default is nil: as long as `RequestOptions.timeout` and the timeout for the whole request allow.
        public var connectivityTimeout: Duration?
        /// The minimum interval between two progress updates of a task; the last one is delivered at once. The default is 100
        /// milliseconds. Bytes are counted for handles only.
        public var progressInterval: Duration = .milliseconds(100)
        /// The executor for callbacks. The default is a serial queue of the session's own, not the main queue.
        public var callbackExecutor: CallbackExecutor = .serial()

        /// How parameters are written. The default is `FormRequestSerializer`.
        public var requestSerializer: any RequestSerializer = FormRequestSerializer()
        /// Reads responses as JSON when no type is requested. Its validation also applies to responses decoded as a type.
        public var responseSerializer = JSONResponseSerializer()
        /// How ``HTTPCall/body(json:)`` is encoded; nil, the default, is `JSONBodyEncoder` with the request serializer's layout.
        public var encoder: JSONBodyEncoder?
        /// How JSON is decoded as a type; the default reads what the default encoder writes.
        public var decoder = JSONBodyDecoder()

        /// Where the session learns about the network; tests replace it.
        var network: NetworkSource? {
            get { givenNetwork ?? reachabilityMonitor.map { NetworkSource($0) } }
            set { givenNetwork = newValue }
        }
        private var givenNetwork: NetworkSource?

        /// The defaults.
        public init() {}

        func serializer<T: Decodable & Sendable>(for type: T.Type) -> DecodableResponseSerializer<T> {
            DecodableResponseSerializer(type, decoder: decoder, validation: responseSerializer.validation)
        }

        func jsonRequest(_ request: SessionRequest, _ value: some Encodable) throws(SerializationError)
            -> SessionRequest
        {
            // The request's serializer adds its own fields and options.
            let options = (requestSerializer as? JSONRequestSerializer)?.options ?? JSONWritingOptions()
            return try JSONRequestSerializer(options: options, headerFields: [:])
                .serialize(request, encoding: value, encoder: encoder)
        }

        /// This configuration with another's serializers, coders and header fields.
        func coding(as other: Configuration) -> Configuration {
            var configuration = self
            configuration.requestSerializer = other.requestSerializer
            configuration.responseSerializer = other.responseSerializer
            configuration.encoder = other.encoder
            configuration.decoder = other.decoder
            configuration.headerFields = other.headerFields
            return configuration
        }

        /// Throws if requests are to wait for a network that no monitor reports.
        func checkMonitor() throws(SessionError) {
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
            return transport
        }

        /// The defaults, changed by a function; what it throws becomes a ``SessionError``.
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
    /// Makes the error for one thrown by a configuring function.
    init(configuring error: any Error) {
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
