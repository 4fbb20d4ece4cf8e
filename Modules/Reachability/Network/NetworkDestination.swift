internal import Glibc

/// A destination address of packets.
struct NetworkDestination: Hashable, Sendable {
    /// The interface of a link-local address (RFC 4007).
    enum Zone: Hashable, Sendable {
        case name(String)
        case index(Int32)
    }

    var family: NetworkFamily
    /// 4 or 16 bytes.
    var bytes: [UInt8]
    var zone: Zone?

    init(family: NetworkFamily, bytes: [UInt8], zone: Zone? = nil) {
        self.family = family
        self.bytes = bytes
        self.zone = zone
    }

    /// Parses an IPv4 or IPv6 address, the latter with an optional zone after a percent sign; nil when it is neither.
    init?(_ text: String) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first else { return nil }
        if let bytes = Self.bytes(String(address), AF_INET, count: 4), parts.count == 1 {
            self.init(family: .ipv4, bytes: bytes)
        } else if let bytes = Self.bytes(String(address), AF_INET6, count: 16) {
            guard parts.count == 2 else {
                self.init(family: .ipv6, bytes: bytes)
                return
            }
            let zone = String(parts[1])
            guard !zone.isEmpty else { return nil }
            self.init(family: .ipv6, bytes: bytes, zone: Int32(zone).map { .index($0) } ?? .name(zone))
        } else {
            return nil
        }
    }

    /// Whether the address is valid on one link only (RFC 4291, 2.5.6).
    var isLinkLocal: Bool { Self.isLinkLocal(bytes) }

    static func isLinkLocal(_ bytes: [UInt8]) -> Bool {
        bytes.count == 16 && (bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 || bytes[0] == 0xFF && bytes[1] & 0x0F == 2)
    }

    /// The text of 4 or 16 bytes; nil for another number of bytes.
    static func text(_ bytes: [UInt8]) -> String? {
        let family: Int32
        switch bytes.count {
        case 4: family = AF_INET
        case 16: family = AF_INET6
        default: return nil
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func bytes(_ text: String, _ family: Int32, count: Int) -> [UInt8]? {
        // A C string would end at a NUL.
        guard !text.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }
}

/// The object that a monitor observes.
enum MonitorTarget: Hashable, Sendable {
    /// The default routes.
    case network
    case address(NetworkDestination)
    case host(String, port: UInt16)
}
