internal import LinnetMessages
public import LinnetSecurity

/// A proxy: how it is spoken to, where it is, and the user name and password for it.
///
/// ```swift
/// let proxy = try Proxy("socks5h://127.0.0.1:1080")
/// let session = try HTTPSession { $0.proxies = .fixed(proxy) }
/// ```
/// The user name and the password are sent to the proxy only. No description, log or error contains them.
public struct Proxy: Sendable {
    /// How a proxy is spoken to.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The scheme of the proxy's URL, named as in curl.
        public let description: String

        /// An HTTP proxy in clear text: requests to `http` origins in absolute form (RFC 9112, 3.2.2), and a tunnel
        /// with CONNECT (RFC 9110, 9.3.6) for all others.
        public static let http = Kind(description: "http")
        /// An HTTP proxy over TLS. ``Proxy/securityPolicy`` evaluates its certificate.
        public static let https = Kind(description: "https")
        /// SOCKS 4a: the proxy resolves names. There is a user name and no password.
        public static let socks4a = Kind(description: "socks4a")
        /// SOCKS 5 (RFC 1928) to an address: names are resolved here.
        public static let socks5 = Kind(description: "socks5")
        /// SOCKS 5 (RFC 1928) to a name: the proxy resolves it, and no name server sees it from here.
        public static let socks5h = Kind(description: "socks5h")

        static let all = [http, https, socks4a, socks5, socks5h]

        /// Whether the proxy speaks HTTP.
        var isHTTP: Bool { self == .http || self == .https }

        /// The port that curl assumes.
        var usualPort: Int { self == .https ? 443 : 1080 }
    }

    /// How the proxy is spoken to.
    public let kind: Kind
    /// The user name; nil for none.
    public let username: String?
    /// The password; nil for none.
    public let password: String?
    /// The policy that evaluates the certificate of an ``Kind/https`` proxy. It does not apply to origins behind the
    /// proxy, and their policy does not apply to the proxy.
    public let securityPolicy: SecurityPolicy
    /// The host and the port.
    let server: Origin

    /// Creates a proxy.
    ///
    /// - Parameters:
    ///   - kind: How the proxy is spoken to.
    ///   - host: A name, or an IP address without brackets.
    ///   - port: The port. The default is 443 for ``Kind/https`` and 1080 for all others, as in curl.
    ///   - username: The user name for Basic (RFC 7617) or SOCKS (RFC 1929). The default is none.
    ///   - password: The password. The default is none.
    ///   - securityPolicy: The policy for the certificate of an ``Kind/https`` proxy. The default is the system's trust
    ///     store.
    /// - Throws: A ``TransportError`` with ``TransportError/Code/invalidConfiguration`` for an invalid host or port,
    ///   and for a user name or a password that the proxy's protocol cannot carry.
    public init(
        _ kind: Kind, host: String, port: Int? = nil, username: String? = nil, password: String? = nil,
        securityPolicy: SecurityPolicy = .systemTrust
    ) throws(TransportError) {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        do {
            server = try Origin(isSecure: kind == .https, authority: "\(name):\(port ?? kind.usualPort)")
        } catch {
            throw TransportError(
                .invalidConfiguration,
                error == .port
                    ? "The proxy's port is not a number from 1 to 65535."
                    : "The proxy's host is neither a name in ASCII nor an IP address.")
        }
        self.kind = kind
        self.username = username
        self.password = password
        self.securityPolicy = securityPolicy
        if let fault = credentialFault { throw TransportError(.invalidConfiguration, fault) }
    }

    /// The host: a name in lower case, or an address in canonical form without brackets.
    public var host: String { server.host }

    /// The port.
    public var port: Int { server.port }

    /// Whether a request to the proxy carries a user name.
    var hasCredentials: Bool { username != nil || password != nil }

    /// The problem with the user name and the password; nil if there is none.
    private var credentialFault: String? {
        let (user, secret) = ((username ?? "").utf8, (password ?? "").utf8)
        switch kind {
        case .http, .https:
            // RFC 7617, 2.
            guard !user.contains(UInt8(ascii: ":")) else { return "The proxy's user name contains a colon." }
            let hasControl = [user, secret].contains { $0.contains { $0 < 0x20 || $0 == 0x7F } }
            return hasControl ? "The proxy's user name or password contains a control character." : nil
        case .socks4a:
            guard password == nil else { return "SOCKS 4a has no password; use socks5h." }
            return user.contains(0) || user.count > 255
                ? "The proxy's user name contains a null byte or is longer than 255 bytes." : nil
        default:
            // RFC 1929, 2.
            guard hasCredentials else { return nil }
            return 1...255 ~= user.count && secret.count <= 255
                ? nil : "The proxy's user name must have from 1 to 255 bytes, and its password at most 255."
        }
    }
}

extension Proxy: Hashable {
    /// Whether two proxies are interchangeable: the same server, credentials and security policy.
    public static func == (left: Proxy, right: Proxy) -> Bool {
        left.kind == right.kind && left.server == right.server && left.username == right.username
            && left.password == right.password
            && (left.kind != .https || left.securityPolicy.identity == right.securityPolicy.identity)
    }

    /// Hashes the server.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(server)
    }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The proxy's URL, without the user name and the password.
    public var description: String { "\(kind)://\(server.endpoint)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows ``description`` only.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
