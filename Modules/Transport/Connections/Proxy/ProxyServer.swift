internal import LinnetMessages
internal import NIOCore
internal import Synchronization

/// A transport's proxy, with the state of its authentication.
///
/// A reference type, since each key of the pool has one.
final class ProxyServer: Sendable, Hashable {
    let proxy: Proxy
    let authenticator: ProxyAuthenticator

    init(_ proxy: Proxy) {
        self.proxy = proxy
        authenticator = ProxyAuthenticator(proxy)
    }

    static func == (left: ProxyServer, right: ProxyServer) -> Bool { left === right || left.proxy == right.proxy }

    func hash(into hasher: inout Hasher) { proxy.hash(into: &hasher) }

    /// Whether requests to the origin are sent to the proxy in absolute form (RFC 9112, 3.2.2), and not through a
    /// tunnel.
    func forwards(to origin: Origin, _ versions: HTTPVersions) -> Bool {
        proxy.kind.isHTTP && !origin.isSecure && versions != .http2
    }
}

/// Chooses the proxies of a transport, and makes each of them once.
final class ProxyDirectory: Sendable {
    private enum Choice: Sendable {
        case rules(ProxyRules)
        case function(@Sendable (Origin) async throws -> Proxy?)
    }

    /// The proxies that are remembered. A function could return another one each time.
    private static let most = 256

    private let choice: Choice
    private let servers = Mutex<[Proxy: ProxyServer]>([:])

    /// Nil if all connections are direct.
    init?(_ policy: ProxyPolicy, environment: @autoclosure () -> [String: String]) throws(TransportError) {
        switch policy.form {
        case .none: return nil
        case .fixed(let rules): choice = .rules(rules)
        case .environment: choice = .rules(try ProxyRules(environment: environment()))
        case .chosen(let choose): choice = .function(choose)
        }
        if case .rules(let rules) = choice, rules.http == nil, rules.https == nil { return nil }
    }

    /// Whether choosing asks a function.
    var asksFunction: Bool { if case .function = choice { true } else { false } }

    /// The proxy by the rules; nil for a direct connection, and if a function chooses.
    func server(byRulesFor origin: Origin) -> ProxyServer? {
        guard case .rules(let rules) = choice else { return nil }
        return rules.proxy(for: origin).map(server)
    }

    /// The proxy for a request; nil for a direct connection. A function is cancelled at the deadline.
    func server(for origin: Origin, until deadline: NIODeadline?) async throws(TransportError) -> ProxyServer? {
        guard case .function(let choose) = choice else { return server(byRulesFor: origin) }
        guard let deadline, deadline < .distantFuture else { return try await ask(choose, origin) }
        let result = await withTaskGroup(
            of: Result<ProxyServer?, TransportError>?.self, returning: Result<ProxyServer?, TransportError>.self
        ) { group in
            group.addTask {
                do throws(TransportError) {
                    return .success(try await self.ask(choose, origin))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await Task.sleep(for: .nanoseconds((deadline - NIODeadline.now()).nanoseconds))
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            if let first { return first }
            // The timer ended first: at the deadline, or because the caller has cancelled.
            let last = await group.next() ?? nil
            guard let last, Task.isCancelled else { return .failure(.requestTimeout) }
            return last
        }
        return try result.get()
    }

    private func ask(
        _ choose: @escaping @Sendable (Origin) async throws -> Proxy?, _ origin: Origin
    ) async throws(TransportError) -> ProxyServer? {
        do {
            return try await untilCancelled { try await choose(origin) }.map(server)
        } catch {
            if Task.isCancelled { throw .readerCancelled }
            throw TransportError(
                .proxyConnectionFailed,
                "No proxy could be chosen for \(origin.endpoint): \(TransportError.cause(error))", underlying: error,
                endpoint: origin.endpoint)
        }
    }

    private func server(_ proxy: Proxy) -> ProxyServer {
        servers.withLock { servers in
            if let known = servers[proxy] { return known }
            // A proxy that is made anew equals the former one in keys of the pool, and only has to be challenged again.
            if servers.count >= Self.most { servers = [:] }
            let server = ProxyServer(proxy)
            servers[proxy] = server
            return server
        }
    }
}
