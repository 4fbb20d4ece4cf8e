internal import NIOCore
internal import NIOPosix

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The system's own way to look up names: `getaddrinfo`, which reads `/etc/hosts` and asks name servers.
enum SystemResolver {
    /// Threads for look-ups alone: one may stand still for as long as a name server does not answer, and neither an event
    /// loop nor the judging of a chain may wait for it.
    static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 4)
        threads.start()
        return threads
    }()

    /// Both families in one call, in the order of RFC 6724. Blocks.
    static func lookUp(_ host: String) -> NameAnswer {
        // C would read the name up to there alone, and look up another.
        guard !host.utf8.contains(0) else {
            return .unknown(TransportError(.nameResolutionFailed, "The host's name has a null byte in it."))
        }
        var hints = addrinfo()
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
