internal import NIOCore
internal import NIOPosix

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The local address and the interface that sockets are bound to before they connect.
struct SocketBinding: Sendable {
    /// The name of an interface in the form for `setsockopt`: IFNAMSIZ bytes, the last one null.
    private struct InterfaceName: Sendable {
        private(set) var bytes: (UInt64, UInt64) = (0, 0)

        /// Fails unless the name is valid on Linux and has from 1 to 15 bytes.
        init?(_ name: String) {
            let isValid = name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
            guard 1..<16 ~= name.utf8.count, isValid, name != ".", name != ".." else { return nil }
            withUnsafeMutableBytes(of: &bytes) { $0.copyBytes(from: name.utf8) }
        }
    }

    /// The local address, without a port.
    let address: SocketAddress?
    private let interface: String?
    private let interfaceName: InterfaceName?

    /// - Throws: ``TransportError/Code/invalidConfiguration`` for an invalid IP address or name of an interface.
    init(_ options: TransportConfiguration.Resolution) throws(TransportError) {
        address = try options.localAddress.map { text throws(TransportError) in
            // C strings end at a null byte.
            guard !text.utf8.contains(0), let address = try? SocketAddress(ipAddress: text, port: 0) else {
                throw TransportError(
                    .invalidConfiguration, "The local address \(text.debugDescription) is not an IP address.")
            }
            return address
        }
        interface = options.networkInterface
        interfaceName = try interface.map { text throws(TransportError) in
            guard let name = InterfaceName(text) else {
                throw TransportError(
                    .invalidConfiguration, "\(text.debugDescription) is not the name of a network interface.")
            }
            return name
        }
    }

    /// Whether connections to an address can be bound.
    func allows(_ server: SocketAddress) -> Bool {
        address.map { $0.protocol == server.protocol } ?? true
    }

    /// Binds the socket of a channel that is not connected yet.
    func bind(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard address != nil || interfaceName != nil else { return channel.eventLoop.makeSucceededVoidFuture() }
        return bindToInterface(channel).flatMap { self.bindToAddress(channel) }
    }

    private func bindToInterface(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let interface, let name = interfaceName else { return channel.eventLoop.makeSucceededVoidFuture() }
        #if os(Linux)
        guard let options = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        return options.unsafeSetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_BINDTODEVICE), value: name.bytes
        ).flatMapErrorThrowing { throw TransportError(binding: $0, to: "the interface \(interface)") }
        #else
        return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        #endif
    }

    private func bindToAddress(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let address else { return channel.eventLoop.makeSucceededVoidFuture() }
        return choosingPortLater(channel).flatMap { channel.bind(to: address) }
            .flatMapErrorThrowing {
                throw TransportError(binding: $0, to: "the local address \(address.ipAddress ?? "")")
            }
    }

    /// Has the port chosen when the socket connects, so that many connections to different servers can share one
    /// (`ip(7)`).
    private func choosingPortLater(_ channel: any Channel) -> EventLoopFuture<Void> {
        #if os(Linux)
        let option = ChannelOptions.Types.SocketOption(
            level: .ip, name: NIOBSDSocket.Option(rawValue: IP_BIND_ADDRESS_NO_PORT))
        // Without it, there are only fewer ports.
        return channel.setOption(option, value: 1).flatMapErrorThrowing { _ in }
        #else
        return channel.eventLoop.makeSucceededVoidFuture()
        #endif
    }
}

extension TransportError {
    /// Translates an error from binding a socket.
    fileprivate init(binding error: any Error, to place: String) {
        self.init(
            .localAddressUnavailable, "A socket could not be bound to \(place): \(Self.reason(error)).",
            underlying: error)
    }

    /// The server has no address that a socket with the local address can connect to.
    static func otherFamily(_ host: String, _ local: SocketAddress) -> TransportError {
        let family = local.protocol == .inet6 ? "IPv6" : "IPv4"
        return TransportError(
            .connectionFailed,
            "\(host) has no \(family) address, and the local address \(local.ipAddress ?? "") cannot connect to another."
        )
    }
}
