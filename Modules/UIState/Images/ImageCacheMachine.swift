internal import LinnetCache

/// The images of a cache in the order of their use, within a size limit.
///
/// It returns removed images, so that the owner releases them after unlocking.
struct ImageCacheMachine<Key: Hashable & Sendable, Image: Sendable> {
    private struct Entry {
        let image: Image
        let byteCount: Int
    }

    let capacity: Int
    let preferredUsage: Int
    private(set) var usage = 0
    private var entries: [Key: Entry] = [:]
    private var order = RecencyOrder<Key>()

    init(capacity: Int, preferredUsage: Int) {
        self.capacity = max(0, capacity)
        self.preferredUsage = min(max(0, preferredUsage), self.capacity)
    }

    var count: Int { entries.count }

    mutating func image(for key: Key) -> Image? {
        guard let entry = entries[key] else { return nil }
        order.use(key)
        return entry.image
    }

    /// Adds an image, or replaces it. Beyond the capacity, the least recently used images, but not the new one, are
    /// removed until the preferred usage is reached.
    ///
    /// - Returns: Whether the image was added, and the removed images. An image beyond the capacity is not added.
    mutating func add(_ image: Image, byteCount: Int, for key: Key) -> (isAdded: Bool, removed: [Image]) {
        var removed = [remove(key)].compactMap(\.self)
        let byteCount = max(0, byteCount)
        guard byteCount <= capacity else { return (false, removed) }
        entries[key] = Entry(image: image, byteCount: byteCount)
        order.use(key)
        usage += byteCount
        if usage > capacity {
            while usage > preferredUsage, let oldest = order.oldest, oldest != key, let image = remove(oldest) {
                removed.append(image)
            }
        }
        return (true, removed)
    }

    mutating func remove(_ key: Key) -> Image? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        order.remove(key)
        usage -= entry.byteCount
        return entry.image
    }

    mutating func removeAll() -> [Image] {
        defer {
            entries = [:]
            order = RecencyOrder()
            usage = 0
        }
        return entries.values.map(\.image)
    }
}
