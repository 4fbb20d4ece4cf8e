internal import LinnetMessages
internal import LinnetSecurity
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Opens connections for a ``ConnectionPool``, on event loops that share the pool's clock.
protocol ConnectionOpener: Sendable {
    /// An event loop for timers.
    var eventLoop: any EventLoop { get }
    /// All event loops of connections.
    var eventLoops: [any EventLoop] { get }
    /// Whether the connections to an origin may be multiplexed, as far as is known.
    func multiplexing(_ origin: Origin) -> PoolStateMachine<PoolKey>.Multiplexing
    /// Opens a connection.
    func connect(
        _ series: ConnectSeries, id: UInt64, on shard: PoolShard, terms: ConnectionTerms, attempt: ConnectAttempt,
        pool: ConnectionPool
    ) -> EventLoopFuture<HTTPConnection>
    /// Throws if one of the identities cannot be used.
    func require(_ identities: ClientIdentityPolicy) throws(TransportError)
    /// Drops cached addresses.
    func clearResolvedNames()
    /// Drops the TLS sessions of earlier connections.
    func forgetTLSSessions()
    /// Remembers how many streams a server allows, for its next connection.
    func rememberStreamLimit(_ limit: Int, of origin: Origin)
    /// Records that a server requires HTTP/1.1 (RFC 9113, 7). Returns false if the configuration does not allow it.
    func requiresHTTP1(_ origin: Origin) -> Bool
}

/// Opens connections: name resolution, TCP (happy eyeballs, RFC 8305), TLS with the evaluation of the chain, HTTP.
final class Connector: ConnectionOpener {
    /// The properties of a connection to open, and its pool.
    private struct Place: Sendable {
        let id: UInt64
        let key: PoolKey
        let shard: PoolShard
        let terms: ConnectionTerms
        let pool: ConnectionPool
    }

    /// An attempt to connect, and its event loop.
    struct Opening: Sendable {
        /// The number of the connection.
        let id: UInt64
        let eventLoop: any EventLoop
        let series: ConnectSeries
        let attempt: ConnectAttempt
        /// Whether the proxy forwards requests; otherwise it makes a tunnel.
        let forwards: Bool

        /// The end of the time to connect; nil without one.
        var end: NIODeadline? { series.deadline == .distantFuture ? nil : series.deadline }
    }

    /// A connected socket, with the metrics of connecting it.
    struct OpenSocket: Sendable {
        let channel: any Channel
        var metrics: TransportMetrics
        /// When it was connected.
        var connected: ContinuousClock.Instant
    }

    private let group: any EventLoopGroup
    let tls: TLSClientContext
    let names: NameCache
    /// Nil if all hosts are on the network.
    let unixSockets: UnixSockets?
    let binding: SocketBinding
    let configuration: TransportConfiguration
    /// The TLS handshakes of each event loop.
    private let handshakes: [ObjectIdentifier: NIOLoopBoundBox<HandshakeTurns>]
    private let windows: HTTP2WindowBudget
    /// The origins whose servers require HTTP/1.1 (RFC 9113, 7: HTTP_1_1_REQUIRED).
    private let http1Origins = OriginMemory<Bool>()
    /// The servers' last limits on streams (RFC 9113, 5.1.2). The first requests on a new connection are sent before
    /// its SETTINGS arrive, and those beyond the limit would be refused.
    private let streamLimits = OriginMemory<Int>()

    init(
        _ configuration: TransportConfiguration, group: any EventLoopGroup,
        handshakes limit: HandshakeLimit = HandshakeLimit()
    ) throws(TransportError) {
        self.configuration = configuration
        self.group = group
        handshakes = group.makeIterator().reduce(into: [:]) { handshakes, eventLoop in
            handshakes[ObjectIdentifier(eventLoop)] = .makeBoxSendingValue(
                HandshakeTurns(limit, on: eventLoop), eventLoop: eventLoop)
        }
        windows = HTTP2WindowBudget(ofTransport: configuration.http2)
        tls = try TLSClientContext(
            configuration.tls, applicationProtocols: configuration.httpVersions.applicationProtocols)
        try tls.require(configuration.clientIdentities)
        names = try NameCache(configuration.resolution)
        unixSockets = try UnixSockets(configuration.resolution)
        binding = try SocketBinding(configuration.resolution)
    }

