internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The addresses of names: given by the configuration, remembered, or asked for, one question a name at a time.
final class NameCache: Sendable {
    typealias Waiter = @Sendable (NameAnswer) -> Void

    private let overrides: [String: NameAnswer]
    private let machine: Mutex<NameCacheMachine<Waiter>>
    private let resolve: @Sendable (String) -> NameAnswer

    /// Fails with ``TransportError/Code/invalidConfiguration`` for a lifetime below 0, and for an override that names no
    /// host or gives no IP address.
    init(
        _ options: ResolutionOptions, resolve: @escaping @Sendable (String) -> NameAnswer = SystemResolver.lookUp
    ) throws(TransportError) {
        guard options.cacheLifetime >= .zero else {
            throw TransportError(.invalidConfiguration, "The lifetime of resolved names is below 0.")
        }
        var overrides: [String: NameAnswer] = [:]
        for (name, addresses) in options.hostOverrides {
            let addresses = try Self.addresses(addresses, of: name)
            guard overrides.updateValue(.addresses(addresses), forKey: Self.withoutDot(Self.key(name))) == nil else {
                throw TransportError(.invalidConfiguration, "There are two overrides for the host \"\(name)\".")
            }
        }
        self.overrides = overrides
        self.resolve = resolve
        machine = Mutex(NameCacheMachine(lifetime: min(options.cacheLifetime, .seconds(24 * 60 * 60))))
    }

    /// What is known of a name; nil when it has to be asked for, and `waiter` will be told, on another thread.
    func lookUp(_ host: String, waiter: @escaping Waiter) -> NameAnswer? {
        let name = Self.key(host)
        if !overrides.isEmpty, let answer = overrides[Self.withoutDot(name)] { return answer }
        switch machine.withLock({ $0.lookUp(name, waiter: waiter, now: .now) }) {
        case .answer(let answer):
            return answer
        case .wait:
            return nil
        case .ask(let query):
            SystemResolver.threads.submit { [self] _ in
                let answer = resolve(host)
                let waiters = machine.withLock { $0.answered(query, answer, now: .now) }
                for waiter in waiters { waiter(answer) }
            }
            return nil
        }
    }

    /// Forgets a name's addresses, since they were of no use.
    func forget(_ host: String) {
        machine.withLock { $0.forget(Self.key(host)) }
    }

    /// Forgets all addresses that were asked for; look-ups that are under way do not count as answers any more.
    func clear() {
        machine.withLock { $0.clear() }
    }

    /// Names in lower case. One with a dot at its end is another for the system, which then tries no search domains.
    private static func key(_ host: String) -> String {
        host.utf8.contains { (65...90).contains($0) } ? host.lowercased() : host
    }

    private static func withoutDot(_ name: String) -> String {
        name.utf8.last == UInt8(ascii: ".") ? String(name.dropLast()) : name
    }

    private static func addresses(_ texts: [String], of name: String) throws(TransportError) -> [SocketAddress] {
        guard !name.isEmpty, (try? SocketAddress(ipAddress: name, port: 0)) == nil else {
            throw TransportError(.invalidConfiguration, "\"\(name)\" is no host name, which an override needs.")
        }
        guard !texts.isEmpty else {
            throw TransportError(.invalidConfiguration, "The override for \"\(name)\" has no address.")
        }
        var addresses: [SocketAddress] = []
        for text in texts {
            guard let address = try? SocketAddress(ipAddress: text, port: 0) else {
                throw TransportError(
                    .invalidConfiguration, "The override for \"\(name)\": \"\(text)\" is no IP address.")
            }
            addresses.append(address)
        }
        return addresses
    }
}
