/// The comparisons of RFC 6265bis, sections 5.1.3 and 5.1.4.
enum CookieMatching {
    /// Whether a host is a domain or below it. Both are canonical (section 5.1.3).
    ///
    /// An address matches only itself. Suffixes of an IPv4 address cannot match, because its last label is a number,
    /// and a domain never ends in a number.
    static func domain(_ host: String, matches domain: String) -> Bool {
        if host == domain { return true }
        let (host, domain) = (host.utf8, domain.utf8)
        guard !domain.isEmpty, host.count > domain.count, host.suffix(domain.count).elementsEqual(domain) else {
            return false
        }
        // Without the dot, "badexample.com" would match "example.com".
        return host.dropLast(domain.count).last == UInt8(ascii: ".")
    }

    /// Whether a request's path is a cookie's path or below it (section 5.1.4).
    static func path(_ path: CookieBytes, matches cookiePath: CookieBytes) -> Bool {
        let (path, cookiePath) = (path.bytes, cookiePath.bytes)
        guard path.starts(with: cookiePath) else { return false }
        // The prefix ends at a slash, so that "/account" does not match "/accounting".
        return path.count == cookiePath.count || cookiePath.last == UInt8(ascii: "/")
            || path[cookiePath.count] == UInt8(ascii: "/")
    }

    /// The path of a cookie without a Path attribute (section 5.1.4).
    static func defaultPath(of path: CookieBytes) -> CookieBytes {
        guard path.bytes.first == UInt8(ascii: "/"), let slash = path.bytes.lastIndex(of: UInt8(ascii: "/")), slash > 0
        else { return CookieBytes("/") }
        return CookieBytes(path.bytes[..<slash])
    }
}
