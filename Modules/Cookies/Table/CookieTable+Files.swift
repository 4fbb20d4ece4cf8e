internal import FoundationEssentials

extension CookieTable {
    /// Takes over the cookies of a file, with their times. A cookie that changed since the file was written stays
    /// unchanged.
    ///
    /// - Parameters:
    ///   - merged: The cookies in the file.
    ///   - ours: The cookies of the table that the file was made from.
    mutating func adopt(_ merged: [StoredCookie], instead ours: [StoredCookie], now: Date) {
        let (before, after) = (CookieMerge.byKey(ours), CookieMerge.byKey(merged))
        for cookie in ours where after[cookie.key] == nil && isUnchanged(cookie) { removeCookie(cookie.key) }
        for cookie in merged {
            guard let current = self.cookie(cookie.key) else {
                if before[cookie.key] == nil { insert(cookie, now: now) }
                continue
            }
            guard before[cookie.key]?.hasContent(of: current) ?? false else { continue }
            var adopted = cookie
            adopted.lastAccessDate = max(cookie.lastAccessDate, current.lastAccessDate)
            if cookie.hasContent(of: current) { update(adopted) } else { insert(adopted, now: now) }
        }
    }

    private func isUnchanged(_ cookie: StoredCookie) -> Bool {
        self.cookie(cookie.key)?.hasContent(of: cookie) ?? false
    }

    /// Returns the cookies within the limits, without expired ones, in the order of their creation.
    static func withinLimits(_ cookies: [StoredCookie], now: Date) -> [StoredCookie] {
        var table = CookieTable(suffixes: .lastLabel)
        // A stable sort: cookies of one response keep their order.
        for cookie in cookies.sorted(by: { $0.creationDate < $1.creationDate }) {
            table.insert(cookie, now: now)
            _ = table.takeChanges()
        }
        return table.all(now: now)
    }
}
