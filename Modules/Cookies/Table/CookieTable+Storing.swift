internal import FoundationEssentials
internal import LinnetMessages

extension CookieTable {
    /// Stores a cookie that a response to a request sets (RFC 6265bis, section 5.7).
    ///
    /// - Returns: The cookie. If it has expired, which is how servers remove one, it is not in the table.
    /// - Throws: The step that refuses the cookie.
    @discardableResult
    mutating func receive(
        _ received: SetCookie, of request: CookieRequest, now: Date
    ) throws(CookieRefusal) -> StoredCookie {
        // Step 16 must not see cookies that have expired.
        removeExpired(now: now)
        try StoredCookie.checkPair(received.name, received.value)
        let (domain, isHostOnly) = try domainField(of: received, request)
        let cookie = StoredCookie(
            name: received.name, value: received.value, domain: domain,
            path: received.path ?? CookieMatching.defaultPath(of: request.path), isHostOnly: isHostOnly,
            expires: expiry(of: received, now: now), isSecure: received.isSecure, isHTTPOnly: received.isHTTPOnly,
            sameSite: received.sameSite, creationDate: now)
        // The default path comes from the URL, whose length another server may have chosen.
        guard cookie.pathBytes.count <= StoredCookie.longestAttribute else { throw .tooLong }
        if !request.isSecure {
            guard !cookie.isSecure else { throw .insecureOrigin }
            guard !overlaysSecureCookie(cookie) else { throw .overlaysSecure }
        }
        if cookie.sameSite != .none, !request.isSameSite, !request.isTopLevelNavigation { throw .crossSite }
        try cookie.checkPrefixes(hasRootPath: received.hasPath && cookie.pathBytes.bytes == [UInt8(ascii: "/")])
        insert(cookie, now: now)
        return cookie
    }

    /// Steps 7 to 10.
    private func domainField(of received: SetCookie, _ request: CookieRequest) throws(CookieRefusal) -> (HostName, Bool)
    {
        guard let attribute = received.domain, !attribute.isEmpty else { return (request.host, true) }
        guard attribute.bytes.allSatisfy({ $0 < 0x80 }) else { throw .domainCharacters }
        let domain = attribute.text
        if domain == request.domain {
            return (request.host, suffixes.isPublicSuffix(domain))
        }
        if case .address = request.host {
            // An address can be written in other ways, of which only the canonical one and that of a URL are in use.
            guard domain == "[\(request.domain)]" else { throw .foreignDomain }
            return (request.host, true)
        }
        guard !suffixes.isPublicSuffix(domain) else { throw .publicSuffix }
        guard CookieMatching.domain(request.domain, matches: domain), let host = HostName(domain) else {
            throw .foreignDomain
        }
        return (host, false)
    }

    /// Step 6, with the limit of section 5.5.
    private func expiry(of received: SetCookie, now: Date) -> Date? {
        let latest = now.addingTimeInterval(Double(limits.age))
        if let age = received.maximumAge {
            return age <= 0 ? .distantPast : min(latest, now.addingTimeInterval(Double(min(age, limits.age))))
        }
        return received.expires.map { min($0, latest) }
    }

    /// Step 16: whether a cookie that is not secure would be sent where a secure one with its name is. The name is the one that the
    /// server reads, so that a cookie without one hides none either.
    private func overlaysSecureCookie(_ cookie: StoredCookie) -> Bool {
        guard secureCount > 0 else { return false }
        let name = cookie.sentName
        return domains.contains { domain, entries in
            let isRelated =
                CookieMatching.domain(domain, matches: cookie.domain)
                || CookieMatching.domain(cookie.domain, matches: domain)
            return isRelated
                && entries.contains {
                    $0.cookie.isSecure && $0.cookie.sentName == name
                        && CookieMatching.path(cookie.pathBytes, matches: $0.cookie.pathBytes)
                }
        }
    }
}
