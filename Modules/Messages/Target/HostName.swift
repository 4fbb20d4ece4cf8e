#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A host name or IP address in the canonical form for comparison.
package enum HostName: Hashable, Sendable {
    /// A name in lower case, without a trailing dot.
    case name(String)
    /// Four or sixteen bytes. An IPv4-mapped address (RFC 4291, 2.5.5.2) is stored as the IPv4 address, because the
    /// system treats it like that.
    case address([UInt8])

    /// Parses a host without brackets; nil if it is neither an address nor an ASCII name.
    ///
    /// OpenSSL reads a name with a leading dot as "any name below", and an asterisk as itself. Neither is a host, so
    /// both are rejected here, and so are numbers that only some parsers read as an address (``HostSpelling``).
    package init?(_ text: String) {
        var text = text
        guard let spelling = text.withUTF8({ HostSpelling.Scan($0) }) else { return nil }
        let name = text.utf8.last == UInt8(ascii: ".") ? String(text.dropLast()) : text
        switch spelling.kind {
        case .name: self = .name(spelling.hasUppercase ? name.lowercased() : name)
        case .number, .colons:
            // An IPv6 address has no trailing dot.
            guard let address = Self.address(spelling.kind == .colons ? text : name) else { return nil }
            self = .address(address)
        }
    }

    /// The number of labels in a name.
    package static func labels(_ name: String) -> Int {
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

    /// The prefix of IPv4-mapped addresses.
    private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]

    /// The canonical text; addresses follow RFC 5952.
    package var text: String {
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
