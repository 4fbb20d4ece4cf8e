internal import FoundationEssentials
internal import LinnetSecurity
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Opens connections: name, TCP (happy eyeballs, RFC 8305), TLS with its verdict, HTTP.
final class Connector: Sendable {
    /// What a connection tells its pool; called on the connection's event loop.
    struct Owner: Sendable {
        /// One more exchange has room on it.
        var placeFreed: @Sendable (HTTPConnection) -> Void
        /// Another number of exchanges has room on it at a time; with none, the next one waits.
        var capacityChanged: @Sendable (HTTPConnection, Int) -> Void
        /// It takes no more exchanges, and closes after the last.
        var isRetiring: @Sendable (HTTPConnection) -> Void
        /// It is gone.
        var closed: @Sendable (HTTPConnection) -> Void
    }

    /// What a connection is to be, and whose.
    private struct Place: Sendable {
        let id: UInt64
        let key: PoolKey
        let shard: PoolShard
        let terms: ConnectionTerms
        let owner: Owner
    }

    private let group: any EventLoopGroup
    private let tls: TLSClientContext
    private let names: NameCache
    private let configuration: TransportConfiguration
    private let windows: HTTP2WindowBudget
    /// Origins whose servers have asked for HTTP/1.1.
    /// The origins whose servers require HTTP/1.1 (RFC 9113, 7: HTTP_1_1_REQUIRED).
    private let http1Origins = OriginMemory<Bool>()
    /// How many streams the servers allowed last (RFC 9113, 5.1.2): a new connection's first requests go out before its server
    /// says so, and those beyond the limit would be refused.
    private let streamLimits = OriginMemory<Int>()

    init(_ configuration: TransportConfiguration, group: any EventLoopGroup) throws(TransportError) {
        self.configuration = configuration
        self.group = group
        windows = HTTP2WindowBudget(ofTransport: configuration.http2)
        tls = try TLSClientContext(
            configuration.tls, applicationProtocols: configuration.httpVersions.applicationProtocols)
        try tls.require(configuration.clientIdentities)
        names = try NameCache(configuration.resolution)
    }

    /// From now on every name is looked up again.
    func clearResolvedNames() {
        names.clear()
    }

    /// Fails when OpenSSL would refuse to show one of these.
    func require(_ identities: ClientIdentityPolicy) throws(TransportError) {
        try tls.require(identities)
    }

    /// From now on no TLS session is resumed that was opened before.
    func forgetTLSSessions() {
        tls.sessions?.removeAll()
    }

    /// A loop for timers.
    var eventLoop: any EventLoop { group.any() }

    /// All loops on which connections may live.
    var eventLoops: [any EventLoop] { Array(group.makeIterator()) }

    /// What can be told of an origin's connections before there is one.
    func multiplexing(_ origin: Origin) -> PoolStateMachine<PoolKey>.Multiplexing {
        switch configuration.httpVersions {
        case .http1: .never
        case .http2: .possible
        case .automatic: origin.isSecure && http1Origins.value(for: origin, .now()) == nil ? .possible : .never
        }
    }

    func connect(
        _ series: ConnectSeries, id: UInt64, on shard: PoolShard, terms: ConnectionTerms, attempt: ConnectAttempt,
        owner: Owner
    ) -> EventLoopFuture<HTTPConnection> {
        let (key, timeouts, eventLoop) = (series.key, series.timeouts, shard.eventLoop)
        let address = try? SocketAddress(ipAddress: key.origin.host, port: key.origin.port)
        let resolver = address == nil ? NameLookup(names, tried: series.tried, on: eventLoop) : nil
        let start = ContinuousClock.now
        let place = Place(id: id, key: key, shard: shard, terms: terms, owner: owner)
        let bootstrap = ClientBootstrap(group: eventLoop)
            .channelOption(.autoRead, value: false)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connectTimeout(series.connectTimeout(at: .now()))
            .resolver(resolver)
            .channelInitializer { channel in
                attempt.adopt(channel)
                return channel.eventLoop.makeSucceededVoidFuture()
            }
        return openSocket(key.origin, address, bootstrap)
            .flatMap { channel in
                var metrics = TransportMetrics()
                let connected = ContinuousClock.now
                metrics.connectionID = id
                metrics.nameResolution = resolver?.span
                metrics.connect = .init(start: resolver?.span?.end ?? start, end: connected)
                metrics.localAddress = channel.localAddress?.endpoint
                metrics.remoteAddress = channel.remoteAddress?.endpoint
                let opening = metrics
                attempt.connected(to: channel.remoteAddress, opening)
                guard key.origin.isSecure else {
                    let speaksHTTP2 = self.configuration.httpVersions == .http2
                    return channel.eventLoop.makeCompletedFuture {
                        try self.makeConnection(channel, place, opening, speaksHTTP2: speaksHTTP2)
                    }
                }
                let lateFailure = TLSLateFailure()
                return self.openTLS(
                    channel, key.origin, terms: terms, timeouts: timeouts, lateFailure: lateFailure
                ).flatMapThrowing { info in
                    var metrics = opening
                    metrics.record(info, since: connected)
                    let speaksHTTP2 = try self.chosesHTTP2(info, key.origin)
                    return try self.makeConnection(channel, place, metrics, lateFailure, speaksHTTP2: speaksHTTP2)
                }
            }
    }

