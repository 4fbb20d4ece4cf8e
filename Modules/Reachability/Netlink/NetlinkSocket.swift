internal import Glibc

/// A socket to the kernel's routing subsystem, in the network namespace of the thread that opens it.
final class NetlinkSocket: Sendable {
    /// The result of one receive call.
    enum Reception: Hashable, Sendable {
        /// A datagram with this number of bytes.
        case datagram(Int)
        /// No datagram was pending, or none arrived in time.
        case nothing
        /// Messages were lost: the kernel's queue overflowed, or a datagram was larger than the buffer.
        case overrun
        /// The datagram came from another process and must be ignored.
        case foreign
    }

    let descriptor: OwnedDescriptor
    /// The number by which the kernel knows the socket; replies carry it.
    let port: UInt32
    /// Whether the kernel checks requests strictly, and applies the filters in them.
    let isStrict: Bool

    /// Opens a socket that joins the given multicast groups (`NetlinkGroup`).
    init(groups: UInt32 = 0) throws(ReachabilityError) {
        let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let number = socket(AF_NETLINK, type, Self.routeProtocol)
        guard number >= 0 else {
            let failure = ReachabilityError(.socketFailed, "A netlink socket could not be opened", errorNumber: errno)
            throw failure.meansNoNetlink
                ? failure.adding("Configuration.pollingInterval reads the network without it") : failure
        }
        let descriptor = OwnedDescriptor(owning: number)
        var timeout = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        // The Glibc module lacks `struct sockaddr_nl` (family, padding, port, groups), which takes 12 of these 16
        // bytes. A `sockaddr` is aligned to 2 bytes, so the port and the groups, which have 4, may be unaligned.
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_NETLINK)
        withUnsafeMutableBytes(of: &address) { $0.storeBytes(of: groups, toByteOffset: 8, as: UInt32.self) }
        guard bind(number, &address, 12) == 0 else {
            throw ReachabilityError(.socketFailed, "A netlink socket could not be bound", errorNumber: errno)
        }
        var length = socklen_t(MemoryLayout<sockaddr>.size)
        guard getsockname(number, &address, &length) == 0 else {
            throw ReachabilityError(.socketFailed, "The port of a netlink socket is unknown", errorNumber: errno)
        }
        port = withUnsafeBytes(of: address) { $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self) }
        var isOn: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        isStrict = setsockopt(number, NetlinkOption.level, NetlinkOption.strictCheck, &isOn, size) == 0
        self.descriptor = descriptor
    }

    /// Sends a request; the response carries the sequence number.
    func request(_ request: NetlinkRequest, sequence: UInt32) throws(ReachabilityError) {
        let bytes = request.encoded(sequence: sequence)
        guard send(descriptor.number, bytes, bytes.count, 0) == bytes.count else {
            throw ReachabilityError(
                .queryFailed, "The request for \(request.subject) could not be sent to the kernel", errorNumber: errno)
        }
    }

    /// Receives one datagram into the buffer, waiting up to five seconds for it when `waits` is true.
    func receive(into buffer: inout [UInt8], waits: Bool) throws(ReachabilityError) -> Reception {
        var sender = sockaddr()
        var senderLength = socklen_t(MemoryLayout<sockaddr>.size)
        // With MSG_TRUNC the result is the datagram's true length.
        let flags = Int32(MSG_TRUNC) | (waits ? 0 : Int32(MSG_DONTWAIT))
        var count: Int
        // A signal is neither the end of the time for an answer nor an answer.
        repeat {
            count = recvfrom(descriptor.number, &buffer, buffer.count, flags, &sender, &senderLength)
        } while count < 0 && errno == EINTR
        guard count >= 0 else {
            switch errno {
            case EAGAIN: return .nothing
            case ENOBUFS: return .overrun
            case let code:
                throw ReachabilityError(.queryFailed, "Receiving from the kernel failed", errorNumber: code)
            }
        }
        // The kernel's port is 0. The check is necessary because privileged processes can send to this socket too.
        let port = withUnsafeBytes(of: sender) { $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self) }
        if port != 0 { return .foreign }
        return count > buffer.count ? .overrun : .datagram(count)
    }

    /// The kernel's datagrams in a dump have at most 32 KiB.
    static let bufferSize = 65_536

    /// `NETLINK_ROUTE`.
    private static let routeProtocol: Int32 = 0
}

/// A file descriptor that is closed when its owner is destroyed.
struct OwnedDescriptor: ~Copyable, Sendable {
    let number: Int32

    init(owning number: Int32) { self.number = number }

    deinit { close(number) }
}
