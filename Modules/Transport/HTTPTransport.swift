internal import FoundationEssentials
public import HTTPTypes
public import LinnetMessages
public import LinnetSecurity
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// HTTP over pooled connections, with TLS by OpenSSL and a security policy for certificate chains.
///
/// ```swift
/// let transport = try HTTPTransport()
/// let head = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
/// let response = try await transport.send(TransportRequest(head: head), observer: nil)
/// await transport.shutdown(.graceful)
/// ```
/// A transport that is released without ``shutdown(_:)`` closes its connections in the background. With
/// ``TransportConfiguration/EventLoops/dedicated(threads:)`` this includes connections that have switched protocols,
/// such as WebSockets, which have 10 s for their closing handshake.
public final class HTTPTransport: Transport {
    private let configuration: TransportConfiguration
    private let pool: ConnectionPool
    /// The connections of requests that ask to switch protocols, which HTTP/2 connections cannot.
    private let upgradePool: ConnectionPool
    private let upgraded = UpgradedConnections()
    /// Nil if all connections are direct.
    private let proxies: ProxyDirectory?
    /// Nil if all hosts are on the network.
    private let unixSockets: UnixSockets?
    private let ownedGroup: MultiThreadedEventLoopGroup?
    private let hasEnded = Atomic(false)
    private let requests = OutstandingWork()
    /// The executors of the event loops, one for each.
    ///
    /// A task that prefers one of them (`withTaskExecutorPreference`, `Task(executorPreference:)`) runs on its event
    /// loop and uses that loop's connections first, so that a request needs no change of threads. The task's own work
    /// delays the loop's other connections, so it must be short and never block. An executor stops running jobs when
    /// its event loop stops, which the transport's shutdown does with
    /// ``TransportConfiguration/EventLoops/dedicated(threads:)``; a task that still prefers it then never ends.
    public let taskExecutors: [any TaskExecutor]

    /// Creates a transport without opening a connection.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if the configuration cannot be enforced: limits below 1,
    ///   TLS options or client identities that the system's OpenSSL refuses, an OpenSSL below 3.0.2,
    ///   ``TransportConfiguration/Resolution`` with an invalid host, address or path, an invalid proxy in the
    ///   environment (``ProxyPolicy/environment``).
    public init(_ configuration: TransportConfiguration = TransportConfiguration()) throws(TransportError) {
        try configuration.validate()
        try configuration.http2.validate()
        proxies = try ProxyDirectory(configuration.proxies, environment: ProcessInfo.processInfo.environment)
        self.configuration = configuration
        let group: any EventLoopGroup
        switch configuration.eventLoops {
        case .shared:
            group = MultiThreadedEventLoopGroup.singleton
            ownedGroup = nil
        case .dedicated(let threads):
            let owned = MultiThreadedEventLoopGroup(numberOfThreads: threads)
            group = owned
            ownedGroup = owned
        case .group(let given):
            group = given
            ownedGroup = nil
        }
        let connector: Connector
        do {
            connector = try Connector(configuration, group: group)
        } catch {
            ownedGroup?.shutdownGracefully { _ in }
            throw error
        }
        unixSockets = connector.unixSockets
        taskExecutors = connector.eventLoops.map { EventLoopExecutor($0) }
        let numbers = ConnectionNumbers()
        pool = ConnectionPool(connector: connector, configuration: configuration, numbers: numbers)
        upgradePool = ConnectionPool(
            connector: connector, configuration: configuration, onlyHTTP1: true, numbers: numbers)
        ResourceLedger.current?.add { [weak self] in self?.descriptionWhileOpen }
    }

    deinit {
        guard !hasEnded.load(ordering: .acquiring) else { return }
        let (pool, upgradePool, ownedGroup) = (pool, upgradePool, ownedGroup)
        let (upgraded, requests) = (upgraded, requests)
        // No reference to the transport is left: the connections and threads are closed in the background.
        Task {
            await pool.shutDown(.immediate)
            await upgradePool.shutDown(.immediate)
            guard let ownedGroup else { return }
            // An upgraded connection must not outlive its thread, and is closed in the way of its protocol if that is
            // soon done.
            upgraded.end(.graceful)
            let limit = ownedGroup.next().scheduleTask(in: .seconds(10)) { upgraded.end(.immediate) }
            await requests.drained()
            limit.cancel()
            try? await ownedGroup.shutdownGracefully()
        }
    }

