internal import Glibc

/// Looks up the addresses of a host.
struct HostResolver: Sendable {
    typealias Result = [NetworkDestination]?

    /// Returns the addresses in the order of preference; nil if the name has none or the look-up failed. May block.
    let look: @Sendable (_ host: String, _ port: UInt16) -> Result

    /// The system's resolver, with its files, services and order (RFC 6724).
    static let system = HostResolver { host, port in
        let addresses = SocketAddress.resolve(host, port)
        return addresses.isEmpty ? nil : addresses.prefix(mostAddresses).compactMap(\.destination)
    }

    /// The limit of addresses. A name can have many, and each costs a look-up of its route.
    private static let mostAddresses = 16
}

/// An address and a port of the socket interface.
struct SocketAddress: Sendable {
    /// The bytes of a `sockaddr_in` or `sockaddr_in6`.
    var bytes: [UInt8]

    var family: Int32 { Int32(bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt16.self) }) }

    /// The addresses of a host, from `getaddrinfo`; none when it fails.
    static func resolve(_ host: String, _ port: UInt16) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            if let address = entry.ai_addr {
                addresses.append(
                    SocketAddress(bytes: Array(UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen)))))
            }
            next = entry.ai_next
        }
        return addresses
    }

    /// The address for port 9 (discard), to which nothing is sent.
    init(_ destination: NetworkDestination, interface: Int32) {
        func raw(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
        let head = raw(UInt16(destination.family.number)) + raw(UInt16(9).bigEndian)
        switch destination.family {
        case .ipv4: bytes = head + destination.bytes + [UInt8](repeating: 0, count: 8)
        case .ipv6: bytes = head + raw(UInt32(0)) + destination.bytes + raw(interface)
        }
    }

    init(bytes: [UInt8]) { self.bytes = bytes }

    var destination: NetworkDestination? {
        switch (family, bytes.count) {
        case (AF_INET, 16...): return NetworkDestination(family: .ipv4, bytes: Array(bytes[4..<8]))
        case (AF_INET6, 28...):
            let scope = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 24, as: Int32.self) }
            return NetworkDestination(
                family: .ipv6, bytes: Array(bytes[8..<24]), zone: scope == 0 ? nil : .index(scope))
        default: return nil
        }
    }

    func withPointer<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value? {
        bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { body($0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) }
        }
    }
}
