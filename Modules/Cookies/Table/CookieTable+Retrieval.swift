internal import FoundationEssentials
internal import LinnetMessages

extension CookieTable {
    /// Returns the cookies for a request in sending order, and notes their use (RFC 6265bis, section 5.8.3).
    mutating func cookies(for request: CookieRequest, now: Date) -> [StoredCookie] {
        removeExpired(now: now)
        var found: [Entry] = []
        for domain in Self.domains(of: request) where domains[domain] != nil {
            // The list may have changed since the cookie was stored.
            let isForSubdomains = domain != request.domain && !suffixes.isPublicSuffix(domain)
            for index in domains[domain]?.indices ?? 0..<0 {
                guard let entry = domains[domain]?[index], Self.isSent(entry.cookie, with: request) else { continue }
                guard domain == request.domain || !entry.cookie.isHostOnly && isForSubdomains else { continue }
                domains[domain]?[index].cookie.lastAccessDate = now
                var sent = entry
                sent.cookie.lastAccessDate = now
                found.append(sent)
            }
        }
        return found.sorted { left, right in
            let (leftLength, rightLength) = (left.cookie.pathBytes.count, right.cookie.pathBytes.count)
            // Servers that read the first of two cookies with a name get the most specific one.
            return leftLength != rightLength ? leftLength > rightLength : Self.isOlder(left, right)
        }.map(\.cookie)
    }

    /// Whether the path, the connection and the site of a request allow a cookie of its domain.
    private static func isSent(_ cookie: StoredCookie, with request: CookieRequest) -> Bool {
        guard CookieMatching.path(request.path, matches: cookie.pathBytes), !cookie.isSecure || request.isSecure else {
            return false
        }
        guard cookie.sameSite != .none, !request.isSameSite else { return true }
        // Lax cookies follow a link from another site, but not its images, scripts and forms.
        return cookie.sameSite != .strict && request.hasSafeMethod && request.isTopLevelNavigation
    }

    /// The host of a request and, if it is a name, the domains above it.
    private static func domains(of request: CookieRequest) -> [String] {
        guard case .name(let name) = request.host else { return [request.domain] }
        var domains = [name]
        var rest = name[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            domains.append(String(rest))
        }
        return domains
    }
}