    func clearResolvedNames() {
        names.clear()
    }

    func require(_ identities: ClientIdentityPolicy) throws(TransportError) {
        try tls.require(identities)
    }

    func forgetTLSSessions() {
        tls.sessions?.removeAll()
    }

    var eventLoop: any EventLoop { group.any() }

    var eventLoops: [any EventLoop] { Array(group.makeIterator()) }

    func multiplexing(_ origin: Origin) -> PoolStateMachine<PoolKey>.Multiplexing {
        switch configuration.httpVersions {
        case .http1: .never
        case .http2: .possible
        case .automatic: origin.isSecure && http1Origins.value(for: origin, .now()) == nil ? .possible : .never
        }
    }

    func connect(
        _ series: ConnectSeries, id: UInt64, on shard: PoolShard, terms: ConnectionTerms, attempt: ConnectAttempt,
        pool: ConnectionPool
    ) -> EventLoopFuture<HTTPConnection> {
        let (key, timeouts) = (series.key, series.timeouts)
        let place = Place(id: id, key: key, shard: shard, terms: terms, pool: pool)
        let opening = Opening(
            id: id, eventLoop: shard.eventLoop, series: series, attempt: attempt, forwards: forwards(key, pool))
        // The event loop's thread sets up everything: a connection's memory then lies in few pages, and the handlers
        // exist before the first bytes, which can follow a proxy's answer at once.
        return opening.eventLoop.flatSubmit {
            self.openSocket(for: key, opening).flatMap { socket in
                let channel = socket.channel
                guard key.origin.isSecure else {
                    let speaksHTTP2 = self.configuration.httpVersions == .http2
                    return channel.eventLoop.makeCompletedFuture {
                        try Self.closing(channel) {
                            try self.makeConnection(channel, at: place, socket.metrics, speaksHTTP2: speaksHTTP2)
                        }
                    }
                }
                let lateFailure = TLSLateFailure()
                let offered = self.applicationProtocols(for: key.origin, onlyHTTP1: pool.onlyHTTP1)
                return self.openTLS(
                    channel, key.origin, via: key.proxy, terms: terms, timeouts: timeouts, lateFailure: lateFailure,
                    offering: offered
                ).flatMapThrowing { info in
                    try Self.closing(channel) {
                        var metrics = socket.metrics
                        metrics.record(info, since: socket.connected)
                        let speaksHTTP2 = try Self.choosesHTTP2(info.applicationProtocol, offered: offered, key.origin)
                        return try self.makeConnection(
                            channel, at: place, metrics, lateFailure: lateFailure, speaksHTTP2: speaksHTTP2)
                    }
                }
            }
        }
    }

    /// Opens the socket of a connection to an origin. Called on the event loop.
    private func openSocket(for key: PoolKey, _ opening: Opening) -> EventLoopFuture<OpenSocket> {
        if let place = unixSockets?.place(of: key.origin) {
            openSocket(at: place, of: key.origin, opening)
        } else if let proxy = key.proxy {
            connect(to: key.origin, through: proxy, opening)
        } else {
            openSocket(to: key.origin, opening)
        }
    }

    /// Makes the connection on an open channel, and closes the channel if that fails: the pool does not know it yet.
    private static func closing(
        _ channel: any Channel, ifFails make: () throws -> HTTPConnection
    ) throws -> HTTPConnection {
        do {
            return try make()
        } catch {
            channel.close(promise: nil)
            throw error
        }
    }

    /// The protocols that ALPN offers for a connection to an origin (RFC 7301).
    private func applicationProtocols(for origin: Origin, onlyHTTP1: Bool) -> [String] {
        let needsHTTP1 =
            configuration.httpVersions == .automatic
            && (onlyHTTP1 || http1Origins.value(for: origin, .now()) != nil)
        return needsHTTP1 ? HTTPVersions.http1.applicationProtocols : tls.applicationProtocols
    }

    /// Whether the proxy of a connection receives its requests in absolute form. A connection that is to switch
    /// protocols has a tunnel (RFC 6455, 4.1).
    private func forwards(_ key: PoolKey, _ pool: ConnectionPool) -> Bool {
        !pool.onlyHTTP1 && key.proxy?.forwards(to: key.origin, configuration.httpVersions) ?? false
    }

