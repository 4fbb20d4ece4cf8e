internal import LinnetTransport

/// The links of a session's chain.
struct Chain: Sendable {
    /// The links from top to bottom. Users' interceptors are above them, and the transport is below.
    let links: [any ChainLink]
    /// The links that a plain request passes, see ``Flight/isPlain``.
    let plainLinks: [any ChainLink]
    /// Nil in a session without content codings.
    let coding: CodingLink?
    /// Nil in a session without a cache.
    let cache: CacheLink?
    /// Nil in a session without a logger.
    let log: LogLink?
    /// Nil in a session without a retry budget.
    let retryLedger: RetryLedger?
    /// Nil in a session without a circuit breaker.
    let circuitBreaker: CircuitBreaker?
    /// The place of the cache among the links.
    let cacheIndex: Int

    /// - Parameter network: Watches the network; nil in a session without a monitor.
    init(_ configuration: HTTPSession.Configuration, _ transport: any Transport, _ network: NetworkWatch?) {
        cache = configuration.cacheStore.map { CacheLink(configuration, store: $0) }
        // Requests that wait for another one need its response stored when it returns, so the transport must read it
        // whole.
        coding = CodingLink(configuration, readsBodies: cache?.flights == nil)

        retryLedger = configuration.retryBudget.map { RetryLedger($0) }
        circuitBreaker = configuration.circuitBreaker
        let log = configuration.logger.map { LogLink(logger: $0, redaction: configuration.redaction) }

        // An attempt is everything below the retries. Adapters are not asked about each hop of a redirect.
        var links: [any ChainLink] = [
            RetryLink(policy: configuration.retryPolicy, retriers: configuration.retriers, ledger: retryLedger),
            AdapterLink(adapters: configuration.requestAdapters),
            RedirectLink(
                policy: configuration.redirectPolicy, hstsStore: configuration.hstsStore, transport: transport,
                secrets: configuration.redaction.credentialNames),
        ]
        // Each hop is changed to https, and authentication and cookies see the requested URL.
        if let store = configuration.hstsStore { links.append(HSTSLink(store: store)) }
        // Credentials are for one origin.
        if let authenticator = configuration.authenticator { links.append(RenewalLink(source: authenticator.source)) }
        links.append(AuthenticationLink(store: configuration.credentialStore))
        if let jar = configuration.cookieJar { links.append(CookieLink(jar: jar)) }
        // All links above read decoded bodies. The cache stores the bytes that were sent.
        if let coding { links.append(coding) }
        cacheIndex = links.count
        // Cookies and credentials decide which stored response matches. A hit is not an attempt for the links below.
        if let cache { links.append(cache) }
        // A request that waits for the network has neither a place at its origin nor the probe of its circuit.
        let connectivity = network.map {
            ConnectivityLink(
                watch: $0, transport: transport, waits: configuration.waitsForConnectivity,
                limit: configuration.connectivityTimeout)
        }
        if let connectivity { links.append(connectivity) }
        // A request that waits for its turn can meet a circuit that has opened.
        if let limiter = configuration.concurrencyLimiter {
            links.append(ConcurrencyLink(limiter: limiter, connectivity: connectivity))
        }
        // Answers of the cache need no origin.
        if let breaker = configuration.circuitBreaker {
            links.append(CircuitLink(breaker: breaker, connectivity: connectivity))
        }
        links.append(ContinueLink(policy: configuration.continuePolicy))
        // All fields are there. The links below change nothing.
        if let signer = configuration.requestSigner { links.append(SigningLink(signer: signer)) }
        if let log { links.append(log) }
        self.log = log
        self.links = links
        // Adapters and authenticators are the program's, and can add a body, which may be announced.
        let canAddBody = !configuration.requestAdapters.isEmpty || configuration.authenticator != nil
        plainLinks = canAddBody ? links : links.filter(\.servesPlainRequests)
    }
}