    /// The transport for a `ResourceLedger`; nil once it is shut down.
    private var descriptionWhileOpen: String? {
        hasEnded.load(ordering: .acquiring) ? nil : "an HTTP transport (open connections: \(openConnections))"
    }

    /// The number of connections that are open or being opened.
    public var openConnections: Int { pool.openConnections + upgradePool.openConnections }

    /// Sends a request and returns the response, with its body as ``TransportRequest/delivery`` says.
    ///
    /// If an attempt fails without any part of a response, the transport repeats the request on another connection:
    /// - Up to five times, with any method, if the server has certainly not processed it: the connection had ended
    ///   before the request's first byte, or an HTTP/2 server says so (RFC 9113, 6.8 and 8.7). A started body must be
    ///   replayable. Attempts on connections whose server processed other requests count separately, up to
    ///   128. A repeated request keeps its place among those that wait for a connection.
    /// - Once if the server may have processed it: the connection had been idle before the request and ended without a
    ///   byte of response (RFC 9112, 9.3.1), and the method is idempotent (RFC 9110, 9.2.2). Connections to the origin
    ///   that have been idle for longer are closed first.
    ///
    /// If the server closes a connection during the TLS handshake or before it is used, the transport opens up to five
    /// others while requests wait, to other addresses of the name first and within ``TransportTimeouts/connect``,
    /// before those requests fail. They fail immediately if the name has no address, all addresses refuse the
    /// connection, the server sends a TLS alert, or the security policy refuses the chain. From the second such
    /// connection in a row, the next one to the same origin is delayed: by 50 ms at first, doubled each time up to 400
    /// ms, each reduced by a random part of up to a half.
    ///
    /// The request's timeouts limit all of this. ``TransportResponse/attempts``, ``TransportError/attempts`` and
    /// the observer report each attempt with its ``TransportMetrics/failure``.
    public func send(
        _ request: TransportRequest, observer: (any TransportObserver)? = nil
    ) async throws(TransportError) -> TransportResponse {
        requests.begin()
        defer { requests.end() }
        var attempts: [TransportMetrics] = []
        do {
            return try await send(request, observer, &attempts)
        } catch {
            throw failed(error, after: attempts)
        }
    }

    private func send(
        _ request: TransportRequest, _ observer: (any TransportObserver)?, _ attempts: inout [TransportMetrics]
    ) async throws(TransportError) -> TransportResponse {
        var sending = try begin(request, observer)
        if sending.isOverNetwork, let proxies {
            sending.place.proxy = try await proxies.server(for: sending.place.origin, until: sending.place.deadline)
        }
        while true {
            let start = Tick.now
            let connection =
                if let open = try takeOpenPlace(sending) {
                    open
                } else {
                    try await lease(sending.place, from: sending.pool, adding: &attempts)
                }
            if let response = try await attempt(request, on: connection, since: start, &sending, &attempts) {
                return response
            }
        }
    }

    /// Sends a request once; nil if it has to be sent again.
    ///
    /// Not inlined, so that the frame of a request that waits for a connection has no place for its outcome.
    @inline(never)
    private func attempt(
        _ request: TransportRequest, on connection: HTTPConnection, since start: Tick, _ sending: inout Sending,
        _ attempts: inout [TransportMetrics]
    ) async throws(TransportError) -> TransportResponse? {
        let outcome = await connection.run(
            request, observer: sending.place.observer, timeouts: sending.place.timeouts,
            deadline: sending.place.deadline, queuedSince: start, mayAskProxyFirst: sending.mayAskProxyFirst)
        let response = try end(outcome, of: request, on: connection, since: start, &sending, &attempts)
        return response?.following(attempts)
    }

    /// A running request: the needs of each attempt, and the attempts that remain.
    ///
    /// Its steps between two waits are functions of their own that are not inlined: their temporary values are on the
    /// thread's stack, and not in the frame of a request that waits.
    fileprivate struct Sending {
        let pool: ConnectionPool
        var place: PoolRequest
        let isOverNetwork: Bool
        var besideOthers = 0
        var proxyChallenges = ProxyChallenges()
        var mayAskProxyFirst = true
    }

