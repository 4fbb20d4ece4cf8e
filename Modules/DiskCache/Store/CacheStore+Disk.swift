public import FoundationEssentials
public import LinnetCache

extension CacheStore where Self == DiskCacheStore {
    /// A cache in a directory; see ``DiskCacheStore``.
    ///
    /// - Parameters:
    ///   - directory: The directory, which is created if it does not exist.
    ///   - limit: The size of all entries in bytes. The default is 20 MiB.
    /// - Throws: As the initializer.
    public static func disk(at directory: URL, limit: Int64 = 20 << 20) throws(CacheError) -> DiskCacheStore {
        try DiskCacheStore(at: directory, limit: limit)
    }

    /// A cache in a directory, with the bodies that were used last in memory: AFNetworking's sizes by default.
    ///
    /// It is one store: what is removed or replaced on disk, by any process, is not taken from memory either.
    ///
    /// - Parameters:
    ///   - memory: The size of the bodies in memory, in bytes. The default is 4 MiB.
    ///   - disk: The size of all entries, in bytes. The default is 20 MiB.
    ///   - directory: The directory, which is created if it does not exist.
    /// - Throws: As the initializer of ``DiskCacheStore``.
    public static func tiered(
        memory: Int64 = 4 << 20, disk: Int64 = 20 << 20, at directory: URL
    ) throws(CacheError) -> DiskCacheStore {
        try DiskCacheStore(at: directory, limit: disk, memoryLimit: memory)
    }
}