    private func openTLS(
        _ channel: any Channel, _ origin: Origin, via proxy: ProxyServer?, terms: ConnectionTerms,
        timeouts: TransportTimeouts, lateFailure: TLSLateFailure, offering protocols: [String]
    ) -> EventLoopFuture<TLSSessionInfo> {
        let (policy, identities) = (terms.securityPolicy, terms.clientIdentities)
        let identity = identities.identity(for: origin.host)
        // Sessions can only be resumed with their original protocols.
        let resumption =
            protocols == tls.applicationProtocols
            ? tls.resumption(
                host: origin.host, port: origin.port, via: proxy, policy: policy, identity: identity) : nil
        return startTLS(
            on: channel, with: origin, policy: policy, until: timeouts.tlsHandshake.map { .after($0) },
            TransportError(.tlsTimeout, "The TLS handshake with \(origin.endpoint) exceeded its timeout.")
        ) { serverName, promise, judge in
            TLSHandler(
                self.tls, serverName: serverName, applicationProtocols: protocols,
                resumption: resumption, identity: identity, lateFailure: lateFailure, promise: promise,
                choose: self.chooser(of: identities, for: origin), judge: judge)
        }
    }

    /// Runs a TLS handshake with a server, which the policy judges, and closes the channel if it fails. Its turn may be
    /// later.
    ///
    /// - Parameters:
    ///   - end: The time at which the attempt fails with `timeout`; nil for none.
    ///   - make: Makes the handler.
    func startTLS(
        on channel: any Channel, with server: Origin, policy: SecurityPolicy, until end: NIODeadline?,
        _ timeout: TransportError,
        make: (_ serverName: String?, EventLoopPromise<TLSSessionInfo>, @escaping TLSHandler.Judge) -> TLSHandler
    ) -> EventLoopFuture<TLSSessionInfo> {
        let promise = channel.eventLoop.makePromise(of: TLSSessionInfo.self)
        // An address must not be sent as a server name (RFC 6066, 3).
        let isAddress = (try? SocketAddress(ipAddress: server.host, port: 0)) != nil
        // Without a trailing dot (RFC 6066, 3).
        let name = server.host.hasSuffix(".") ? String(server.host.dropLast()) : server.host
        let handler = make(isAddress ? nil : name, promise) { presented in
            await policy.evaluate(presented.trust(host: server.host, port: server.port))
        }
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        let timer = end.map { end in
            channel.eventLoop.scheduleTask(deadline: end) { bound.value.abort(timeout, channel: channel) }
        }
        let turns = handshakes[ObjectIdentifier(channel.eventLoop)]?.value
        let ticket = turns?.enter(handler, channel)
        promise.futureResult.assumeIsolated().whenComplete { _ in
            timer?.cancel()
            if let ticket { turns?.leave(ticket) }
        }
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            promise.fail(error)
        }
        return promise.futureResult.flatMapErrorThrowing { error in
            channel.close(promise: nil)
            var error = TransportError(translating: error)
            error.endpoint = server.endpoint
            throw error
        }
    }

    /// The function that chooses the client identity during the handshake; nil if the policy alone determines it.
    private func chooser(of identities: ClientIdentityPolicy, for origin: Origin) -> TLSHandler.Chooser? {
        guard let choose = identities.chooser else { return nil }
        let proposed = identities.identity(for: origin.host)
        return { issuers in
            let request = ClientIdentityPolicy.CertificateRequest(
                host: origin.host, port: origin.port, acceptableIssuers: issuers)
            do {
                return .success(try await choose(request, proposed))
            } catch {
                return .failure(error)
            }
        }
    }

    private func makeConnection(
        _ channel: any Channel, at place: Place, _ metrics: TransportMetrics, lateFailure: TLSLateFailure? = nil,
        speaksHTTP2: Bool
    ) throws -> HTTPConnection {
        guard channel.isActive else { throw TransportError.staleConnection }
        var metrics = metrics
        metrics.httpVersion = speaksHTTP2 ? "h2" : "http/1.1"
        return speaksHTTP2
            ? try makeHTTP2(channel, at: place, metrics, lateFailure: lateFailure)
            : try makeHTTP1(channel, at: place, metrics, lateFailure: lateFailure)
    }

    /// Whether ALPN selected HTTP/2. A server without ALPN speaks HTTP/1.1; with ALPN it must select an offered
    /// protocol (RFC 7301, 3.1).
    static func choosesHTTP2(
        _ selected: String?, offered: [String], _ origin: Origin
    ) throws(TransportError) -> Bool {
        guard offered.contains(selected ?? "http/1.1") else {
            let reason =
                selected.map { "selected the application protocol \"\($0)\", which was not offered" }
                ?? "does not support HTTP/2, which the configuration requires"
            throw TransportError(.tlsHandshakeFailed, "\(origin.endpoint) \(reason).", endpoint: origin.endpoint)
        }
        return selected == "h2"
    }

    private func makeHTTP2(
        _ channel: any Channel, at place: Place, _ metrics: TransportMetrics, lateFailure: TLSLateFailure?
    ) throws -> HTTPConnection {
        let http2 = try HTTP2Connection.install(
            on: channel, configuration: configuration, windows: windows,
            assumedStreams: streamLimits.value(for: place.key.origin, .now()))
        let connection = HTTPConnection(
            id: place.id, key: place.key, pool: place.pool, shard: place.shard, terms: place.terms, channel: channel,
            wire: .http2(NIOLoopBound(http2, eventLoop: channel.eventLoop)), capacity: http2.capacity, opening: metrics,
            maximumAge: configuration.pool.maximumAge, lateFailure: lateFailure,
            observer: configuration.connectionObserver)
        // Before the closure, which runs at once if the channel has closed, and tells the owner of the end.
        http2.adopt(connection)
        channel.closeFuture.assumeIsolated().whenComplete { _ in http2.connectionEnded() }
        return connection
    }

    func rememberStreamLimit(_ limit: Int, of origin: Origin) {
        streamLimits.remember(limit, for: origin, .now())
    }

    func requiresHTTP1(_ origin: Origin) -> Bool {
        guard configuration.httpVersions == .automatic else { return false }
        http1Origins.remember(true, for: origin, .now())
        return true
    }

    private func makeHTTP1(
        _ channel: any Channel, at place: Place, _ metrics: TransportMetrics, lateFailure: TLSLateFailure?
    ) throws -> HTTPConnection {
        // TLS is decrypted best in pieces that fit into the processor's cache.
        let handler = HTTP1Handler(
            limits: configuration.limits, continueTimeout: configuration.continueTimeout,
            readsLargePieces: !place.key.origin.isSecure,
            forwardingTo: forwards(place.key, place.pool) ? place.key.proxy : nil)
        try channel.pipeline.syncOperations.addHandler(handler)
        // Small while responses are small: the buffers grow with the bytes of each read.
        try channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1_024, initial: 2_048, maximum: 65_536))
        let connection = HTTPConnection(
            id: place.id, key: place.key, pool: place.pool, shard: place.shard, terms: place.terms, channel: channel,
            wire: .http1(NIOLoopBound(handler, eventLoop: channel.eventLoop)), capacity: 1, opening: metrics,
            maximumAge: configuration.pool.maximumAge, lateFailure: lateFailure,
            observer: configuration.connectionObserver)
        // Before the closure, which runs at once if the channel has closed, and tells the owner of the end.
        handler.adopt(connection)
        channel.closeFuture.assumeIsolated().whenComplete { _ in handler.connectionEnded() }
        // Only reading detects the end of an idle connection.
        channel.read()
        return connection
    }
}

extension TransportMetrics {
    mutating func record(_ info: TLSSessionInfo, since start: ContinuousClock.Instant) {
        tlsHandshake = Span(start: start, end: .now)
        tlsVersion = info.version
        tlsCipher = info.cipher
        isResumedTLSSession = info.isResumed
        isKeyLogged = info.isKeyLogged
        isPinned = info.trust?.isPinned ?? false
        isTrustVerified = info.trust.map { ($0.isAnchored || $0.isPinned) && $0.isHostValidated } ?? false
        verifiedPins = info.trust?.pins.map(\.description) ?? []
    }
}
