/// Merges the cookies of a jar with those that other processes have written to its file since the jar last read or wrote it.
///
/// A cookie that only one side has was added there, or removed on the other side: the base tells which. Where both sides changed a
/// cookie, the one that was used later counts. A change wins over a removal.
enum CookieMerge {
    typealias Cookies = [StoredCookie.Key: StoredCookie]

    /// - Parameters:
    ///   - ours: The cookies of the jar.
    ///   - theirs: The cookies in the file.
    ///   - base: What both had when they were last equal.
    /// - Returns: The cookies in the order of the jar, then those that it did not have.
    static func merged(ours: [StoredCookie], theirs: [StoredCookie], base: Cookies) -> [StoredCookie] {
        let (ourCookies, theirCookies) = (byKey(ours), byKey(theirs))
        let keys = ours.map(\.key) + theirs.map(\.key).filter { ourCookies[$0] == nil }
        return keys.compactMap { cookie(ourCookies[$0], theirCookies[$0], base[$0]) }
    }

    private static func cookie(_ ours: StoredCookie?, _ theirs: StoredCookie?, _ base: StoredCookie?) -> StoredCookie? {
        guard let ours, let theirs else {
            guard let only = ours ?? theirs, let base else { return ours ?? theirs }
            return only.hasContent(of: base) ? nil : only
        }
        var newer = ours.lastAccessDate < theirs.lastAccessDate ? theirs : ours
        if let base, ours.hasContent(of: base) {
            newer = theirs
        } else if let base, theirs.hasContent(of: base) {
            newer = ours
        }
        newer.creationDate = min(ours.creationDate, theirs.creationDate)
        newer.lastAccessDate = max(ours.lastAccessDate, theirs.lastAccessDate)
        return newer
    }

    /// The cookies by their keys. Of those with the same key, the last one counts.
    static func byKey(_ cookies: [StoredCookie]) -> Cookies {
        Dictionary(cookies.map { ($0.key, $0) }) { _, last in last }
    }
}

/// What a file had when a jar last read or wrote it.
struct SynchronizedFile {
    private var path: String?
    private var cookies: CookieMerge.Cookies = [:]

    init() {}

    init(path: String, cookies: [StoredCookie]) {
        self.path = path
        self.cookies = CookieMerge.byKey(cookies)
    }

    /// What a file had; nothing for another file, whose cookies are then added.
    func base(at path: String) -> CookieMerge.Cookies { self.path == path ? cookies : [:] }
}
