/// Keys in the order of their use. All operations take constant time.
package struct RecencyOrder<Key: Hashable> {
    private struct Links {
        var older: Key?
        var newer: Key?
        /// The number of the use; greater for later uses.
        let stamp: UInt64
    }

    private var links: [Key: Links] = [:]
    /// The least recently used key.
    package private(set) var oldest: Key?
    private var newest: Key?
    private var lastStamp: UInt64 = 0

    package init() {}

    /// Moves a key to the end, or adds it there.
    package mutating func use(_ key: Key) {
        guard newest != key else { return }
        remove(key)
        lastStamp += 1
        links[key] = Links(older: newest, stamp: lastStamp)
        if let newest { links[newest]?.newer = key } else { oldest = key }
        newest = key
    }

    /// Whether a key was used before another.
    package func isOlder(_ key: Key, than other: Key) -> Bool { (links[key]?.stamp ?? 0) < (links[other]?.stamp ?? 0) }

    package mutating func remove(_ key: Key) {
        guard let removed = links.removeValue(forKey: key) else { return }
        if let older = removed.older { links[older]?.newer = removed.newer } else { oldest = removed.newer }
        if let newer = removed.newer { links[newer]?.older = removed.older } else { newest = removed.older }
    }
}
