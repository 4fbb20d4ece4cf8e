internal import Glibc

/// The version of the internet protocol.
enum NetworkFamily: Hashable, Sendable, CaseIterable {
    case ipv4
    case ipv6

    init?(_ number: UInt8) {
        switch Int32(number) {
        case AF_INET: self = .ipv4
        case AF_INET6: self = .ipv6
        default: return nil
        }
    }

    var number: UInt8 {
        switch self {
        case .ipv4: UInt8(AF_INET)
        case .ipv6: UInt8(AF_INET6)
        }
    }
}

/// An address of this machine.
struct NetworkAddress: Hashable, Sendable {
    var family: NetworkFamily
    var interface: Int32
    var scope: UInt8
    var bytes: [UInt8]

    /// Whether hosts beyond the link can reply to the address.
    ///
    /// A router can translate an IPv4 address of link scope, so only host-scope addresses are excluded.
    var reachesBeyondLink: Bool {
        switch family {
        case .ipv4: scope < Self.hostScope
        case .ipv6: scope < Self.linkScope
        }
    }

    /// Whether the kernel uses an address with these flags as a source address.
    static func isUsable(flags: UInt32) -> Bool {
        if flags & duplicateFlag != 0 { return false }
        // An optimistic address can be used while duplicate address detection runs (RFC 4429).
        return flags & tentativeFlag == 0 || flags & optimisticFlag != 0
    }

    private static let linkScope: UInt8 = 253
    private static let hostScope: UInt8 = 254
    private static let optimisticFlag: UInt32 = 0x04
    private static let duplicateFlag: UInt32 = 0x08
    private static let tentativeFlag: UInt32 = 0x40
}
