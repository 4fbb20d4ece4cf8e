public import LinnetSession
internal import Synchronization

/// Keeps decoded images in memory, within a limit on their bytes.
///
/// ```swift
/// let cache = AutoPurgingImageCache<Bitmap>()
/// cache.add(bitmap, withIdentifier: "header")
/// ```
/// When the size of all images exceeds ``memoryCapacity``, the least recently used ones are removed until
/// ``preferredMemoryUsageAfterPurge`` is reached. All images are removed when the system is short of memory, if the
/// kernel reports it: Linux with pressure stall information (`/proc/pressure/memory`) that the process may watch. In
/// other cases, only the limit applies.
///
/// All members can be used from any thread.
public final class AutoPurgingImageCache<Image: DecodedImage>: Sendable {
    /// The maximum size of all images, in bytes. The default is 100 MiB. Beyond it, the least recently used images are
    /// removed.
    public let memoryCapacity: Int
    /// The target size of a purge, in bytes. The default is 60 MiB.
    public let preferredMemoryUsageAfterPurge: Int
    private let storage: ImageCacheStorage<Image>
    private let pressureSource: MemoryPressureSource?
    private let isWatching: Atomic<Bool>
    private let pressure = Mutex<MemoryPressureWatch?>(nil)

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The maximum size of all images, in bytes. The default is 100 MiB.
    ///   - preferredMemoryUsageAfterPurge: The target size of a purge, in bytes. The default is 60 MiB; the capacity
    ///     limits it.
    ///   - purgesUnderMemoryPressure: Whether all images are removed when the system is short of memory. The default is
    ///     true. It takes one thread, which starts with the first image and waits in the kernel.
    public convenience init(
        memoryCapacity: Int = 100 << 20, preferredMemoryUsageAfterPurge: Int = 60 << 20,
        purgesUnderMemoryPressure: Bool = true
    ) {
        self.init(
            memoryCapacity: memoryCapacity, preferredMemoryUsageAfterPurge: preferredMemoryUsageAfterPurge,
            pressureSource: purgesUnderMemoryPressure ? .kernel : nil)
    }

    init(memoryCapacity: Int, preferredMemoryUsageAfterPurge: Int, pressureSource: MemoryPressureSource?) {
        let storage = ImageCacheStorage<Image>(capacity: memoryCapacity, preferredUsage: preferredMemoryUsageAfterPurge)
        self.storage = storage
        self.memoryCapacity = storage.capacity
        self.preferredMemoryUsageAfterPurge = storage.preferredUsage
        self.pressureSource = pressureSource
        isWatching = Atomic(pressureSource == nil)
    }

    /// Begins to watch the memory, with the first image.
    private func watchMemory() {
        guard !isWatching.load(ordering: .relaxed), let pressureSource,
            !isWatching.exchange(true, ordering: .relaxed)
        else { return }
        let watch = MemoryPressureWatch(pressureSource) { [storage] in storage.removeAll() }
        pressure.withLock { $0 = watch }
    }

    private func add(_ image: Image, for key: ImageKey) -> Bool {
        watchMemory()
        return storage.add(image, for: key)
    }

    /// The size of all images, in bytes. It never exceeds the capacity.
    public var memoryUsage: Int { storage.usage }

    /// The number of images.
    public var count: Int { storage.count }

    /// Adds an image, or replaces the image with the same identifier.
    ///
    /// - Returns: Whether the image was added; false if it exceeds the capacity by itself.
    @discardableResult
    public func add(_ image: Image, withIdentifier identifier: String) -> Bool {
        add(image, for: .identifier(identifier))
    }

    /// Returns the image with an identifier, if any, and counts it as used.
    public func image(withIdentifier identifier: String) -> Image? { storage.image(for: .identifier(identifier)) }

    /// Removes the image with an identifier.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func removeImage(withIdentifier identifier: String) -> Bool { storage.remove(.identifier(identifier)) }

    /// Removes all images.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    public func removeAllImages() -> Bool { storage.removeAll() }
}

// Images of requests. The URL, the header fields and the processors' identifiers distinguish them. They never share an
// identifier with other images.
extension AutoPurgingImageCache {
    /// Adds the image of a request, or replaces it.
    ///
    /// - Returns: Whether the image was added; false if it exceeds the capacity by itself.
    @discardableResult
    public func add(_ image: Image, for request: ImageRequest<Image>) -> Bool { add(image, for: request.key) }

    /// Returns the image of a request, if any, and counts it as used.
    public func image(for request: ImageRequest<Image>) -> Image? { storage.image(for: request.key) }

    /// Removes the image of a request.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func removeImage(for request: ImageRequest<Image>) -> Bool { storage.remove(request.key) }

    func image(for key: ImageKey) -> Image? { storage.image(for: key) }
}

/// The state of a cache, shared with the thread that watches the memory.
final class ImageCacheStorage<Image: DecodedImage>: Sendable {
    let capacity: Int
    let preferredUsage: Int
    private let machine: Mutex<ImageCacheMachine<ImageKey, Image>>

    init(capacity: Int, preferredUsage: Int) {
        let machine = ImageCacheMachine<ImageKey, Image>(capacity: capacity, preferredUsage: preferredUsage)
        self.capacity = machine.capacity
        self.preferredUsage = machine.preferredUsage
        self.machine = Mutex(machine)
    }

    var usage: Int { machine.withLock { $0.usage } }
    var count: Int { machine.withLock { $0.count } }

    func add(_ image: Image, for key: ImageKey) -> Bool {
        let byteCount = image.byteCount
        let result = machine.withLock { $0.add(image, byteCount: byteCount, for: key) }
        // The removed images are released after unlocking, since an image can be the program's; likewise below.
        return withExtendedLifetime(result.removed) { result.isAdded }
    }

    func image(for key: ImageKey) -> Image? { machine.withLock { $0.image(for: key) } }

    func remove(_ key: ImageKey) -> Bool {
        let removed = machine.withLock { $0.remove(key) }
        return withExtendedLifetime(removed) { removed != nil }
    }

    @discardableResult
    func removeAll() -> Bool {
        let removed = machine.withLock { $0.removeAll() }
        return withExtendedLifetime(removed) { !removed.isEmpty }
    }
}
