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

/// Asks `getaddrinfo` for one name, on a thread pool: a slow name server holds up neither an event loop nor another
/// look-up. Both families are asked for in one call.
final class SystemResolver: Resolver, Sendable {
    private let v4: EventLoopPromise<[SocketAddress]>
    private let v6: EventLoopPromise<[SocketAddress]>
    private let times = Mutex<TransportMetrics.Span?>(nil)

    init(on eventLoop: any EventLoop) {
        v4 = eventLoop.makePromise()
        v6 = eventLoop.makePromise()
    }

    /// When the look-up ran, once it is over.
    var span: TransportMetrics.Span? { times.withLock { $0 } }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        v4.futureResult
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        let start = ContinuousClock.now
        NIOThreadPool.singleton.submit { [self] _ in
            let result = Result { try Self.resolve(host: host, port: port) }
            times.withLock { $0 = TransportMetrics.Span(start: start, end: .now) }
            v6.completeWith(result.map { $0.filter { $0.protocol == .inet6 } })
            v4.completeWith(result.map { $0.filter { $0.protocol == .inet } })
        }
        return v6.futureResult
    }

    func cancelQueries() {
        // getaddrinfo cannot be called back; whoever asked has stopped waiting.
    }

    private static func resolve(host: String, port: Int) throws -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        hints.ai_protocol = Int32(IPPROTO_TCP)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else {
            throw TransportError(
                .nameResolutionFailed, "\"\(host)\" has no address: \(String(cString: gai_strerror(status))).")
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = list
        while let info = entry?.pointee {
            if let address = info.ai_addr {
                if info.ai_family == AF_INET {
                    addresses.append(
                        address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                            SocketAddress($0.pointee, host: host)
                        })
                } else if info.ai_family == AF_INET6 {
                    addresses.append(
                        address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                            SocketAddress($0.pointee, host: host)
                        })
                }
            }
            entry = info.ai_next
        }
        return addresses
    }
}
