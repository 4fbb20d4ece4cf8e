internal import HTTPTypes
internal import LinnetSecurity

/// Scheme, host and port (RFC 6454, 4): what a connection goes to.
struct Origin: Hashable, Sendable {
    let isSecure: Bool
    /// A name in lower case, or an address in its one form (``HostSpelling``), without brackets.
    let host: String
    let port: Int

    init(_ head: HTTPRequest) throws(TransportError) {
        switch head.scheme {
        case "https": isSecure = true
        case "http": isSecure = false
        default:
            throw TransportError(.invalidRequest, "The scheme \"\(head.scheme ?? "")\" is neither http nor https.")
        }
        guard let authority = head.authority, let (host, port) = Self.split(authority) else {
            throw TransportError(
                .invalidRequest,
                "\"\(head.authority ?? "")\" is no host and port: a host is a name in ASCII, four decimal numbers or an "
                    + "IPv6 address in brackets.")
        }
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
    }

    var description: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The host in its one form, and the port; nil for what is no authority without user information.
    private static func split(_ authority: String) -> (host: String, port: Int?)? {
        // On bytes, since every request comes through here and indices of a String cost several times as much.
        var authority = authority
        return authority.withUTF8 { bytes in
            guard !bytes.contains(UInt8(ascii: "@")) else { return nil }
            let isAddress = bytes.first == UInt8(ascii: "[")
            let end =
                isAddress
                ? bytes.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 }
                : bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
            guard let end else { return nil }
            let host = UnsafeBufferPointer(rebasing: isAddress ? bytes[1..<(end - 1)] : bytes[..<end])
            let rest = UnsafeBufferPointer(rebasing: bytes[end...])
            guard let spelling = HostSpelling(host, isBracketed: isAddress), let port = port(rest) else { return nil }
            if case .address(let text) = spelling { return (text, port == 0 ? nil : port) }
            let text = String(decoding: host, as: UTF8.self)
            return (host.contains { 65...90 ~= $0 } ? text.lowercased() : text, port == 0 ? nil : port)
        }
    }

    /// Reads nothing, or a colon with the digits of a port; 0 for a port that is not named, nil for no such thing.
    private static func port(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let colon = bytes.first else { return 0 }
        guard colon == UInt8(ascii: ":"), bytes.count <= 6 else { return nil }
        guard bytes.count > 1 else { return 0 }
        var port = 0
        for digit in bytes[1...] {
            guard 48...57 ~= digit else { return nil }
            port = port * 10 + Int(digit - 48)
        }
        return 1...65535 ~= port ? port : nil
    }
}