    @inline(never)
    private func begin(
        _ request: TransportRequest, _ observer: (any TransportObserver)?
    ) throws(TransportError) -> Sending {
        let origin = if let known = request.origin { known } else { try Origin(request.head) }
        let timeouts = request.timeouts.merging(configuration.timeouts)
        let place = PoolRequest(
            origin: origin, timeouts: timeouts, deadline: timeouts.request.map { NIODeadline.after($0) },
            priority: request.priority, arrival: .now, observer: observer)
        return Sending(
            pool: try pool(for: request), place: place,
            isOverNetwork: unixSockets?.place(of: origin) == nil)
    }

    /// Returns the response of an attempt; nil if the request has to be sent again.
    @inline(never)
    private func end(
        _ outcome: consuming HTTPExchange.Outcome, of request: TransportRequest, on connection: HTTPConnection,
        since start: Tick, _ sending: inout Sending, _ attempts: inout [TransportMetrics]
    ) throws(TransportError) -> TransportResponse? {
        switch consume outcome {
        case .response(let response, let answer):
            sending.pool.served(on: connection)
            if let connection = response.body.upgraded {
                // It counts as a request until it closes, so that a shutdown waits for it.
                requests.begin()
                upgraded.add(connection.channel) { [requests] in requests.end() }
            }
            guard let proxy = sending.place.proxy, let answer,
                let reply = proxy.authenticator.received(response.head, after: answer.value)
            else { return response }
            return try sending.answer(reply, of: proxy.proxy, to: request, response, &attempts)
        case .failure(let error, let canRepeat):
            let failures = (attempts + error.attempts).compactMap(\.failure)
            if connection.hasServed { sending.besideOthers += 1 }
            guard canRepeat, let last = failures.last,
                sending.pool.policy.sendsAgain(after: failures, besideOthers: sending.besideOthers)
            else { throw error.at(sending.place.origin) }
            attempts += error.attempts
            sending.pool.attemptFailed(last, on: connection, since: start)
            return nil
        case .withdrawn:
            return nil
        }
    }

    private func pool(for request: TransportRequest) throws(TransportError) -> ConnectionPool {
        guard request.upgrade != nil else { return pool }
        guard configuration.httpVersions != .http2 else {
            throw TransportError(
                .invalidRequest, "A request that switches protocols needs HTTP/1.1, which the configuration excludes.")
        }
        return upgradePool
    }

    @inline(never)
    private func takeOpenPlace(_ sending: borrowing Sending) throws(TransportError) -> HTTPConnection? {
        do {
            return try sending.pool.takeOpenPlace(sending.place)
        } catch {
            throw failed(error, sending.place)
        }
    }

    @inline(never)
    private func lease(
        _ place: PoolRequest, from pool: ConnectionPool, adding attempts: inout [TransportMetrics]
    ) async throws(TransportError) -> HTTPConnection {
        do {
            let lease = try await pool.lease(place)
            report(lease.tries, to: place.observer, adding: &attempts)
            return lease.connection
        } catch {
            throw failed(error, place)
        }
    }

    @inline(never)
    private func report(
        _ tries: [TransportMetrics], to observer: (any TransportObserver)?, adding attempts: inout [TransportMetrics]
    ) {
        for attempt in tries { observer?.didFinishAttempt(attempt) }
        if !tries.isEmpty { attempts += tries }
    }

    @inline(never)
    private func failed(_ error: TransportError, after attempts: [TransportMetrics]) -> TransportError {
        error.following(attempts)
    }

    @inline(never)
    private func failed(_ error: TransportError, _ place: PoolRequest) -> TransportError {
        for attempt in error.attempts { place.observer?.didFinishAttempt(attempt) }
        return error.at(place.origin)
    }

    /// True.
    public var enforcesRequestTimeout: Bool { true }

    /// The path of ``TransportConfiguration/Resolution/unixSockets`` for the origin's host.
    public func unixSocket(of origin: Origin) -> String? { unixSockets?.place(of: origin)?.path }

    /// Closes or retires connections, or drops cached addresses of host names.
    public func discard(_ resources: TransportResources) {
        // New connections use new addresses.
        if resources.contains(.resolvedNames) { pool.clearResolvedNames() }
        for pool in [pool, upgradePool] {
            if resources.contains(.connections) {
                pool.retireConnections()
            } else if resources.contains(.idleConnections) {
                pool.closeIdle()
            }
        }
    }

