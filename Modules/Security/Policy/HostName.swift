#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A host that a certificate can be for: a name or an IP address, in the one form in which it is compared.
enum HostName: Hashable, Sendable {
    /// In lower case, without a dot at its end.
    case name(String)
    /// Four bytes or sixteen; an IPv4-mapped address (RFC 4291, 2.5.5.2) is the IPv4 address, as it is to the system.
    case address([UInt8])

    /// Reads a host, without brackets; nil when it is neither an address nor a name in ASCII.
    ///
    /// OpenSSL takes a name that begins with a dot for "any name below", and one with an asterisk for itself; neither is
    /// a host, so neither gets that far. Nor does a number that only some readers take for an address
    /// (``HostSpelling``).
    init?(_ text: String) {
        var text = text
        guard let spelling = text.withUTF8({ HostSpelling.Scan($0) }) else { return nil }
        let name = text.utf8.last == UInt8(ascii: ".") ? String(text.dropLast()) : text
        switch spelling.kind {
        case .name: self = .name(spelling.hasUppercase ? name.lowercased() : name)
        case .number, .colons:
            guard let address = Self.address(name) else { return nil }
            self = .address(address)
        }
    }

    /// The number of a name's labels.
    static func labels(_ name: String) -> Int {
        name.utf8.count { $0 == UInt8(ascii: ".") } + 1
    }

    private static func address(_ text: String) -> [UInt8]? {
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 { return withUnsafeBytes(of: v4) { Array($0) } }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: v6) { Array($0) }
        return bytes.starts(with: mappedPrefix) ? Array(bytes.dropFirst(mappedPrefix.count)) : bytes
    }

    /// What IPv4-mapped addresses begin with.
    private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]

    /// The one text of a host; of an address, as RFC 5952 writes it.
    var text: String {
        switch self {
        case .name(let name): name
        case .address(let bytes): Self.text(bytes)
        }
    }

    private static func text(_ bytes: [UInt8]) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            let family = bytes.count == 4 ? AF_INET : AF_INET6
            let text = inet_ntop(family, bytes, buffer.baseAddress, socklen_t(buffer.count))
            return text.map { String(cString: $0) } ?? ""
        }
    }
}
