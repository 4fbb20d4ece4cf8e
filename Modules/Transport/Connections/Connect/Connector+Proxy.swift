internal import LinnetMessages
internal import LinnetSecurity
internal import NIOCore

// Connecting to an origin through a proxy: the socket, TLS to the proxy, and its handshake, each within the connect
// timeout.
extension Connector {
    /// Connects to an origin through a proxy. A challenge of the proxy is answered on another connection.
    func connect(
        to origin: Origin, through server: ProxyServer, _ opening: Opening,
        after challenges: ProxyChallenges = ProxyChallenges()
    ) -> EventLoopFuture<OpenSocket> {
        let proxy = server.proxy
        return target(origin, for: proxy, opening).flatMap { target in
            self.openSocket(to: proxy.server, opening)
                .flatMapErrorThrowing { throw TransportError(TransportError(translating: $0), reaching: proxy) }
                .flatMap { self.openTLS(to: proxy, $0, opening) }
                .flatMap { self.shakeHands(with: server, for: origin, at: target, $0, opening) }
        }.flatMapError { error in
            guard let failure = (error as? ProxyHandshakeError)?.failure else {
                return opening.eventLoop.makeFailedFuture(error)
            }
            if case .authentication(let values, after: let sent) = failure {
                let reply = server.authenticator.challenged(values, after: sent)
                var challenges = challenges
                if reply != .refusal, challenges.mayAnswer(reply) {
                    return self.connect(to: origin, through: server, opening, after: challenges)
                }
            }
            return opening.eventLoop.makeFailedFuture(TransportError(failure, of: proxy))
        }
    }

    // MARK: TLS to the proxy

    private func openTLS(
        to proxy: Proxy, _ socket: OpenSocket, _ opening: Opening
    ) -> EventLoopFuture<OpenSocket> {
        guard proxy.kind == .https else { return opening.eventLoop.makeSucceededFuture(socket) }
        // Sessions of a proxy are not resumed, since their key does not say that they are a proxy's.
        return startTLS(
            on: socket.channel, with: proxy.server, policy: proxy.securityPolicy, until: opening.end,
            .proxyTimeout(proxy)
        ) { serverName, promise, judge in
            TLSHandler(
                self.tls, serverName: serverName, applicationProtocols: HTTPVersions.http1.applicationProtocols,
                promise: promise, judge: judge)
        }
        .flatMapErrorThrowing { throw TransportError(TransportError(translating: $0), reaching: proxy) }
        .map { _ in socket }
    }

    // MARK: The handshake

    private func shakeHands(
        with server: ProxyServer, for origin: Origin, at target: ProxyTarget, _ socket: OpenSocket, _ opening: Opening
    ) -> EventLoopFuture<OpenSocket> {
        guard !opening.forwards else {
            return opening.eventLoop.makeSucceededFuture(socket)
        }
        let promise = opening.eventLoop.makePromise(of: Void.self)
        guard let handshake = handshake(with: server, for: origin, at: target) else {
            socket.channel.close(promise: nil)
            promise.fail(
                ProxyHandshakeError(failure: .refused(Proxy.Refusal("SOCKS 4 has no IPv6 addresses; use socks5"))))
            return promise.futureResult.map { socket }
        }
        do {
            try socket.channel.pipeline.syncOperations.addHandler(
                ProxyHandshakeHandler(handshake, with: server.proxy, until: opening.end, promise: promise))
        } catch {
            promise.fail(error)
        }
        return promise.futureResult.map {
            var socket = socket
            socket.connected = .now
            socket.metrics.connect = socket.metrics.connect.map { .init(start: $0.start, end: socket.connected) }
            return socket
        }
    }

    private func handshake(
        with server: ProxyServer, for origin: Origin, at target: ProxyTarget
    ) -> (any ProxyHandshake)? {
        let proxy = server.proxy
        switch proxy.kind {
        case .http, .https:
            let uri = TunnelHandshake.target(origin)
            let answer = server.authenticator.answer(method: "CONNECT", uri: uri)
            return TunnelHandshake(
                to: origin, answer: answer, limits: configuration.limits
            ) { server.authenticator.isProven(by: $0, after: answer) }
        case .socks4a: return SOCKS4Handshake(to: target, username: proxy.username)
        default: return SOCKS5Handshake(to: target, through: proxy)
        }
    }

    // MARK: Names

    /// The destination for the proxy: the origin's name, or its first address for a kind of proxy with resolution on
    /// this side.
    private func target(
        _ origin: Origin, for proxy: Proxy, _ opening: Opening
    ) -> EventLoopFuture<ProxyTarget> {
        let target = ProxyTarget(origin)
        guard proxy.kind == .socks5, case .name = target.host else {
            return opening.eventLoop.makeSucceededFuture(target)
        }
        let promise = opening.eventLoop.makePromise(of: ProxyTarget.self)
        let timeout = TransportError(
            .connectTimeout, "The addresses of \(origin.host) were not found in time.", endpoint: origin.endpoint)
        let timer = opening.end.map { end in
            opening.eventLoop.scheduleTask(deadline: end) { promise.fail(timeout) }
        }
        promise.futureResult.whenComplete { _ in timer?.cancel() }
        let complete: @Sendable (NameAnswer) -> Void = { answer in
            opening.eventLoop.execute { promise.completeWith(answer.target(port: origin.port)) }
        }
        switch names.lookUp(origin.host, waiter: complete) {
        case .answered(let answer): complete(answer)
        case .waiting(let ticket):
            promise.futureResult.whenFailure { [names] _ in names.cancel(ticket) }
            opening.attempt.adopt { promise.fail(TransportError.lookupCancelled) }
        }
        return promise.futureResult
    }
}

extension NameAnswer {
    /// The first address, for a proxy.
    fileprivate func target(port: Int) -> Result<ProxyTarget, any Error> {
        switch self {
        case .addresses(let addresses):
            guard let target = addresses.lazy.compactMap({ ProxyTarget($0, port: port) }).first else {
                return .failure(TransportError(.nameResolutionFailed, "The host has no IP address."))
            }
            return .success(target)
        case .unknown(let error), .failed(let error): return .failure(error)
        }
    }
}
