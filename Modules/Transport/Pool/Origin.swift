internal import HTTPTypes

/// Scheme, host and port (RFC 6454, 4): what a connection goes to.
struct Origin: Hashable, Sendable {
    let isSecure: Bool
    /// Lower case; an IPv6 address without brackets.
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
            throw TransportError(.invalidRequest, "\"\(head.authority ?? "")\" is no host and port.")
        }
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
    }

    var description: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private static func split(_ authority: String) -> (host: String, port: Int?)? {
        let bytes = authority.utf8
        guard !bytes.contains(UInt8(ascii: "@")) else { return nil }
        var host = authority[...]
        var port: Int?
        let afterAddress = bytes.lastIndex(of: UInt8(ascii: "]")) ?? bytes.startIndex
        if let colon = authority[afterAddress...].utf8.lastIndex(of: UInt8(ascii: ":")) {
            let digits = authority[authority.index(after: colon)...]
            if !digits.isEmpty {
                guard digits.utf8.count <= 5, digits.utf8.allSatisfy({ (48...57).contains($0) }),
                    let number = Int(digits), (1...65535).contains(number)
                else { return nil }
                port = number
            }
            host = authority[..<colon]
        }
        if host.hasPrefix("[") {
            guard host.hasSuffix("]") else { return nil }
            host = host.dropFirst().dropLast()
        } else if host.utf8.contains(UInt8(ascii: ":")) {
            return nil
        }
        guard !host.isEmpty else { return nil }
        let isLower = host.utf8.allSatisfy { !(65...90).contains($0) }
        return (isLower ? String(host) : host.lowercased(), port)
    }
}
