internal import FoundationEssentials
internal import LinnetMessages

extension CookieTable {
    /// Stores a cookie of a response to a request (RFC 6265bis, section 5.7).
    ///
    /// - Returns: The cookie. An expired one, by which servers remove a cookie, is not in the table.
    /// - Throws: The reason of the refusal.
    @discardableResult
    mutating func receive(
        _ received: SetCookie, of request: CookieRequest, now: Date
    ) throws(CookieRefusal) -> StoredCookie {
        // Step 16 must not see expired cookies, because they protect nothing.
        removeExpired(now: now)
        try StoredCookie.checkPair(received.name, received.value)
        let (domain, isHostOnly) = try domainField(of: received, request)
        let cookie = StoredCookie(
            name: received.name, value: received.value, domain: domain,
            path: received.path ?? CookieMatching.defaultPath(of: request.path), isHostOnly: isHostOnly,
            expires: expiry(of: received, now: now), isSecure: received.isSecure, isHTTPOnly: received.isHTTPOnly,
            sameSite: received.sameSite, creationDate: now)
        // The default path comes from the URL, and another server may have chosen its length by a redirect.
        guard cookie.pathBytes.count <= StoredCookie.longestAttribute else { throw .tooLong }
        if !request.isSecure {
            // Without TLS, any machine on the network can forge a response, so it may neither set nor shadow a secure
            // cookie.
            guard !cookie.isSecure else { throw .insecureOrigin }
            guard !overlaysSecureCookie(cookie) else { throw .overlaysSecure }
        }
        // Otherwise a page of another site could plant the cookie that it may not send. A navigation is the user's
        // wish.
        if cookie.sameSite != .none, !request.isSameSite, !request.isTopLevelNavigation { throw .crossSite }
        try cookie.checkPrefixes(hasRootPath: received.hasPath && cookie.pathBytes.bytes == [UInt8(ascii: "/")])
        insert(cookie, now: now)
        return cookie
    }

    /// Returns the domain of the cookie and whether it is host-only (steps 7 to 10).
    private func domainField(of received: SetCookie, _ request: CookieRequest) throws(CookieRefusal) -> (HostName, Bool)
    {
        guard let attribute = received.domain, !attribute.isEmpty else { return (request.host, true) }
        guard attribute.bytes.allSatisfy({ $0 < 0x80 }) else { throw .domainCharacters }
        let domain = attribute.text
        if domain == request.domain {
            // A host that is itself a public suffix may keep a cookie of its own, but not one for the names below it.
            return (request.host, suffixes.isPublicSuffix(domain))
        }
        if case .address = request.host {
            // Only two spellings of an address are in use: the canonical one and the bracketed one of a URL.
            guard domain == "[\(request.domain)]" else { throw .foreignDomain }
            return (request.host, true)
        }
        guard !suffixes.isPublicSuffix(domain) else { throw .publicSuffix }
        guard CookieMatching.domain(request.domain, matches: domain), let host = HostName(domain) else {
            throw .foreignDomain
        }
        return (host, false)
    }

    /// The expiry date (step 6), within the limit of section 5.5.
    private func expiry(of received: SetCookie, now: Date) -> Date? {
        let latest = now.addingTimeInterval(Double(limits.age))
        if let age = received.maximumAge {
            // Max-Age comes first, because it does not depend on the clocks of both sides.
            return age <= 0 ? .distantPast : min(latest, now.addingTimeInterval(Double(min(age, limits.age))))
        }
        return received.expires.map { min($0, latest) }
    }

    /// Step 16: whether an insecure cookie would be sent where a secure one with its name is sent. Compares names as a
    /// server reads them, so that a nameless cookie cannot hide a secure one either.
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
