public import HTTPTypes
public import LinnetSecurity
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// HTTP over sockets: a pool of connections, each with TLS on OpenSSL judged by a security policy.
///
/// ```swift
/// let transport = try HTTPTransport()
/// let head = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
/// let response = try await transport.send(TransportRequest(head: head), observer: nil)
/// await transport.shutdown(.graceful)
/// ```
public final class HTTPTransport: Transport {
    private let configuration: TransportConfiguration
    private let pool: ConnectionPool
    private let ownedGroup: MultiThreadedEventLoopGroup?
    private let hasEnded = Atomic(false)
    private let requests = OutstandingWork()
    /// One executor for each event loop.
    ///
    /// A task that prefers one of them (`withTaskExecutorPreference`, `Task(executorPreference:)`) runs on its event loop,
    /// and is served by that loop's connections first: a request then crosses no thread. What such a task does between
    /// its requests holds up that loop's other connections, so it should be short and never block. An executor runs
    /// nothing any more once its event loop was stopped; with ``TransportConfiguration/EventLoops/dedicated(threads:)``
    /// the transport's shutdown does that, and a task that still prefers it never ends.
    public let taskExecutors: [any TaskExecutor]

    /// Makes a transport. Opens no connection yet.
    ///
    /// Throws ``TransportError/Code/invalidConfiguration`` when the configuration cannot be enforced: limits below 1,
    /// TLS options or client identities that the system's OpenSSL refuses, an OpenSSL below 3.0.2.
    public init(_ configuration: TransportConfiguration = TransportConfiguration()) throws(TransportError) {
        try configuration.validate()
        try configuration.http2.validate()
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
        taskExecutors = connector.eventLoops.map { EventLoopExecutor($0) }
        pool = ConnectionPool(connector: connector, configuration: configuration)
    }

    deinit {
        guard !hasEnded.load(ordering: .acquiring) else { return }
        let (pool, ownedGroup) = (pool, ownedGroup)
        // Nobody can use the connections any more; they and the threads go in the background.
        Task {
            await pool.shutDown(.immediate)
            try? await ownedGroup?.shutdownGracefully()
        }
    }

    /// How many connections are open or being opened.
    public var openConnections: Int { pool.openConnections }

    /// Sends a request, and returns when its response is there as ``TransportRequest/delivery`` says.
    ///
    /// Where an attempt fails without a word of response, the transport sends the request again on another connection:
    /// - Up to five times, whatever its method, where the server has certainly not processed it: the connection had ended
    ///   before the request's first byte, or the server of HTTP/2 says so (RFC 9113, 8.7). A body that was begun has to be one
    ///   that can be produced again. Attempts on connections on which the server answered other requests have a count of
    ///   their own, of twenty.
    /// - Once, ever, where the server may have processed it: the connection had lain idle before the request and ended without a
    ///   byte of response (RFC 9112, 9.3.1), and the method is idempotent (RFC 9110, 9.2.2). The origin's connections that have
    ///   lain idle for longer are closed first.
    ///
    /// A connection that the server ends during the TLS handshake, or before it could be used, is tried to open up to five times
    /// more while requests wait for it, other addresses of the name first, within the time of ``TransportTimeouts/connect``; only
    /// then do those requests fail. A name without addresses, a connection that all addresses refuse, a TLS alert, and a refusal by
    /// the security policy fail them at once. From the second connection in a row that was of no use, the next one to the
    /// same origin is opened after a pause: 50 ms, then twice as long each time up to 400 ms, each shortened by up to a half at
    /// random.
    ///
    /// All of that ends with the request's own timeouts. ``TransportResponse/earlierAttempts``, ``TransportError/attempts`` and the
    /// observer tell of each attempt, with its ``TransportMetrics/failure``.
    public func send(
        _ request: TransportRequest, observer: (any TransportObserver)? = nil
    ) async throws(TransportError) -> TransportResponse {
        requests.begin()
        defer { requests.end() }
        var attempts: [TransportMetrics] = []
        do {
            var response = try await send(request, observer, &attempts)
            if !attempts.isEmpty { response.earlierAttempts = attempts }
            return response
        } catch {
            throw error.following(attempts)
        }
    }

