public import FoundationEssentials
public import HTTPTypes

/// Stores the cookies that servers set, and selects cookies for requests (RFC 6265bis).
///
/// ```swift
/// let jar = CookieJar()
/// jar.store(setCookieFields: response.headerFields, of: url)
/// if let field = jar.cookieHeader(for: next) { request.headerFields.append(field) }
/// ```
///
/// A jar has at most 50 cookies for each domain and 3,000 in all, of at most 4,096 bytes each. It first removes expired
/// cookies, then cookies of a domain with too many (insecure ones first), then any cookies; within each group, the
/// least recently used first. No cookie that a server sets lives longer than 400 days.
///
/// All members can be called on any thread and do not suspend. Only reading and writing files blocks.
public final class CookieJar: Sendable {
    let storage: CookieJarStorage

    /// Makes an empty jar.
    ///
    /// - Parameter configure: Changes the default configuration.
    public init(_ configure: (inout Configuration) -> Void = { _ in }) {
        var configuration = Configuration()
        configure(&configuration)
        storage = CookieJarStorage(configuration)
    }

    deinit { storage.finish() }

    /// The configuration that the jar was made with.
    public var configuration: Configuration { storage.configuration }

    /// Stores a cookie, in place of one with the same name, domain and path.
    ///
    /// The program decides: neither the origin nor the public suffixes are checked here. A cookie for a public suffix
    /// is sent to that host alone, even if it is not host-only. An expired cookie removes the stored one with its name,
    /// domain and path. With the policy ``AcceptPolicy/never`` the call has no effect.
    public func set(_ cookie: StoredCookie) {
        guard configuration.acceptPolicy != .never else { return }
        storage.change { table, now in table.insert(cookie, now: now) }
    }

    /// Stores the cookies of a response's Set-Cookie fields (RFC 6265bis, sections 5.6 and 5.7).
    ///
    /// A field that breaks a rule is ignored, as RFC 6265bis requires, and does not affect the others.
    ///
    /// - Parameters:
    ///   - fields: The header fields of the response. Fields other than Set-Cookie are ignored.
    ///   - url: The URL of the request. Only http and https URLs set cookies.
    ///   - context: The purpose of the request. The default is ``CookieContext/sameSite``.
    /// - Returns: The cookies that the fields set, in their order. The expired cookies among them have removed the
    ///   stored ones.
    @discardableResult
    public func store(
        setCookieFields fields: HTTPFields, of url: URL, context: CookieContext = .sameSite
    ) -> [StoredCookie] {
        guard fields.contains(.setCookie), let request = CookieRequest(url, context, configuration.publicSuffixes),
            configuration.acceptPolicy.accepts(request)
        else { return [] }
        let received = fields[fields: .setCookie].compactMap { field in
            try? SetCookie(parsing: field.withUnsafeBytesOfValue { Array($0) })
        }
        return storage.change { table, now in
            received.compactMap { try? table.receive($0, of: request, now: now) }
        }
    }

    /// Returns the cookies for a request in sending order: longer paths first, then older cookies (RFC 6265bis, section
    /// 5.8.3).
    ///
    /// The cookies count as used, even if the request is not sent.
    ///
    /// - Parameters:
    ///   - url: The URL of the request. Only http and https URLs have cookies.
    ///   - context: The purpose of the request. The default is ``CookieContext/sameSite``.
    public func cookies(for url: URL, context: CookieContext = .sameSite) -> [StoredCookie] {
        guard !storage.isEmpty, let request = CookieRequest(url, context, configuration.publicSuffixes) else {
            return []
        }
        return storage.change { table, now in table.cookies(for: request, now: now) }
    }

    /// Returns the Cookie field for a request, with names and values in the octets that servers sent; nil if there are
    /// no cookies for it.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - context: The purpose of the request. The default is ``CookieContext/sameSite``.
    public func cookieHeader(for url: URL, context: CookieContext = .sameSite) -> HTTPField? {
        var string: [UInt8] = []
        for cookie in cookies(for: url, context: context) {
            if !string.isEmpty { string += [UInt8(ascii: ";"), UInt8(ascii: " ")] }
            cookie.append(to: &string)
        }
        return string.isEmpty ? nil : HTTPField(name: .cookie, lenientValue: string)
    }

    /// All cookies, in the order in which they were first stored.
    public var all: [StoredCookie] { storage.change { table, now in table.all(now: now) } }

    /// Removes the cookies that a predicate selects.
    ///
    /// The predicate is called on this thread before the method returns. A cookie that another thread replaces
    /// meanwhile stays.
    public func remove(where isRemoved: (StoredCookie) throws -> Bool) rethrows {
        let removed = try all.filter(isRemoved)
        storage.change { table, _ in
            for cookie in removed where table.cookie(cookie.key)?.hasContent(of: cookie) ?? false {
                table.removeCookie(cookie.key)
            }
        }
    }

    /// Removes all cookies.
    public func removeAll() {
        storage.change { table, now in
            for cookie in table.all(now: now) { table.removeCookie(cookie.key) }
        }
    }

    /// Removes the cookies without an expiry date, as a browser does when the session ends (RFC 6265bis, section 5.7).
    public func removeSessionCookies() {
        storage.change { table, now in
            for cookie in table.all(now: now) where !cookie.isPersistent { table.removeCookie(cookie.key) }
        }
    }
}
