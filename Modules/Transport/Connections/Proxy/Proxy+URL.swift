internal import LinnetMessages
public import LinnetSecurity

extension Proxy {
    /// Creates a proxy from a URL, such as `http://user:password@proxy.example:8080` or `socks5h://127.0.0.1`.
    ///
    /// The schemes are the ``Kind``s; without one, it is `http`. The user name and the password are percent-decoded.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - securityPolicy: The policy for the certificate of an ``Kind/https`` proxy. The default is the system's trust
    ///     store.
    /// - Throws: A ``TransportError`` with ``TransportError/Code/invalidConfiguration`` for another scheme, for a path,
    ///   a query or a fragment, and as ``init(_:host:port:username:password:securityPolicy:)`` does. Its message does
    ///   not contain the text, which may contain a password.
    public init(_ url: String, securityPolicy: SecurityPolicy = .systemTrust) throws(TransportError) {
        let reference = URIReference(url.contains("://") ? url : "http://" + url)
        let scheme = reference.scheme?.lowercased() ?? ""
        guard let kind = Kind.all.first(where: { $0.description == scheme }) else {
            throw Self.fault("it must have one of the schemes http, https, socks4a, socks5 and socks5h")
        }
        guard reference.path.isEmpty || reference.path == "/", reference.query == nil, reference.fragment == nil else {
            throw Self.fault("it must not have a path, a query or a fragment")
        }
        var login = Substring()
        var authority = reference.authority ?? ""
        if let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            login = authority[..<at]
            authority = authority[authority.utf8.index(after: at)...]
        }
        let place = try Self.place(authority)
        let user = login.utf8.prefix { $0 != UInt8(ascii: ":") }
        let secret = login.utf8.dropFirst(user.count)
        guard let username = Self.decoded(user), let password = Self.decoded(secret.dropFirst()) else {
            throw Self.fault("its user name and password must be UTF-8")
        }
        try self.init(
            kind, host: place.host, port: place.port, username: user.isEmpty && secret.isEmpty ? nil : username,
            password: secret.isEmpty ? nil : password, securityPolicy: securityPolicy)
    }

    /// The host without brackets, and the port if there is one.
    private static func place(_ authority: Substring) throws(TransportError) -> (host: String, port: Int?) {
        var host = authority.utf8
        var digits: Substring.UTF8View?
        let end = host.lastIndex(of: UInt8(ascii: "]")) ?? host.startIndex
        if let colon = host[end...].firstIndex(of: UInt8(ascii: ":")) {
            digits = host[host.index(after: colon)...]
            host = host[..<colon]
        }
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") { host = host.dropFirst().dropLast() }
        guard let digits, !digits.isEmpty else { return (String(Substring(host)), nil) }
        guard digits.count <= 5, digits.allSatisfy({ 0x30...0x39 ~= $0 }), let port = Int(Substring(digits)) else {
            throw fault("its port must be a number from 1 to 65535")
        }
        return (String(Substring(host)), port)
    }

    /// The percent-decoded text; nil if it is not UTF-8.
    private static func decoded(_ text: Substring.UTF8View.SubSequence) -> String? {
        String(validating: PercentCoding.decoded(text), as: UTF8.self)
    }

    private static func fault(_ rule: String) -> TransportError {
        TransportError(.invalidConfiguration, "The proxy's URL cannot be used: \(rule).")
    }
}