    private func send(
        _ request: TransportRequest, _ observer: (any TransportObserver)?, _ attempts: inout [TransportMetrics]
    ) async throws(TransportError) -> TransportResponse {
        let origin = try Origin(request.head)
        let timeouts = request.timeouts.merging(configuration.timeouts)
        let deadline = timeouts.request.map { NIODeadline.after($0) }
        var besideOthers = 0
        while true {
            let start = Tick.now
            let connection = try await lease(origin, timeouts, deadline, observer, &attempts)
            let outcome = await connection.run(
                request, observer: observer, timeouts: timeouts, deadline: deadline,
                queuedSince: start)
            switch outcome {
            case .response(let response):
                pool.served(on: connection)
                return response
            case .failure(let error, let canRepeat):
                let failures = (attempts + error.attempts).compactMap(\.failure)
                if connection.hasServed { besideOthers += 1 }
                guard canRepeat, let last = failures.last,
                    pool.policy.sendsAgain(after: failures, besideOthers: besideOthers)
                else { throw error.at(origin) }
                attempts += error.attempts
                pool.attemptFailed(last, on: connection, since: start)
            case .withdrawn:
                continue
            }
        }
    }

    private func lease(
        _ origin: Origin, _ timeouts: TransportTimeouts, _ deadline: NIODeadline?,
        _ observer: (any TransportObserver)?, _ attempts: inout [TransportMetrics]
    ) async throws(TransportError) -> HTTPConnection {
        do {
            let lease = try await pool.lease(origin, timeouts: timeouts, deadline: deadline, observer: observer)
            for attempt in lease.tries { observer?.didFinishAttempt(attempt) }
            if !lease.tries.isEmpty { attempts += lease.tries }
            return lease.connection
        } catch {
            for attempt in error.attempts { observer?.didFinishAttempt(attempt) }
            throw error.at(origin)
        }
    }

    /// Closes the connections that no request uses.
    public func closeIdleConnections() {
        pool.closeIdle()
    }

    /// No connection that is open now serves another request: idle ones are closed, the others once their requests are
    /// over. For when the network has changed under them.
    public func retireConnections() {
        pool.retireConnections()
    }

    /// Forgets the addresses of names that were looked up. Connections that are open stay so.
    public func clearResolvedNames() {
        pool.clearResolvedNames()
    }

    /// Opens connections to a URL's host before anybody asks: up to `count` in all, and one where HTTP/2 lets them share
    /// it. Returns at once; a connection that cannot be opened is nobody's error.
    ///
    /// Throws ``TransportError/Code/invalidRequest`` when the head has no scheme or authority,
    /// ``TransportError/Code/cleartextRefused`` as a request would, and ``TransportError/Code/shutDown``.
    public func prewarm(_ head: HTTPRequest, connections count: Int = 1) throws(TransportError) {
        try pool.prewarm(Origin(head), count: count, timeouts: configuration.timeouts)
    }

    /// From now on connections are made under this policy. Idle connections made under another are closed; requests
    /// that run on one finish there. Once it has returned, no request begins that the policy refuses, also none that was waiting
    /// for a connection, or had just got one.
    public func replaceSecurityPolicy(_ policy: SecurityPolicy) {
        pool.replaceTerms { $0.replacing(policy) }
    }

    /// From now on connections are made under these identities. Idle connections to hosts whose identity is another one than
    /// before are closed; requests that run on one finish there. No TLS session of another identity is resumed.
    ///
    /// Throws ``TransportError/Code/invalidConfiguration`` when OpenSSL refuses one of them; then nothing changes.
    public func replaceClientIdentities(_ identities: ClientIdentityPolicy) throws(TransportError) {
        try pool.replaceIdentities(identities)
    }

    /// Ends the transport, and returns when its connections, and the threads it owns, are gone. Requests that come
    /// later fail with ``TransportError/Code/shutDown``.
    public func shutdown(_ mode: ShutdownMode = .graceful) async {
        hasEnded.store(true, ordering: .releasing)
        await pool.shutDown(mode)
        await requests.drained()
        try? await ownedGroup?.shutdownGracefully()
    }
}

extension TransportConfiguration {
    func validate() throws(TransportError) {
        guard pool.connectionsPerOrigin > 0, pool.connections > 0 else {
            throw TransportError(.invalidConfiguration, "A pool needs room for one connection at least.")
        }
        guard limits.headBytes > 0, limits.headFields > 0 else {
            throw TransportError(.invalidConfiguration, "The limits on a response's head leave room for none.")
        }
        // HTTPFields ends the process at more.
        guard limits.headFields <= 65_534 else {
            throw TransportError(.invalidConfiguration, "A response's head can have 65,534 fields at most.")
        }
        if case .dedicated(let threads) = eventLoops, threads < 1 {
            throw TransportError(.invalidConfiguration, "A transport needs one thread at least.")
        }
    }
}
