public import FoundationEssentials
public import LinnetCache

extension CacheStore where Self == DiskCacheStore {
    /// A cache in a directory; see ``DiskCacheStore``.
    ///
    /// - Parameters:
    ///   - directory: The directory, which is created if it does not exist.
    ///   - limit: The size of all entries in bytes. The default is 20 MiB.
    /// - Throws: The errors of the initializer.
    public static func disk(at directory: URL, limit: Int64 = 20 << 20) throws(CacheError) -> DiskCacheStore {
        try DiskCacheStore(at: directory, limit: limit)
    }

    /// A cache in a directory, with the most recently used bodies in memory. The defaults are AFNetworking's sizes.
    ///
    /// It is a single store: a body that any process removes or replaces on disk is not taken from memory either.
    ///
    /// - Parameters:
    ///   - memory: The size of the bodies in memory, in bytes. The default is 4 MiB.
    ///   - disk: The size of all entries, in bytes. The default is 20 MiB.
    ///   - directory: The directory, which is created if it does not exist.
    /// - Throws: The errors of the initializer of ``DiskCacheStore``.
    public static func tiered(
        memory: Int64 = 4 << 20, disk: Int64 = 20 << 20, at directory: URL
    ) throws(CacheError) -> DiskCacheStore {
        try DiskCacheStore(at: directory, limit: disk, memoryLimit: memory)
    }
}
