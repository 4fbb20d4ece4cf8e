internal import FoundationEssentials

/// The contents of a cache in memory, and the rules of eviction.
struct MemoryCacheMachine {
    static let variantLimit = 32

    private struct Entry {
        var response: StoredResponse
        let body: Data
    }

    enum WriterStatus {
        case open
        case tooLarge
        case removed
    }

    private let limit: Int64
    private let entryLimit: Int64
    private var entries: [StoredResponse.ID: Entry] = [:]
    /// The entries of a key in the order of storing.
    private var variants: [CacheKey: [StoredResponse.ID]] = [:]
    private var order = RecencyOrder<StoredResponse.ID>()
    /// The unfinished entries, with the size of their heads.
    private var open: [StoredResponse.ID: (key: CacheKey, headSize: Int64)] = [:]
    private var lastID: UInt64 = 0
    var statistics = CacheStatistics()

    init(limit: Int64, entryLimit: Int64) {
        self.limit = limit
        self.entryLimit = entryLimit
    }

    var isEmpty: Bool { entries.isEmpty }

    func responses(for key: CacheKey) -> [StoredResponse] {
        (variants[key] ?? []).compactMap { entries[$0]?.response }
    }

    /// Returns the body of an entry, and makes it the most recently used one.
    mutating func use(_ id: StoredResponse.ID) -> Data? {
        guard let entry = entries[id] else { return nil }
        order.use(id)
        return entry.body
    }

    // MARK: Writing

    /// Begins an entry; nil if it is too large.
    mutating func begin(_ response: StoredResponse, expecting length: Int64) -> StoredResponse.ID? {
        var empty = response
        empty.bodySize = 0
        let headSize = empty.size
        guard headSize + length <= entryLimit else { return nil }
        lastID += 1
        let id = StoredResponse.ID(rawValue: lastID)
        open[id] = (response.key, headSize)
        return id
    }

    func status(of id: StoredResponse.ID, size: Int64) -> WriterStatus {
        guard let writer = open[id] else { return .removed }
        return writer.headSize + size <= entryLimit ? .open : .tooLarge
    }

    mutating func abandon(_ id: StoredResponse.ID) {
        open[id] = nil
    }

    /// Makes an entry visible. The caller frees the bodies of the result after unlocking.
    mutating func commit(
        _ response: StoredResponse, body: Data, replacing replaced: [StoredResponse.ID]
    ) -> (status: WriterStatus, dropped: [Data]) {
        let status = status(of: response.id, size: Int64(body.count))
        open[response.id] = nil
        guard status == .open else { return (status, []) }
        let same = (variants[response.key] ?? []).filter { entries[$0]?.response.variant == response.variant }
        var dropped = (replaced + same).compactMap { remove($0) }
        entries[response.id] = Entry(response: response, body: body)
        variants[response.key, default: []].append(response.id)
        order.use(response.id)
        statistics.count += 1
        statistics.bytes += response.size
        dropped += evictVariants(of: response.key) + evict()
        return (.open, dropped)
    }

    mutating func update(_ response: StoredResponse) -> [Data] {
        guard let old = entries[response.id]?.response, old.key == response.key else { return [] }
        var new = response
        new.bodySize = old.bodySize
        new.part = old.part
        entries[response.id]?.response = new
        statistics.bytes += new.size - old.size
        // The update may make the head longer.
        let tooLarge = new.size > entryLimit ? [remove(new.id)].compactMap { $0 } : []
        return tooLarge + evict()
    }

    // MARK: Removing

    /// Removes an entry, and returns its body, if any.
    mutating func remove(_ id: StoredResponse.ID) -> Data? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        let key = entry.response.key
        variants[key]?.removeAll { $0 == id }
        if variants[key]?.isEmpty == true { variants[key] = nil }
        order.remove(id)
        statistics.count -= 1
        statistics.bytes -= entry.response.size
        return entry.body
    }

    mutating func removeAll(for keys: [CacheKey]) -> [Data] {
        let removed = Set(keys)
        open = open.filter { !removed.contains($0.value.key) }
        return removed.flatMap { variants[$0] ?? [] }.compactMap { remove($0) }
    }

    mutating func removeAll() -> [Data] {
        let bodies = entries.values.map(\.body)
        entries = [:]
        variants = [:]
        order = RecencyOrder()
        open = [:]
        statistics.count = 0
        statistics.bytes = 0
        return bodies
    }

    /// Removes the least recently used entries until the rest is within the limit.
    private mutating func evict() -> [Data] {
        var dropped: [Data] = []
        while statistics.bytes > limit, let id = order.oldest, let body = remove(id) {
            statistics.evictions += 1
            dropped.append(body)
        }
        return dropped
    }

    private mutating func evictVariants(of key: CacheKey) -> [Data] {
        var dropped: [Data] = []
        while let ids = variants[key], ids.count > Self.variantLimit,
            let id = ids.min(by: { order.isOlder($0, than: $1) }), let body = remove(id)
        {
            statistics.evictions += 1
            dropped.append(body)
        }
        return dropped
    }
}
