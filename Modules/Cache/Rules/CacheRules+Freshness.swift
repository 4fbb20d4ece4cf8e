package import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages

extension CacheRules {
    /// The age and the freshness lifetime of a response, in seconds (RFC 9111, section 4.2).
    package struct Freshness: Hashable, Sendable {
        /// The freshness lifetime.
        package let lifetime: Double
        /// The current age.
        package let age: Double

        /// Whether the response is fresh.
        package var isFresh: Bool { lifetime > age }
        /// The time since the response became stale; negative if it is fresh.
        package var staleness: Double { age - lifetime }
    }

    package func freshness(of stored: StoredResponse, at now: Date) -> Freshness {
        Freshness(lifetime: lifetime(of: stored), age: Self.age(of: stored, at: now))
    }

    /// The freshness lifetime (section 4.2.1).
    package func lifetime(of stored: StoredResponse) -> Double {
        let directives = stored.facts.directives
        if isShared, let seconds = directives.sharedMaxAge { return Double(seconds) }
        if let seconds = directives.maxAge { return Double(seconds) }
        switch stored.facts.expiration {
        // Both dates are the server's, whose clock may differ from this one.
        case .at(let expiration): return max(0, expiration.timeIntervalSince(Self.date(of: stored)))
        case .invalid: return 0
        case nil: return Self.heuristicLifetime(of: stored)
        }
    }

    /// A tenth of the time since the last modification, and at most a week (section 4.2.2).
    ///
    /// Without Last-Modified it is 0. A response to a URL with a query is often made for one request, so it is fresh
    /// only if the server sends an expiry or a modification date.
    private static func heuristicLifetime(of stored: StoredResponse) -> Double {
        guard stored.facts.allowsHeuristics, let modified = stored.facts.validators.modification else { return 0 }
        return min(max(0, date(of: stored).timeIntervalSince(modified.date)) * 0.1, 7 * 86_400)
    }

    /// The age (section 4.2.3): the time since Date, or the Age counted by caches plus the duration of the exchange if
    /// that is greater; plus the time since the response arrived.
    package static func age(of stored: StoredResponse, at now: Date) -> Double {
        // Differences below 0 come from clocks that differ or were set back.
        let apparentAge = max(0, stored.responseTime.timeIntervalSince(date(of: stored)))
        let responseDelay = max(0, stored.responseTime.timeIntervalSince(stored.requestTime))
        let correctedAge = stored.facts.age + responseDelay
        let residentTime = max(0, now.timeIntervalSince(stored.responseTime))
        return max(apparentAge, correctedAge) + residentTime
    }

    /// The time at which the server generated the response; the time of reception if the server does not say.
    static func date(of stored: StoredResponse) -> Date {
        stored.facts.date ?? stored.responseTime
    }
}

extension HTTPResponse.Status {
    /// The statuses whose responses can be fresh without an explicit lifetime (RFC 9110, section 15.1).
    var isHeuristicallyCacheable: Bool {
        switch code {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// The statuses whose caching rules this module follows (RFC 9111, section 5.2.2.3).
    var isUnderstood: Bool {
        switch code {
        case 302, 303, 307, 400, 401, 403, 500, 502, 503, 504: true
        default: isHeuristicallyCacheable
        }
    }
}
