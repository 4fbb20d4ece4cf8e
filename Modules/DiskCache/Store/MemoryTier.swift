internal import FoundationEssentials
internal import LinnetCache

/// The bodies in memory, in front of the disk. A body never changes under its identifier, so they need no validation.
struct MemoryTier {
    private let limit: Int64
    private var bodies: [StoredResponse.ID: Data] = [:]
    private var order = RecencyOrder<StoredResponse.ID>()
    private var size: Int64 = 0

    init(limit: Int64) { self.limit = max(0, limit) }

    /// Returns the body of an entry, and makes it the most recently used one.
    mutating func use(_ id: StoredResponse.ID) -> Data? {
        guard let body = bodies[id] else { return nil }
        order.use(id)
        return body
    }

    /// Keeps a body, unless it takes more than a twentieth of the space. Removes the least recently used ones beyond
    /// the limit.
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
