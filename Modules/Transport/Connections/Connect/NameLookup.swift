internal import NIOCore
internal import NIOPosix
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A connection's lookup in the form of NIO's happy eyeballs (RFC 8305), which asks for each address family.
///
/// One answer contains both families. The order is changed only if some addresses were tried before, and a local
/// address removes the addresses of the other family.
final class NameLookup: Resolver, Sendable {
    private struct State {
        var span: TransportMetrics.Span?
        /// The place among the waiters for the answer.
        var ticket: NameCache.Ticket?
        var isCancelled = false
    }

    private let names: NameCache
    private let tried: [SocketAddress]
    private let local: SocketAddress?
    private let v4: EventLoopPromise<[SocketAddress]>
    private let v6: EventLoopPromise<[SocketAddress]>
    private let state = Mutex(State())

    /// - Parameters:
    ///   - tried: Addresses to try last, since connections to them failed before.
    ///   - local: The local address of the connection; nil for any.
    init(
        _ names: NameCache, tried: [SocketAddress] = [], boundTo local: SocketAddress? = nil,
        on eventLoop: any EventLoop
    ) {
        self.names = names
        self.tried = tried
        self.local = local
        v4 = eventLoop.makePromise()
        v6 = eventLoop.makePromise()
    }

    /// When the lookup ran, once it is over; nil if the answer was cached.
    var span: TransportMetrics.Span? { state.withLock { $0.span } }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        // The query for IPv6 starts the lookup, whose answer has both families.
        v4.futureResult
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        let start = ContinuousClock.now
        let lookup = names.lookUp(host) { [self] answer in
            state.withLock { $0.span = TransportMetrics.Span(start: start, end: .now) }
            complete(answer.limited(to: local, host), port)
        }
        switch lookup {
        case .answered(let answer):
            complete(answer.limited(to: local, host), port)
        case .waiting(let ticket):
            let isCancelled = state.withLock { state in
                state.ticket = ticket
                return state.isCancelled
            }
            if isCancelled { names.cancel(ticket) }
        }
        return v6.futureResult
    }

    /// Stops waiting for the answer, and fails both queries unless they have one. `getaddrinfo` cannot be cancelled,
    /// but a lookup that has not begun, and has no other waiter, is never made.
    func cancelQueries() {
        let ticket = state.withLock { state in
            state.isCancelled = true
            return state.ticket
        }
        if let ticket { names.cancel(ticket) }
        v6.fail(TransportError.lookupCancelled)
        v4.fail(TransportError.lookupCancelled)
    }

    private func complete(_ answer: NameAnswer, _ port: Int) {
        guard tried.isEmpty else { return complete(ordered: answer, port) }
        // IPv6 first: after an answer for IPv4 alone, NIO would wait for the other one (RFC 8305, 3).
        v6.completeWith(answer.addresses(.inet6, port: port))
        v4.completeWith(answer.addresses(.inet, port: port))
    }

    /// Completes both families with one list in the order in which to try it.
    private func complete(ordered answer: NameAnswer, _ port: Int) {
        switch (answer.addresses(.inet6, port: port), answer.addresses(.inet, port: port)) {
        case (.success(let first), .success(let second)):
            let all = Self.alternating(first, second)
            v6.succeed(all.filter { !tried.contains($0) } + all.filter { tried.contains($0) })
            v4.succeed([])
        case (.failure(let error), _), (_, .failure(let error)):
            v6.fail(error)
            v4.fail(error)
        }
    }

    /// Alternates families as happy eyeballs does (RFC 8305, 4).
    private static func alternating(_ first: [SocketAddress], _ second: [SocketAddress]) -> [SocketAddress] {
        var addresses: [SocketAddress] = []
        for index in 0..<max(first.count, second.count) {
            if index < first.count { addresses.append(first[index]) }
            if index < second.count { addresses.append(second[index]) }
        }
        return addresses
    }
}

extension TransportError {
    static var lookupCancelled: TransportError {
        TransportError(.cancelled, "The lookup of the name was cancelled.")
    }
}

/// The result of resolving a name.
enum NameAnswer: Sendable {
    /// The addresses without ports, in the order in which to try them.
    case addresses([SocketAddress])
    /// The name has no address.
    case unknown(TransportError)
    /// The lookup failed.
    case failed(TransportError)

    /// The addresses of the family of a local address; a failure if there are none.
    fileprivate func limited(to local: SocketAddress?, _ host: String) -> NameAnswer {
        guard let local, case .addresses(let all) = self else { return self }
        let usable = all.filter { $0.protocol == local.protocol }
        return usable.isEmpty ? .failed(.otherFamily("\"\(host)\"", local)) : .addresses(usable)
    }

    /// The addresses of one family, with a port.
    func addresses(_ family: NIOBSDSocket.ProtocolFamily, port: Int) -> Result<[SocketAddress], any Error> {
        switch self {
        case .addresses(let addresses):
            return .success(
                addresses.filter { $0.protocol == family }.map { address in
                    var address = address
                    address.port = port
                    return address
                })
        case .unknown(let error), .failed(let error):
            return .failure(error)
        }
    }
}

/// Resolves names with `getaddrinfo`, which reads `/etc/hosts` and queries name servers.
enum SystemResolver {
    /// Resolves both address families in the order of RFC 6724. Blocks.
    static func lookUp(_ host: String) -> NameAnswer {
        if let refusal = LoopbackConfinement.refusal(ofLookingUp: host) { return .failed(refusal) }
        // C strings end at a null byte, so another name would be resolved.
        guard !host.utf8.contains(0) else {
            return .unknown(TransportError(.nameResolutionFailed, "The host name contains a null byte."))
        }
        var hints = addrinfo()
        // Without the type of the socket, each address would come once for each type.
        hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        hints.ai_protocol = Int32(IPPROTO_TCP)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else { return failure(host, status) }
        defer { freeaddrinfo(list) }
        let addresses = sequence(first: list, next: { $0?.pointee.ai_next }).prefix { $0 != nil }
            .compactMap { $0?.pointee }.compactMap(address)
        guard !addresses.isEmpty else { return failure(host, EAI_NONAME) }
        return .addresses(addresses)
    }

    private static func address(_ info: addrinfo) -> SocketAddress? {
        guard let address = info.ai_addr else { return nil }
        return switch info.ai_family {
        case AF_INET:
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) }
        case AF_INET6:
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee) }
        default:
            nil
        }
    }

    private static func failure(_ host: String, _ status: Int32) -> NameAnswer {
        let error = TransportError(
            .nameResolutionFailed, "\"\(host)\" has no address: \(String(cString: gai_strerror(status))).")
        return status == EAI_NONAME ? .unknown(error) : .failed(error)
    }
}