    /// Opens connections to the host of a URL in advance, up to `count` in total, or one if HTTP/2 lets requests share
    /// it. Returns immediately; failures to open a connection are ignored.
    ///
    /// - Throws: ``TransportError/Code/invalidRequest`` if the head has no scheme or authority,
    ///   ``TransportError/Code/cleartextRefused`` as for a request, and ``TransportError/Code/shutDown``.
    public func prewarm(_ head: HTTPRequest, connections count: Int = 1) throws(TransportError) {
        let origin = try Origin(head)
        let isOverNetwork = unixSockets?.place(of: origin) == nil
        guard isOverNetwork, let proxies, proxies.asksFunction else {
            let proxy = isOverNetwork ? proxies?.server(byRulesFor: origin) : nil
            return try pool.prewarm(origin, via: proxy, count: count, timeouts: configuration.timeouts)
        }
        requests.begin()
        Task { [pool, requests, timeouts = configuration.timeouts] in
            defer { requests.end() }
            let proxy = try await proxies.server(for: origin, until: nil)
            try pool.prewarm(origin, via: proxy, count: count, timeouts: timeouts)
        }
    }

    /// Replaces the security policy. Idle connections made under another policy are closed; requests that are running
    /// on one finish. After this returns, no request starts that the policy refuses, including requests that were
    /// waiting for a connection or had just been assigned one.
    public func replaceSecurityPolicy(_ policy: SecurityPolicy) {
        for pool in [pool, upgradePool] { pool.replaceTerms { $0.replacing(policy) } }
    }

    /// Replaces the client identities. Idle connections to hosts whose identity changes are closed; requests that run
    /// on one finish. TLS sessions of other identities are not resumed.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if OpenSSL refuses an identity; nothing changes then.
    public func replaceClientIdentities(_ identities: ClientIdentityPolicy) throws(TransportError) {
        for pool in [pool, upgradePool] { try pool.replaceIdentities(identities) }
    }

    /// Shuts the transport down and returns when its connections and its own threads have ended. Later requests fail
    /// with ``TransportError/Code/shutDown``.
    public func shutdown(_ mode: ShutdownMode = .graceful) async {
        hasEnded.store(true, ordering: .releasing)
        upgraded.end(mode)
        await pool.shutDown(mode)
        await upgradePool.shutDown(mode)
        await requests.drained()
        try? await ownedGroup?.shutdownGracefully()
    }
}

extension HTTPTransport.Sending {
    /// Returns the response unless the proxy's reply requires sending the request again.
    fileprivate mutating func answer(
        _ reply: ProxyReply, of proxy: Proxy, to request: TransportRequest, _ response: TransportResponse,
        _ attempts: inout [TransportMetrics]
    ) throws(TransportError) -> TransportResponse? {
        let canRepeat = request.canRepeat(after: response)
        if reply == .wrongProof {
            attempts.append(response.metrics)
            throw .wrongProof(of: proxy)
        }
        if reply == .refusesToWait, !canRepeat { return response }
        var metrics = response.metrics
        metrics.failure = .notProcessed
        attempts.append(metrics)
        switch reply {
        case .refusesToWait:
            mayAskProxyFirst = false
        case .challenge, .question:
            guard proxyChallenges.mayAnswer(reply) else { throw .proxyAuthenticationRequired(proxy) }
            guard canRepeat else { throw .proxyAuthenticationTooLate(proxy) }
        case .refusal, .wrongProof:
            throw .proxyAuthenticationRequired(proxy)
        }
        return nil
    }
}

extension TransportRequest {
    /// Whether the request can be sent again after a response that refuses it: its body can be read again, or was not
    /// read.
    fileprivate func canRepeat(after response: TransportResponse) -> Bool {
        body?.isReplayable ?? true || response.metrics.requestBodyBytes == 0
    }
}

extension TransportConfiguration {
    func validate() throws(TransportError) {
        guard pool.connectionsPerOrigin > 0, pool.connections > 0 else {
            throw TransportError(.invalidConfiguration, "The pool limits must allow at least one connection.")
        }
        guard limits.headBytes > 0, limits.headFields > 0 else {
            throw TransportError(.invalidConfiguration, "The limits on a response's head must be above 0.")
        }
        // HTTPFields traps at 65,535, and a stored response that the server confirms gets fields of two responses.
        guard limits.headFields <= 30_000 else {
            throw TransportError(.invalidConfiguration, "The limit on a response's fields must be at most 30,000.")
        }
        if case .dedicated(let threads) = eventLoops, threads < 1 {
            throw TransportError(.invalidConfiguration, "A transport needs at least one thread.")
        }
    }
}
