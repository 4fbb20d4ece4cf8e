internal import FoundationEssentials
internal import LinnetCache

/// The bodies that are kept in memory, over those on disk. A body never changes, so they need no validation.
struct MemoryTier {
    private let limit: Int64
    private var bodies: [StoredResponse.ID: Data] = [:]
    private var order = RecencyOrder<StoredResponse.ID>()
    private var size: Int64 = 0

    init(limit: Int64) { self.limit = max(0, limit) }

    /// The body of an entry, which is now the one that was used last.
    mutating func use(_ id: StoredResponse.ID) -> Data? {
        guard let body = bodies[id] else { return nil }
        order.use(id)
        return body
    }

    /// Keeps a body, unless it takes more than a twentieth of the space, in place of those that were used least recently.
    mutating func insert(_ body: Data, of id: StoredResponse.ID) {
        guard Int64(body.count) <= limit / 20, bodies[id] == nil else { return }
        bodies[id] = body
        order.use(id)
        size += Int64(body.count)
        while size > limit, let oldest = order.oldest { remove(oldest) }
    }

    mutating func remove(_ id: StoredResponse.ID) {
        guard let body = bodies.removeValue(forKey: id) else { return }
        order.remove(id)
        size -= Int64(body.count)
    }
}
