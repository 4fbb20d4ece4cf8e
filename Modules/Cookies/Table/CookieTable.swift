internal import FoundationEssentials

/// The cookies of a jar and their rules, as a value: time is a parameter.
///
/// Expired cookies are removed before each operation. Changes collect in ``changes`` until they are taken.
struct CookieTable {
    struct Entry {
        var cookie: StoredCookie
        /// The order of storing, for cookies with the same times.
        let number: UInt64
    }

    /// The limits of RFC 6265bis, sections 5.5 and 6.1.
    struct Limits {
        var cookiesPerDomain = 50
        var cookies = 3000
        /// 400 days, in seconds.
        var age: Int64 = 34_560_000
    }

    let suffixes: PublicSuffixList
    let limits: Limits
    /// The cookies by their domain field. No list is empty.
    var domains: [String: [Entry]] = [:]
    private(set) var count = 0
    private(set) var secureCount = 0
    private(set) var changes: [CookieJar.Change] = []
    private var lastNumber: UInt64 = 0
    /// A time before which no cookie expires, so that most operations skip the search for expired ones.
    private var earliestExpiry = Date.distantFuture

    init(suffixes: PublicSuffixList, limits: Limits = Limits()) {
        (self.suffixes, self.limits) = (suffixes, limits)
    }

    /// All cookies in the order in which they were first stored.
    mutating func all(now: Date) -> [StoredCookie] {
        removeExpired(now: now)
        return domains.values.joined().sorted(by: Self.isOlder).map(\.cookie)
    }

    func cookie(_ key: StoredCookie.Key) -> StoredCookie? {
        domains[key.domain]?.first { $0.cookie.has(key) }?.cookie
    }

    mutating func takeChanges() -> [CookieJar.Change] {
        defer { changes = [] }
        return changes
    }

    /// Stores a cookie, replaces the one with the same key, and removes excess cookies (section 5.7, steps 23 and 24).
    ///
    /// An expired cookie is not stored, but removes the one with its key.
    mutating func insert(_ cookie: StoredCookie, now: Date) {
        removeExpired(now: now)
        var cookie = cookie
        let old = remove(cookie.key)
        guard !cookie.isExpired(at: now) else {
            if let old { changes.append(CookieJar.Change(.removed, old.cookie)) }
            return
        }
        // An update keeps the place in the sending order, as section 5.7 requires.
        if let old { cookie.creationDate = old.cookie.creationDate }
        lastNumber += 1
        add(Entry(cookie: cookie, number: old?.number ?? lastNumber))
        changes.append(CookieJar.Change(old == nil ? .stored : .replaced, cookie))
        removeExcess(of: cookie.domain)
    }

    /// Replaces a stored cookie by the same cookie with other times.
    mutating func update(_ cookie: StoredCookie) {
        let key = cookie.key
        guard let index = domains[cookie.domain]?.firstIndex(where: { $0.cookie.has(key) }) else { return }
        domains[cookie.domain]?[index].cookie = cookie
    }

    /// Removes a cookie if it is stored.
    mutating func removeCookie(_ key: StoredCookie.Key, _ kind: CookieJar.Change.Kind = .removed) {
        guard let old = remove(key) else { return }
        changes.append(CookieJar.Change(kind, old.cookie))
    }

    /// Removes the expired cookies (section 5.7).
    mutating func removeExpired(now: Date) {
        guard earliestExpiry <= now else { return }
        earliestExpiry = .distantFuture
        for entry in domains.values.joined() {
            if entry.cookie.isExpired(at: now) {
                removeCookie(entry.cookie.key, .expired)
            } else if let expires = entry.cookie.expires {
                earliestExpiry = min(earliestExpiry, expires)
            }
        }
    }

    private mutating func add(_ entry: Entry) {
        domains[entry.cookie.domain, default: []].append(entry)
        count += 1
        if entry.cookie.isSecure { secureCount += 1 }
        if let expires = entry.cookie.expires { earliestExpiry = min(earliestExpiry, expires) }
    }

    private mutating func remove(_ key: StoredCookie.Key) -> Entry? {
        guard let index = domains[key.domain]?.firstIndex(where: { $0.cookie.has(key) }),
            let entry = domains[key.domain]?.remove(at: index)
        else { return nil }
        if domains[key.domain]?.isEmpty ?? false { domains[key.domain] = nil }
        count -= 1
        if entry.cookie.isSecure { secureCount -= 1 }
        return entry
    }

    static func isOlder(_ left: Entry, _ right: Entry) -> Bool {
        (left.cookie.creationDate, left.number) < (right.cookie.creationDate, right.number)
    }
}

extension CookieTable {
    /// Removes cookies beyond the limits in the order of section 5.7: first of a domain with too many, insecure ones
    /// before others; then of the whole table. Within each group, the least recently used goes first. Expired cookies
    /// are gone already.
    private mutating func removeExcess(of domain: String) {
        while let entries = domains[domain], entries.count > limits.cookiesPerDomain {
            // Secure cookies go last, so that responses without TLS cannot flush them.
            let insecure = entries.lazy.filter { !$0.cookie.isSecure }.min(by: Self.isUnusedLonger)
            evict(insecure ?? entries.min(by: Self.isUnusedLonger))
        }
        while count > limits.cookies { evict(longestUnused) }
    }

    /// The least recently used cookie. The search compares in place, since a full table repeats it for each new cookie.
    private var longestUnused: Entry? {
        var longest: (used: Date, number: UInt64, domain: String, index: Int)?
        for (domain, entries) in domains {
            for index in entries.indices {
                let (used, number) = (entries[index].cookie.lastAccessDate, entries[index].number)
                if let longest, (longest.used, longest.number) <= (used, number) { continue }
                longest = (used, number, domain, index)
            }
        }
        return longest.flatMap { domains[$0.domain]?[$0.index] }
    }

    private mutating func evict(_ entry: Entry?) {
        guard let entry else { return }
        removeCookie(entry.cookie.key, .evicted)
    }

    private static func isUnusedLonger(_ left: Entry, _ right: Entry) -> Bool {
        (left.cookie.lastAccessDate, left.number) < (right.cookie.lastAccessDate, right.number)
    }
}
