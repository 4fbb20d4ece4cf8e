internal import FoundationEssentials
internal import LinnetSecurity
internal import LinnetTransport

extension MockServer {
    /// Starts a server.
    ///
    /// - Parameters:
    ///   - identity: The certificate chain and key for TLS; nil, the default, serves plain HTTP.
    ///   - configuration: What differs from the defaults.
    ///   - handler: Answers the requests.
    ///
    /// Fails with ``TestingError/Code/cannotListen``, or with ``TestingError/Code/invalidConfiguration`` when OpenSSL
    /// refuses the identity.
    public static func start(
        tls identity: TestPKI.Identity? = nil,
        configuration: Configuration = Configuration(),
        handler: @escaping Handler
    ) async throws(TestingError) -> MockServer {
        try await start(tls: identity, configuration, .http(handler))
    }

    /// Starts a server that answers by routes.
    public static func start(
        tls identity: TestPKI.Identity? = nil,
        configuration: Configuration = Configuration(),
        routes: Routes
    ) async throws(TestingError) -> MockServer {
        try await start(tls: identity, configuration, .http { await routes.respond(to: $0) })
    }

    /// Starts a server without HTTP: what it reads and writes on each connection is the closure's.
    ///
    /// The connection is closed when the closure returns or throws. ``recordedRequests`` stays empty. With TLS, the
    /// closure sees plaintext, and ALPN offers what ``Configuration/httpVersions`` says.
    public static func startRaw(
        tls identity: TestPKI.Identity? = nil,
        configuration: Configuration = Configuration(),
        serve: @escaping @Sendable (RawConnection) async throws -> Void
    ) async throws(TestingError) -> MockServer {
        try await start(tls: identity, configuration, .raw(serve))
    }

    private static func start(
        tls identity: TestPKI.Identity?, _ configuration: Configuration, _ kind: Service.Kind
    ) async throws(TestingError) -> MockServer {
        let service = Service(kind: kind, configuration: configuration, tls: try tlsContext(identity, configuration))
        let listener = try await Listener.start(service)
        let scheme = identity == nil ? "http" : "https"
        guard let url = URL(string: "\(scheme)://\(configuration.hostName):\(listener.port)/") else {
            await listener.stop()
            throw TestingError(.invalidConfiguration, "\"\(configuration.hostName)\" is not a host name.")
        }
        return MockServer(url: url, host: configuration.hostName, listener: listener, service: service)
    }

    private static func tlsContext(
        _ identity: TestPKI.Identity?, _ configuration: Configuration
    ) throws(TestingError) -> TLSServerContext? {
        guard let identity else { return nil }
        do {
            return try TLSServerContext(
                certificateChainPEM: identity.certificateChainPEM, privateKeyPEM: identity.privateKeyPEM,
                applicationProtocols: configuration.httpVersions.applicationProtocols,
                issuesSessionTickets: configuration.issuesSessionTickets,
                stapledOCSPResponse: configuration.stapledOCSPResponse.map { [UInt8]($0) },
                clientCertificates: configuration.clientCertificates.forTLS)
        } catch {
            throw TestingError(.invalidConfiguration, "The server's identity cannot be used.", underlying: error)
        }
    }
}

extension MockServer.Configuration.ClientCertificates {
    fileprivate var forTLS: TLSServerContext.ClientCertificates {
        switch self {
        case .ignored: .ignored
        case .requested(let authorities): .requested(issuedBy: authorities.map(\.derBytes))
        case .required(let authorities): .required(issuedBy: authorities.map(\.derBytes))
        }
    }
}
