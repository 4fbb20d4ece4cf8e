/// The scheme, host and port of a URL (RFC 6454, section 4). Credentials of one origin are never sent to another.
public struct Origin: Hashable, Sendable, LosslessStringConvertible {
    /// Whether the scheme is https.
    package let isSecure: Bool
    /// A name in lower case or an address in canonical form, without brackets.
    public let host: String
    /// The port, even if it is the scheme's default.
    public let port: Int
    /// The host in lower case, and the port unless it is the scheme's default.
    public let authority: String

    /// `http` or `https`.
    public var scheme: String { isSecure ? "https" : "http" }

    /// The origin in the form that begins a URL.
    public var description: String { "\(scheme)://\(authority)" }

    /// The host and the port, even if it is the scheme's default.
    package var endpoint: String { "\(host.utf8.contains(.colon) ? "[\(host)]" : host):\(port)" }

    /// Parses an authority without user information.
    package init(isSecure: Bool, authority: String) throws(URLFault) {
        // Works on bytes, because String indices cost several times as much.
        var authority = authority
        let origin = authority.withUTF8 { bytes in
            Result { () throws(URLFault) in
                let parts = AuthorityRanges(bytes, in: 0..<bytes.count)
                guard parts.userInfo == nil else { throw .host }
                return try Origin(isSecure: isSecure, parts, of: bytes)
            }
        }
        self = try origin.get()
    }

    init(isSecure: Bool, _ parts: AuthorityRanges, of bytes: UnsafeBufferPointer<UInt8>) throws(URLFault) {
        let hostBytes = UnsafeBufferPointer(rebasing: bytes[parts.host])
        guard let spelling = HostSpelling(hostBytes, isBracketed: parts.isBracketed) else { throw .host }
        let digits = parts.port.map { bytes[$0] }
        let usualPort = isSecure ? 443 : 80
        let port = try Self.port(digits) ?? usualPort
        self.isSecure = isSecure
        self.port = port
        let isAsWritten: Bool
        if case .address(let text) = spelling {
            host = text
            isAsWritten = false
        } else {
            host = Self.lowercased(hostBytes)
            isAsWritten = digits?.first != UInt8(ascii: "0")
        }
        // With the scheme's default port, the authority shares the host's storage.
        if port != usualPort {
            authority =
                isAsWritten
                ? Self.lowercased(UnsafeBufferPointer(rebasing: bytes[parts.host.lowerBound..<(digits?.endIndex ?? 0)]))
                : host.utf8.contains(.colon) ? "[\(host)]:\(port)" : "\(host):\(port)"
        } else {
            authority = host.utf8.contains(.colon) ? "[\(host)]" : host
        }
    }

    /// The origin of an absolute URL, such as `https://example.com:8443/a`; nil unless the scheme is http or https and
    /// the host an ASCII name or an address.
    public init?(_ url: String) {
        guard let target = try? RequestTarget(parsing: url) else { return nil }
        self = target.origin
    }

    private static func lowercased(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return bytes.contains { 0x41...0x5A ~= $0 } ? text.lowercased() : text
    }

    /// Whether both have the same scheme, host and port, from which the authority follows.
    public static func == (left: Origin, right: Origin) -> Bool {
        left.port == right.port && left.isSecure == right.isSecure && left.host == right.host
    }

    /// Hashes the host and the port.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
    }

    /// Parses the port; nil if there is none.
    private static func port(_ digits: Slice<UnsafeBufferPointer<UInt8>>?) throws(URLFault) -> Int? {
        guard let digits, !digits.isEmpty else { return nil }
        var port = 0
        for digit in digits where port <= 65535 { port = 0x30...0x39 ~= digit ? port * 10 + Int(digit - 0x30) : 65536 }
        guard 1...65535 ~= port else { throw .port }
        return port
    }
}

/// The reasons why a URL cannot be requested.
package enum URLFault: Error, Hashable {
    case noHost
    case scheme
    case host
    case port
    case userInfo

    /// A sentence with the problem and a remedy.
    package var message: String {
        switch self {
        case .noHost: "The URL has no scheme and host."
        case .scheme: "The URL's scheme is neither http nor https."
        case .host:
            "The URL's host is neither a name in ASCII (use its Punycode form) nor an address in its usual form, "
                + "four decimal numbers or IPv6 in brackets without a zone."
        case .port: "The URL's port is not a number from 1 to 65535."
        case .userInfo:
            "The URL's user name contains a colon, or its user information a backslash, an at sign or a control "
                + "character, or it is not UTF-8; use a credential instead."
        }
    }
}
