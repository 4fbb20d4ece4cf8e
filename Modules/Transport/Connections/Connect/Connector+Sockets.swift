internal import LinnetMessages
internal import NIOCore
internal import NIOPosix

// Opening sockets, over the network and in the file system.
extension Connector {
    /// Connects to a server over the network: the origin, or a proxy.
    func openSocket(to server: Origin, _ opening: Opening) -> EventLoopFuture<OpenSocket> {
        let address = try? SocketAddress(ipAddress: server.host, port: server.port)
        if let address, let local = binding.address, !binding.allows(address) {
            var error = TransportError.otherFamily(server.endpoint, local)
            error.endpoint = server.endpoint
            return opening.eventLoop.makeFailedFuture(error)
        }
        let resolver =
            address == nil
            ? NameLookup(names, tried: opening.series.tried, boundTo: binding.address, on: opening.eventLoop) : nil
        if let resolver { opening.attempt.adopt { resolver.cancelQueries() } }
        let start = ContinuousClock.now
        // Nagle's algorithm would hold back the end of a request until the server acknowledges the bytes before it.
        let bootstrap = bootstrap(opening, binding).channelOption(.tcpOption(.tcp_nodelay), value: 1).resolver(resolver)
        let future =
            address.map { bootstrap.connect(to: $0) } ?? bootstrap.connect(host: server.host, port: server.port)
        return future.flatMapErrorThrowing { [names] error in
            // The cached addresses may be outdated.
            names.forget(server.host)
            throw TransportError(connecting: error, to: server)
        }.map { channel in
            let address = opening.attempt.remoteAddress(of: channel)
            var metrics = TransportMetrics()
            metrics.nameResolution = resolver?.span
            metrics.localAddress = channel.localAddress?.endpoint
            metrics.remoteAddress = address?.endpoint
            metrics.proxy = opening.series.key.proxy?.proxy.description
            return self.opened(channel, at: address, since: resolver?.span?.end ?? start, metrics, opening)
        }
    }

    /// Connects to the unix socket of an origin.
    func openSocket(
        at place: UnixSockets.Place, of server: Origin, _ opening: Opening
    ) -> EventLoopFuture<OpenSocket> {
        let start = ContinuousClock.now
        return bootstrap(opening).connect(to: place.address).flatMapErrorThrowing { error in
            throw TransportError(connecting: error, to: place, of: server)
        }.map { channel in
            var metrics = TransportMetrics()
            metrics.remoteAddress = "unix:" + place.path
            return self.opened(channel, at: place.address, since: start, metrics, opening)
        }
    }

    private func bootstrap(_ opening: Opening, _ binding: SocketBinding? = nil) -> ClientBootstrap {
        let (attempt, key) = (opening.attempt, opening.series.key)
        return ClientBootstrap(group: opening.eventLoop)
            // The handlers ask for each read, so that a slow reader slows down the server.
            .channelOption(.autoRead, value: false)
            .connectTimeout(opening.series.connectTimeout(at: .now()))
            .channelInitializer { channel in
                attempt.adopt(channel)
                do {
                    try channel.pipeline.syncOperations.addHandler(ConnectAddressHandler(attempt, for: key))
                } catch {
                    return channel.eventLoop.makeFailedFuture(error)
                }
                return binding?.bind(channel) ?? channel.eventLoop.makeSucceededVoidFuture()
            }
    }

    private func opened(
        _ channel: any Channel, at address: SocketAddress?, since start: ContinuousClock.Instant,
        _ metrics: TransportMetrics, _ opening: Opening
    ) -> OpenSocket {
        var metrics = metrics
        let connected = ContinuousClock.now
        metrics.connectionID = opening.id
        metrics.connect = .init(start: start, end: connected)
        opening.attempt.connected(to: address, metrics)
        return OpenSocket(channel: channel, metrics: metrics, connected: connected)
    }
}

extension SocketAddress {
    /// The address and port as in a URL; nil if it is not an IP address.
    fileprivate var endpoint: String? {
        guard let ipAddress, let port else { return nil }
        return ipAddress.utf8.contains(UInt8(ascii: ":")) ? "[\(ipAddress)]:\(port)" : "\(ipAddress):\(port)"
    }
}
