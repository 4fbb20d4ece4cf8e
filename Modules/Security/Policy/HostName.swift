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
    /// Four bytes or sixteen.
    case address([UInt8])

    /// Reads a host; nil when it is neither an address nor a name in ASCII.
    ///
    /// OpenSSL takes a name that begins with a dot for "any name below", and one with an asterisk for itself; neither is
    /// a host, so neither gets that far.
    init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let lower = text.lowercased()
        let name = lower.hasSuffix(".") ? String(lower.dropLast()) : lower
        if let address = Self.address(name) {
            self = .address(address)
            return
        }
        guard Self.isName(name) else { return nil }
        self = .name(name)
    }

    /// The number of a name's labels.
    static func labels(_ name: String) -> Int {
        name.utf8.count { $0 == UInt8(ascii: ".") } + 1
    }

    /// Whether the last label is of digits alone: meant as an address, and not understood as one.
    static func endsInNumber(_ name: String) -> Bool {
        name.split(separator: ".").last?.utf8.allSatisfy(isDigit) ?? false
    }

    /// Labels of letters, digits, hyphens and underscores, each of 1 to 63 bytes (RFC 1123, 2.1).
    private static func isName(_ name: String) -> Bool {
        guard (1...253).contains(name.utf8.count) else { return false }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { byte in
                    (97...122).contains(byte) || isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private static func address(_ text: String) -> [UInt8]? {
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 { return withUnsafeBytes(of: v4) { Array($0) } }
        var v6 = in6_addr()
        if inet_pton(AF_INET6, text, &v6) == 1 { return withUnsafeBytes(of: v6) { Array($0) } }
        return nil
    }

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
