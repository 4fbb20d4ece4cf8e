/// Merges the cookies of a jar with the changes that other processes have made to its file since the jar last read or
/// wrote it.
///
/// A cookie of one side only was either added there or removed on the other side; the base distinguishes the two. If
/// both sides changed a cookie, the more recently used version wins. A change wins over a removal.
enum CookieMerge {
    typealias Cookies = [StoredCookie.Key: StoredCookie]

    /// - Parameters:
    ///   - ours: The cookies of the jar.
    ///   - theirs: The cookies in the file.
    ///   - base: The cookies that both sides had when they were last equal.
    /// - Returns: The cookies in the order of the jar, followed by the new ones.
    static func merged(ours: [StoredCookie], theirs: [StoredCookie], base: Cookies) -> [StoredCookie] {
        let (ourCookies, theirCookies) = (byKey(ours), byKey(theirs))
        let keys = ours.map(\.key) + theirs.map(\.key).filter { ourCookies[$0] == nil }
        return keys.compactMap { cookie(ourCookies[$0], theirCookies[$0], base[$0]) }
    }

    private static func cookie(_ ours: StoredCookie?, _ theirs: StoredCookie?, _ base: StoredCookie?) -> StoredCookie? {
        guard let ours, let theirs else {
            guard let only = ours ?? theirs, let base else { return ours ?? theirs }
            // An unchanged cookie was removed on the other side. A changed one wins over its removal.
            return only.hasContent(of: base) ? nil : only
        }
        var newer = ours.lastAccessDate < theirs.lastAccessDate ? theirs : ours
        if let base, ours.hasContent(of: base) {
            newer = theirs
        } else if let base, theirs.hasContent(of: base) {
            newer = ours
        }
        // The creation date decides the sending order, and the last use the order of eviction.
        newer.creationDate = min(ours.creationDate, theirs.creationDate)
        newer.lastAccessDate = max(ours.lastAccessDate, theirs.lastAccessDate)
        return newer
    }

    /// The cookies by their keys. The last cookie of a key counts.
    static func byKey(_ cookies: [StoredCookie]) -> Cookies {
        Dictionary(cookies.map { ($0.key, $0) }) { _, last in last }
    }
}

/// The contents of a file when a jar last read or wrote it.
struct SynchronizedFile {
    private var path: String?
    private var cookies: CookieMerge.Cookies = [:]

    init() {}

    init(path: String, cookies: [StoredCookie]) {
        self.path = path
        self.cookies = CookieMerge.byKey(cookies)
    }

    /// The contents of the file; none for another file, all of whose cookies are then new.
    func base(at path: String) -> CookieMerge.Cookies { self.path == path ? cookies : [:] }
}
