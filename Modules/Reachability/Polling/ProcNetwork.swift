internal import Glibc

/// Reads the files of `/proc/net`.
enum ProcNetwork {
    /// The names of all interfaces; nil when the file cannot be read.
    static func interfaceNames() -> [String]? { read("dev").map(interfaceNames) }

    /// The names in the text of `dev`: two lines of titles, then a name and a colon at the start of each line.
    static func interfaceNames(_ text: String) -> [String] {
        text.split(separator: "\n").dropFirst(2).compactMap { line in
            let name = line.drop { $0 == " " }.prefix { $0 != ":" }
            return name.isEmpty ? nil : String(name)
        }
    }

    static func ipv6Addresses() -> [NetlinkMessage.Content] { read("if_inet6").map(ipv6Addresses) ?? [] }

    /// The addresses in the text of `if_inet6`: address, interface number, prefix length, scope and flags in
    /// hexadecimal.
    static func ipv6Addresses(_ text: String) -> [NetlinkMessage.Content] {
        text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count >= 5, let bytes = bytes(fields[0]), bytes.count == 16,
                let interface = Int32(fields[1], radix: 16), let scope = UInt8(fields[3], radix: 16),
                let flags = UInt32(fields[4], radix: 16)
            else { return nil }
            // The file has other numbers for scopes: 0x20 is link, 0x10 host.
            let scopes: [UInt8: UInt8] = [0x20: 253, 0x10: 254]
            let address = NetworkAddress(
                family: .ipv6, interface: interface, scope: scopes[scope] ?? 0, bytes: bytes)
            return .address(address, isUsable: NetworkAddress.isUsable(flags: flags))
        }
    }

    static func routes(_ indices: [String: Int32]) -> [NetworkRoute] {
        (read("route").map { ipv4Routes($0, indices) } ?? [])
            + (read("ipv6_route").map { ipv6Routes($0, indices) } ?? [])
    }

    /// The default routes in the text of `route`: interface, destination, gateway, flags, two counters, metric and
    /// mask.
    static func ipv4Routes(_ text: String, _ indices: [String: Int32]) -> [NetworkRoute] {
        text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split { $0 == "\t" || $0 == " " }
            guard fields.count >= 8, let destination = UInt32(fields[1], radix: 16),
                let flags = UInt32(fields[3], radix: 16), let metric = UInt32(fields[6]),
                let mask = UInt32(fields[7], radix: 16)
            else { return nil }
            // The numbers are in network byte order. A route that forwards nothing has no interface.
            let name = String(fields[0])
            return route(
                .ipv4, prefixLength: mask.nonzeroBitCount, isUpperHalf: destination & 0x80 != 0, metric: metric,
                flags: name == "*" ? flags | Flag.reject : flags, interface: indices[name])
        }
    }

    /// The default routes in the text of `ipv6_route`: destination, its length, source, its length, gateway, metric,
    /// two counters, flags and interface.
    static func ipv6Routes(_ text: String, _ indices: [String: Int32]) -> [NetworkRoute] {
        text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count >= 10, let destination = UInt8(fields[0].prefix(2), radix: 16),
                let prefixLength = Int(fields[1], radix: 16), let sourceLength = Int(fields[3], radix: 16),
                let metric = UInt32(fields[5], radix: 16), let flags = UInt32(fields[8], radix: 16), sourceLength == 0
            else { return nil }
            return route(
                .ipv6, prefixLength: prefixLength, isUpperHalf: destination & 0x80 != 0, metric: metric, flags: flags,
                interface: indices[String(fields[9])])
        }
    }

    private static func route(
        _ family: NetworkFamily, prefixLength: Int, isUpperHalf: Bool, metric: UInt32, flags: UInt32, interface: Int32?
    ) -> NetworkRoute? {
        let forwards = flags & Flag.reject == 0
        guard prefixLength <= 1, flags & Flag.up != 0 || !forwards, let interface = forwards ? interface : 0 else {
            return nil
        }
        return NetworkRoute(
            family: family, destination: prefixLength == 0 ? .everything : isUpperHalf ? .upperHalf : .lowerHalf,
            table: .main, metric: metric, interface: interface, forwards: forwards)
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)
        }
        return bytes.count * 2 == digits.count ? bytes : nil
    }

    /// The text of a file for the calling thread's namespace. `/proc/net` belongs to the process's first thread.
    private static func read(_ name: String) -> String? {
        text("/proc/thread-self/net/\(name)") ?? text("/proc/net/\(name)")
    }

    private static func text(_ path: String) -> String? {
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let descriptor = OwnedDescriptor(owning: number)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < largestFile {
            let count = Glibc.read(descriptor.number, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The largest size to read: routers can have a million routes. For IPv4, default routes come first.
    private static let largestFile = 16_777_216

    /// `RTF_UP` and `RTF_REJECT`.
    private enum Flag {
        static let up: UInt32 = 0x1
        static let reject: UInt32 = 0x200
    }
}
