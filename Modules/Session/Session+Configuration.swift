public import FoundationEssentials
public import HTTPTypes
public import LinnetReachability
public import LinnetSecurity
public import LinnetSerialization
public import LinnetTransport
public import Logging

extension Session {
    /// What a ``Session`` is made with.
    public struct Configuration: Sendable {
        /// Who is trusted. The default is the system's trust store.
        public var securityPolicy: SecurityPolicy = .systemTrust
        /// As whom the session shows itself to servers that ask for a certificate. The default is nobody.
        public var clientIdentities: ClientIdentityPolicy = .none
        /// TLS versions, algorithms, resumption. The default is TLS 1.2 and 1.3.
        public var tls = TLSOptions()
        /// How long each step may take; nil entries have no limit. The default is 10 s each to connect and for TLS, 60 s
        /// for each of the idle times and for waiting in the pool, no limit for the whole.
        public var timeouts: TransportTimeouts = .default
        /// Which versions of HTTP are spoken. The default is `.automatic`: over TLS what the server chooses of HTTP/2 and
        /// HTTP/1.1, in clear text HTTP/1.1.
        public var httpVersions = HTTPVersions.automatic
        /// How connections of HTTP/2 work.
        public var http2 = HTTP2Options()
        /// How names become addresses.
        public var resolution = ResolutionOptions()
        /// How old a connection may be to serve another request; nil for no limit. The default is nil.
        public var maximumConnectionAge: Duration?
        /// Connections of HTTP/1.1 to one origin. The default is 8.
        public var maximumConnectionsPerOrigin = 8
        /// Connections in total. The default is 256.
        public var maximumConnections = 256
        /// How long an unused connection is kept. The default is 60 seconds.
        public var idleConnectionTimeout: Duration = .seconds(60)
        /// Bytes of a response's body that may end up in memory. The default is 2 GiB. Streamed bodies have no limit.
        public var maximumBodySize = ResponseDelivery.defaultLimit
        /// How much a server may send beside the body.
        public var responseLimits = TransportConfiguration.ResponseLimits()
        /// How long a request with `Expect: 100-continue` waits for the server's word before it sends its body all the
        /// same (RFC 9110, 10.1.1). The default is 1 second.
        public var continueTimeout: Duration = .seconds(1)
        /// Where the connections run. The default is `.shared`.
        public var eventLoops: TransportConfiguration.EventLoops = .shared
        /// Header fields for requests that do not have them, be it from their serializer or their own. The default is none.
        public var headerFields = HTTPFields()
        /// The user's links of the chain, the outermost first. The default is none.
        public var interceptors: [any Interceptor] = []
        /// Which redirects are followed. The default is ``RedirectPolicy/follow``: up to 20, by RFC 9110, section 15.4.
        public var redirectPolicy: RedirectPolicy = .follow
        /// When requests are sent again. The default is ``RetryPolicy/never``.
        public var retryPolicy: RetryPolicy = .never
        /// Who decides on retries before the policy does. The default is nobody.
        public var retriers: [any RequestRetrier] = []
        /// What changes each attempt's request. The default is nothing.
        public var requestAdapters: [any RequestAdapter] = []
        /// Where the answers to challenges are. The default is nowhere: 401 is an error like others.
        public var credentialStore: CredentialStore?
        /// Measures the waits between attempts. The default is the continuous clock.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// What is called on the way of every request. The default is nothing.
        public var hooks = TaskHooks()
        /// What is called about the session itself. The default is nothing.
        public var sessionHooks = SessionHooks()
        /// Counts the session's running requests. The default is none.
        public var completionGroup: CompletionGroup?
        /// Where each attempt of a request is written: `debug` for requests and responses, `info` for failures, `trace` with
        /// their header fields; never a body. The default is nowhere.
        public var logger: Logger?
        /// What is hidden in the log. The default is ``Redaction/standard``.
        public var redaction: Redaction = .standard
        /// Watches the network for whoever asks the session; the session neither starts nor stops it, nor waits for it.
        /// The default is none.
        public var reachabilityMonitor: ReachabilityMonitor?
        /// The shortest time between two news of one task's progress; the last one comes at once. The default is 100
        /// milliseconds. Without handles nothing is counted.
        public var progressInterval: Duration = .milliseconds(100)
        /// Where callbacks are called. The default is a serial queue of the session's own, not the main queue.
        public var callbackExecutor: CallbackExecutor = .serial()

        /// How parameters are written. The default is `FormRequestSerializer`.
        public var requestSerializer: any RequestSerializer = FormRequestSerializer()
        /// How responses are read as JSON where no type is asked for. Its validation holds for those that are read into a type,
        /// too.
        public var responseSerializer = JSONResponseSerializer()
        /// What writes the JSON of ``HTTPCall/body(json:)``; nil, the default, writes dates in ISO 8601 and data in Base64. It
        /// must not be changed once requests use it.
        public var encoder: JSONEncoder?
        /// What reads JSON into a type. The default reads dates in ISO 8601, as the default encoder writes them. It must not be
        /// changed once requests use it.
        public var decoder: JSONDecoder = {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return decoder
        }()

        /// The defaults.
        public init() {}

        func serializer<T: Decodable & Sendable>(for type: T.Type) -> DecodableResponseSerializer<T> {
            DecodableResponseSerializer(type, decoder: decoder, validation: responseSerializer.validation)
        }

        func jsonRequest(_ request: Request, _ value: some Encodable) throws(SerializationError) -> Request {
            try ((requestSerializer as? JSONRequestSerializer) ?? JSONRequestSerializer())
                .serialize(request, encoding: value, encoder: encoder)
        }

        var transport: TransportConfiguration {
            var transport = TransportConfiguration()
            transport.eventLoops = eventLoops
            transport.securityPolicy = securityPolicy
            transport.clientIdentities = clientIdentities
            transport.tls = tls
            transport.httpVersions = httpVersions
            transport.http2 = http2
            transport.resolution = resolution
            transport.pool.maximumAge = maximumConnectionAge
            transport.pool.connectionsPerOrigin = maximumConnectionsPerOrigin
            transport.pool.connections = maximumConnections
            transport.pool.idleTimeout = idleConnectionTimeout
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
    /// What a function threw that was to configure something.
    init(configuring error: any Error) {
        if let error = error as? SessionError {
            self = error
        } else {
            self.init(.invalidConfiguration, "The configuration failed: \(error)", underlying: error)
        }
    }
}