    private func openSocket(
        _ origin: Origin, _ address: SocketAddress?, _ bootstrap: ClientBootstrap
    ) -> EventLoopFuture<any Channel> {
        let future =
            address.map { bootstrap.connect(to: $0) } ?? bootstrap.connect(host: origin.host, port: origin.port)
        return future.flatMapErrorThrowing { [names] error in
            names.forget(origin.host)
            throw TransportError(connecting: error, to: origin)
        }
    }

    private func openTLS(
        _ channel: any Channel, _ origin: Origin, terms: ConnectionTerms, timeouts: TransportTimeouts,
        lateFailure: TLSLateFailure
    ) -> EventLoopFuture<TLSSessionInfo> {
        let (policy, identities) = (terms.securityPolicy, terms.clientIdentities)
        let identity = identities.identity(for: origin.host)
        let promise = channel.eventLoop.makePromise(of: TLSSessionInfo.self)
        let isAddress = (try? SocketAddress(ipAddress: origin.host, port: 0)) != nil
        // Without the dot at its end (RFC 6066, 3).
        let name = origin.host.hasSuffix(".") ? String(origin.host.dropLast()) : origin.host
        let needsHTTP1 = configuration.httpVersions == .automatic && http1Origins.value(for: origin, .now()) != nil
        // Sessions are resumed with the protocols that they were opened with.
        let resumption =
            needsHTTP1
            ? nil : tls.resumption(host: origin.host, port: origin.port, policy: policy, identity: identity)
        let handler = TLSHandler(
            client: tls, serverName: isAddress ? nil : name,
            applicationProtocols: needsHTTP1 ? HTTPVersions.http1.applicationProtocols : tls.applicationProtocols,
            resumption: resumption, identity: identity,
            lateFailure: lateFailure, promise: promise, choose: chooser(of: identities, for: origin)
        ) { chain, staple, awaitsStaple in
            var trust = ServerTrust(
                host: origin.host, port: origin.port, presentedChain: chain, stapledOCSPResponse: staple, time: Date())
            trust.awaitsStaple = awaitsStaple
            return await policy.evaluate(trust)
        }
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        let timer = timeouts.tlsHandshake.map { timeout in
            channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
                bound.value.abort(
                    TransportError(.tlsTimeout, "The TLS handshake with \(origin.description) took too long."),
                    channel: channel)
            }
        }
        promise.futureResult.whenComplete { _ in timer?.cancel() }
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            promise.fail(error)
        }
        return promise.futureResult.flatMapErrorThrowing { error in
            channel.close(promise: nil)
            var error = TransportError(translating: error)
            error.endpoint = origin.description
            throw error
        }
    }

    /// Asks whoever chooses the client's identity; nil when that is known beforehand.
    private func chooser(of identities: ClientIdentityPolicy, for origin: Origin) -> TLSHandler.Chooser? {
        guard let choose = identities.chooser else { return nil }
        let proposed = identities.identity(for: origin.host)
        return { issuers in
            let request = ClientCertificateRequest(host: origin.host, port: origin.port, acceptableIssuers: issuers)
            do {
                return .success(try await choose(request, proposed))
            } catch {
                return .failure(error)
            }
        }
    }

    private func makeConnection(
        _ channel: any Channel, _ place: Place, _ metrics: TransportMetrics, _ lateFailure: TLSLateFailure? = nil,
        speaksHTTP2: Bool
    ) throws -> HTTPConnection {
        guard channel.isActive else { throw TransportError.staleConnection }
        var metrics = metrics
        metrics.httpVersion = speaksHTTP2 ? "h2" : "http/1.1"
        return speaksHTTP2
            ? try makeHTTP2(channel, place, metrics, lateFailure)
            : try makeHTTP1(channel, place, metrics, lateFailure)
    }

    /// What ALPN agreed on.
    private func chosesHTTP2(_ info: TLSSessionInfo, _ origin: Origin) throws(TransportError) -> Bool {
        if info.applicationProtocol == "h2" { return true }
        guard configuration.httpVersions != .http2 else {
            throw TransportError(
                .tlsHandshakeFailed, "\(origin.description) does not speak HTTP/2, which the configuration asks for.",
                endpoint: origin.description)
        }
        return false
    }

    private func makeHTTP2(
        _ channel: any Channel, _ place: Place, _ metrics: TransportMetrics, _ lateFailure: TLSLateFailure?
    ) throws -> HTTPConnection {
        let (owner, origin) = (place.owner, place.key.origin)
        let http2 = try HTTP2Connection.install(
            on: channel, configuration: configuration, windows: windows,
            assumedStreams: streamLimits.value(for: origin, .now()))
        let connection = HTTPConnection(
            id: place.id, key: place.key, shard: place.shard, terms: place.terms, channel: channel,
            wire: .http2(NIOLoopBound(http2, eventLoop: channel.eventLoop)), capacity: http2.capacity, opening: metrics,
            maximumAge: configuration.pool.maximumAge, lateFailure: lateFailure)
        http2.adopt(
            HTTP2Connection.Owner(
                streamEnded: {
                    connection.exchangeEnded()
                    owner.placeFreed(connection)
                },
                capacityChanged: {
                    self.streamLimits.remember($0, for: origin, .now())
                    owner.capacityChanged(connection, $0)
                },
                isRetiring: { owner.isRetiring(connection) },
                requiresHTTP1: { self.requiresHTTP1(origin) },
                closed: { owner.closed(connection) }))
        channel.closeFuture.assumeIsolated().whenComplete { _ in http2.connectionEnded() }
        return connection
    }

    /// A server wants HTTP/1.1 (RFC 9113, 7); false when the configuration has no choice.
    private func requiresHTTP1(_ origin: Origin) -> Bool {
        guard configuration.httpVersions == .automatic else { return false }
        http1Origins.remember(true, for: origin, .now())
        return true
    }

    private func makeHTTP1(
        _ channel: any Channel, _ place: Place, _ metrics: TransportMetrics, _ lateFailure: TLSLateFailure?
    ) throws -> HTTPConnection {
        let handler = HTTP1Handler(limits: configuration.limits, continueTimeout: configuration.continueTimeout)
        try channel.pipeline.syncOperations.addHandler(handler)
        // Small while responses are small: the buffers grow with what is read at a time. What TLS has to decipher is best
        // read in pieces that stay in the processor's cache.
        let most = place.key.origin.isSecure ? 65_536 : 1_048_576
        try channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1_024, initial: 2_048, maximum: most))
        let owner = place.owner
        let connection = HTTPConnection(
            id: place.id, key: place.key, shard: place.shard, terms: place.terms, channel: channel,
            wire: .http1(NIOLoopBound(handler, eventLoop: channel.eventLoop)), capacity: 1, opening: metrics,
            maximumAge: configuration.pool.maximumAge, lateFailure: lateFailure)
        handler.adopt(
            HTTP1Handler.Owner(
                becameIdle: {
                    connection.exchangeEnded()
                    owner.placeFreed(connection)
                },
                closed: { owner.closed(connection) }))
        channel.closeFuture.assumeIsolated().whenComplete { _ in handler.connectionEnded() }
        // The end of an idle connection is noticed by reading alone.
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
        verifiedPins = info.trust?.pins.map(\.description) ?? []
    }
}

extension SocketAddress {
    /// Address and port, as they go into a URL.
    var endpoint: String? {
        guard let ipAddress, let port else { return nil }
        return ipAddress.utf8.contains(UInt8(ascii: ":")) ? "[\(ipAddress)]:\(port)" : "\(ipAddress):\(port)"
    }
}
