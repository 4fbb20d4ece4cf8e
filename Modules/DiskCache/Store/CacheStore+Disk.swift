public import FoundationEssentials
public import LinnetCache

extension CacheStore where Self == DiskCacheStore {
    /// A cache in a directory; see ``DiskCacheStore/init(at:limit:entryLimit:)``.
    ///
    /// - Parameters:
    ///   - directory: The directory, which is created if it does not exist.
    ///   - limit: The size of all entries in bytes. The default is 20 MiB.
    /// - Throws: As the initializer.
    public static func disk(at directory: URL, limit: Int64 = 20 << 20) throws(CacheError) -> DiskCacheStore {
        try DiskCacheStore(at: directory, limit: limit)
    }
}
