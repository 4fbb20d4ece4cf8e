import FoundationEssentials
import LinnetCache
import LinnetDiskCache
import Testing

/// The stores, which keep the same contract.
enum StoreKind: CaseIterable, CustomTestStringConvertible {
    case memory, disk, tiered

    var testDescription: String { "\(self)" }

    /// Makes an empty store for one test.
    func withStore(
        limit: Int64 = 4 << 20, entryLimit: Int64? = nil, perform: (any CacheStore) async throws -> Void
    ) async throws {
        guard self != .memory else {
            return try await perform(MemoryCacheStore(limit: limit, entryLimit: entryLimit))
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-store-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await perform(
            DiskCacheStore(
                at: folder, limit: limit, entryLimit: entryLimit, memoryLimit: self == .tiered ? limit : 0))
    }
}
