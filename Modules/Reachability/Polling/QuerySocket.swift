internal import Glibc

/// A UDP socket for queries about interfaces. It sends nothing.
final class QuerySocket: Sendable {
    struct Failure: Error {
        let number: Int32
    }

    private let descriptor: OwnedDescriptor

    init() throws(ReachabilityError) {
        let number = Self.open(AF_INET)
        guard number >= 0 else {
            throw ReachabilityError(.socketFailed, "A socket for queries could not be opened", errorNumber: errno)
        }
        descriptor = OwnedDescriptor(owning: number)
    }

    /// The properties of an interface; nil when it does not exist.
    func link(named name: String) -> NetworkLink.Update? {
        guard let index = query(name, Request.index)?.int32(at: 0),
            let flags = query(name, Request.flags)?.uint16(at: 0)
        else { return nil }
        var link = NetworkLink.Update(
            index: index, hardwareType: query(name, Request.hardwareAddress)?.uint16(at: 0) ?? 0, flags: UInt32(flags),
            name: name)
        link.mtu = query(name, Request.mtu)?.uint32(at: 0)
        return link
    }

    /// The first IPv4 address of an interface.
    func ipv4Address(ofInterface name: String) -> [UInt8]? {
        // A `sockaddr_in`: family, port, address.
        query(name, Request.address)?.slice(from: 4, to: 8)?.array
    }

    /// The source address that the kernel selects for packets to a destination.
    static func source(for question: RouteQuestion) -> Result<[UInt8], Failure> {
        let number = open(question.destination.family == .ipv4 ? AF_INET : AF_INET6)
        guard number >= 0 else { return .failure(Failure(number: errno)) }
        let descriptor = OwnedDescriptor(owning: number)
        let target = SocketAddress(question.destination, interface: question.interface)
        guard target.withPointer({ connect(descriptor.number, $0, $1) }) == 0 else {
            return .failure(Failure(number: errno))
        }
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor.number, $0, &length)
            }
        }
        let bytes = withUnsafeBytes(of: address) { Array($0.prefix(Int(length))) }
        guard code == 0, let source = SocketAddress(bytes: bytes).destination else {
            return .failure(Failure(number: errno))
        }
        return .success(source.bytes)
    }

    /// Queries an interface, and returns the bytes after the name in `struct ifreq`.
    private func query(_ name: String, _ request: UInt) -> NetlinkBytes? {
        guard (1..<16).contains(name.utf8.count) else { return nil }
        var bytes = Array(name.utf8) + [UInt8](repeating: 0, count: 40 - name.utf8.count)
        let code = bytes.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { ioctl(descriptor.number, request, $0) }
        }
        return code == 0 ? NetlinkBytes(bytes[16...]) : nil
    }

    private static func open(_ family: Int32) -> Int32 {
        socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    /// `SIOCGIF…` numbers of linux/sockios.h.
    private enum Request {
        static let flags: UInt = 0x8913
        static let address: UInt = 0x8915
        static let mtu: UInt = 0x8921
        static let hardwareAddress: UInt = 0x8927
        static let index: UInt = 0x8933
    }
}
