public import FoundationEssentials
internal import LinnetMessages

/// A cookie as a jar stores it (RFC 6265bis, section 5.7).
///
/// A jar makes cookies from Set-Cookie fields. A program makes cookies to log in with one from elsewhere, and for
/// tests:
///
/// ```swift
/// let cookie = try StoredCookie(name: "session", value: token, domain: "api.example.com", isSecure: true)
/// jar.set(cookie)
/// ```
///
/// The type is not called `Cookie` or `HTTPCookie`, because server libraries and Foundation, which the same file often
/// imports, have types of these names. Descriptions, mirrors and dumps do not show the value, which is often a secret;
/// ``value`` and `Codable` do.
public struct StoredCookie: Hashable, Sendable {
    let nameBytes: CookieBytes
    let valueBytes: CookieBytes
    let pathBytes: CookieBytes

    /// The host of the cookie, or the domain whose subdomains also receive it: in lower case, without a leading or
    /// trailing dot.
    public let domain: String
    /// Whether the cookie is for ``domain`` alone and not for its subdomains. Always true for an address.
    public let isHostOnly: Bool
    /// The expiry date; nil for a session cookie.
    public let expires: Date?
    /// Whether the cookie is only sent over a secure connection.
    public let isSecure: Bool
    /// Whether scripts of a page must not read the cookie. This module sends such cookies, and stores the flag.
    public let isHTTPOnly: Bool
    /// The cross-site requests that the cookie is sent with.
    public let sameSite: SameSite
    /// The time at which the cookie was first stored. An update keeps it.
    public internal(set) var creationDate: Date
    /// The time at which the cookie was last stored or sent.
    public internal(set) var lastAccessDate: Date

    /// The name as UTF-8, possibly empty. Invalid octets are replaced here, and sent back unchanged.
    public var name: String { nameBytes.text }
    /// The value as UTF-8, possibly empty. Invalid octets are replaced here, and sent back unchanged.
    public var value: String { valueBytes.text }
    /// The path of the cookie, which is also sent to the paths below it. Begins with `/`.
    public var path: String { pathBytes.text }
    /// Whether the cookie outlives the session: it has an expiry date.
    public var isPersistent: Bool { expires != nil }

    /// Makes a cookie.
    ///
    /// - Parameters:
    ///   - name: The name. It may be empty if the value is not.
    ///   - value: The value, which is sent unchanged: nothing is quoted or encoded.
    ///   - domain: The host or the domain, as a name in ASCII (Punycode) or an address without brackets.
    ///   - path: The path. The default is `/`.
    ///   - isHostOnly: Whether the cookie is not for subdomains. The default is true. Ignored for an address.
    ///   - expires: The expiry date. The default is nil: a session cookie.
    ///   - isSecure: Whether the cookie is only sent over a secure connection. The default is false.
    ///   - isHTTPOnly: Whether scripts must not read the cookie. The default is false.
    ///   - sameSite: The cross-site requests that the cookie is sent with. The default is ``SameSite/default``.
    ///   - creationDate: The time of creation and of the last access. The default is now.
    /// - Throws: ``CookieError`` with the code ``CookieError/Code/invalidCookie``: the name and the value are empty,
    ///   too long or would be read as something else, or the requirements of SameSite=None or of a prefix of the name
    ///   are not met.
    public init(
        name: String, value: String, domain: String, path: String = "/", isHostOnly: Bool = true, expires: Date? = nil,
        isSecure: Bool = false, isHTTPOnly: Bool = false, sameSite: SameSite = .default, creationDate: Date = Date()
    ) throws(CookieError) {
        do throws(CookieRefusal) {
            self.init(
                name: CookieBytes(name), value: CookieBytes(value), domain: try Self.canonical(domain),
                path: CookieBytes(path), isHostOnly: isHostOnly, expires: expires, isSecure: isSecure,
                isHTTPOnly: isHTTPOnly, sameSite: sameSite, creationDate: creationDate)
            try validate()
            try checkPathAttribute()
        } catch {
            throw CookieError(.invalidCookie, message: error.message)
        }
    }

    init(
        name: CookieBytes, value: CookieBytes, domain: HostName, path: CookieBytes, isHostOnly: Bool, expires: Date?,
        isSecure: Bool, isHTTPOnly: Bool, sameSite: SameSite, creationDate: Date
    ) {
        (nameBytes, valueBytes, pathBytes) = (name, value, path)
        self.domain = domain.text
        if case .address = domain { self.isHostOnly = true } else { self.isHostOnly = isHostOnly }
        (self.expires, self.isSecure, self.isHTTPOnly) = (expires, isSecure, isHTTPOnly)
        self.sameSite = sameSite
        (self.creationDate, lastAccessDate) = (creationDate, creationDate)
    }

    static func canonical(_ domain: String) throws(CookieRefusal) -> HostName {
        guard let host = HostName(domain) else { throw .malformed }
        return host
    }
}

extension StoredCookie {
    /// The SameSite attribute (RFC 6265bis, section 5.6.7).
    public enum SameSite: String, Hashable, Sendable, Codable, CaseIterable {
        /// The cookie has no valid SameSite attribute. Treated as ``lax``.
        case `default`
        /// Sent with requests of any site. Requires a secure cookie.
        case none
        /// Sent with same-site requests, and with top-level navigations from other sites by a safe method.
        case lax
        /// Sent with same-site requests only.
        case strict
    }

    /// The properties that identify a cookie: a new one replaces the stored one with the same key (RFC 6265bis, section
    /// 5.7, step 23).
    struct Key: Hashable, Sendable {
        let name: CookieBytes
        let path: CookieBytes
        let domain: String
        let isHostOnly: Bool
    }

    var key: Key { Key(name: nameBytes, path: pathBytes, domain: domain, isHostOnly: isHostOnly) }

    /// Whether the cookie has this key. Does not make the cookie's own key, because a search compares many.
    func has(_ key: Key) -> Bool {
        nameBytes == key.name && pathBytes == key.path && domain == key.domain && isHostOnly == key.isHostOnly
    }

    func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether both cookies are equal apart from their times.
    func hasContent(of other: StoredCookie) -> Bool {
        var other = other
        (other.creationDate, other.lastAccessDate) = (creationDate, lastAccessDate)
        return self == other
    }

    /// The name as a server reads it. A nameless cookie is sent as its value alone, which a server splits at the first
    /// `=`.
    var sentName: CookieBytes {
        guard nameBytes.isEmpty, let equals = valueBytes.bytes.firstIndex(of: UInt8(ascii: "=")) else {
            return nameBytes
        }
        let name = valueBytes.bytes[..<equals]
        return CookieBytes(name[..<((name.lastIndex { !ASCII.isBlank($0) } ?? -1) + 1)])
    }

    /// The octets of the cookie in a cookie-string (RFC 6265bis, section 5.8.3, step 6).
    func append(to string: inout [UInt8]) {
        if !nameBytes.isEmpty {
            string += nameBytes.bytes
            string.append(UInt8(ascii: "="))
        }
        string += valueBytes.bytes
    }
}

extension StoredCookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name, the domain and the path. The value is not shown.
    public var description: String {
        "\(name.oneLine)=<redacted>; \(isHostOnly ? "" : ".")\(domain)\(path.oneLine)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The name, the domain and the path, so that a dump does not show the value.
    public var customMirror: Mirror { Mirror(self, children: ["name": name, "domain": domain, "path": path]) }
}
