package import FoundationEssentials
internal import HTTPTypes
internal import Synchronization

/// A cache in memory, of limited size.
///
/// The least recently used entries are removed first. A hit copies no bytes of the body. Unfinished bodies are not
/// counted; each is at most as large as an entry.
public final class MemoryCacheStore: CacheStore {
    private let state: Mutex<MemoryCacheMachine>

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - limit: The size of all entries in bytes: their bodies, and an estimate for their heads. The default is 4
    ///     MiB. Beyond it, the least recently used entries are removed.
    ///   - entryLimit: The size of one entry. The default is a twentieth of `limit`. Beyond it, a response is not
    ///     stored.
    public init(limit: Int64 = 4 << 20, entryLimit: Int64? = nil) {
        let limit = max(0, limit)
        let machine = MemoryCacheMachine(limit: limit, entryLimit: min(entryLimit ?? limit / 20, limit))
        state = Mutex(machine)
    }

    /// The largest number of entries for one URL. The default is 32, which cannot be changed. Beyond it, the least
    /// recently used entry is removed.
    public static let variantLimit = MemoryCacheMachine.variantLimit

    /// Whether there is no entry.
    package var isEmpty: Bool { state.withLock { $0.isEmpty } }

    /// The entries of a key, in the order of ``responses(for:)``.
    package func storedResponses(for key: CacheKey) -> [StoredResponse] { state.withLock { $0.responses(for: key) } }

    /// Returns the body of an entry, and counts it as used; nil if the entry was removed.
    package func useBody(of id: StoredResponse.ID) -> Data? { state.withLock { $0.use(id) } }

    /// Returns all entries of a key, the newest one last.
    public func responses(for key: CacheKey) async throws(CacheError) -> [StoredResponse] {
        storedResponses(for: key)
    }

    /// Opens the body of an entry, which counts as a use; nil if the entry has been removed.
    public func body(of id: StoredResponse.ID) async throws(CacheError) -> (any StoredBody)? {
        useBody(of: id).map(MemoryBody.init)
    }

    /// Begins an entry.
    public func beginEntry(
        _ response: StoredResponse, replacing replaced: [StoredResponse.ID]
    ) async throws(CacheError) -> any CacheEntryWriter {
        let length = response.expectedBodySize
        guard let begun = state.withLock({ $0.begin(response, expecting: length) }) else { throw .entryTooLarge }
        return MemoryEntryWriter(begun, response: response, replacing: replaced, in: self)
    }

    /// Replaces everything but the body of an entry.
    public func update(_ response: StoredResponse) async throws(CacheError) {
        // The result keeps the bodies alive, so that they are freed after unlocking; likewise below. If it were only
        // discarded, the optimizer could free them earlier.
        withExtendedLifetime(state.withLock { $0.update(response) }) {}
    }

    /// Removes entries.
    public func remove(_ ids: [StoredResponse.ID]) async throws(CacheError) {
        withExtendedLifetime(state.withLock { machine in ids.compactMap { machine.remove($0) } }) {}
    }

    /// Removes all entries of keys.
    public func removeAll(for keys: [CacheKey]) async throws(CacheError) {
        withExtendedLifetime(state.withLock { $0.removeAll(for: keys) }) {}
    }

    /// Removes all entries.
    public func removeAll() async throws(CacheError) {
        withExtendedLifetime(state.withLock { $0.removeAll() }) {}
    }

    /// Counts the outcome of a request.
    public func record(_ outcome: CacheStatistics.Outcome) {
        state.withLock { $0.statistics.record(outcome) }
    }

    /// The store's counts so far, and its contents.
    public func statistics() async -> CacheStatistics {
        state.withLock { $0.statistics }
    }

    /// Throws unless the entry may have a body of this size.
    func check(_ id: StoredResponse.ID, size: Int64) throws(CacheError) {
        try state.withLock { $0.status(of: id, size: size) }.check()
    }

    func commit(
        _ response: StoredResponse, body: Data, replacing replaced: [StoredResponse.ID]
    ) throws(CacheError) -> StoredResponse {
        let result = state.withLock { $0.commit(response, body: body, replacing: replaced) }
        withExtendedLifetime(result.dropped) {}
        try result.status.check()
        return response
    }

    func abandon(_ id: StoredResponse.ID) {
        state.withLock { $0.abandon(id) }
    }
}

private struct MemoryBody: StoredBody {
    let data: Data

    var size: Int64 { Int64(data.count) }

    func bytes(in range: Range<Int64>) async throws(CacheError) -> Data {
        guard range.lowerBound >= 0, range.upperBound <= size else {
            throw .rangeNotStored(in: size)
        }
        if range == 0..<size { return data }
        return data[data.startIndex + Int(range.lowerBound)..<data.startIndex + Int(range.upperBound)]
    }
}

extension MemoryCacheMachine.WriterStatus {
    fileprivate func check() throws(CacheError) {
        switch self {
        case .open: return
        case .tooLarge: throw .entryTooLarge
        case .removed: throw .entryRemoved
        }
    }
}

extension CacheError {
    package static var entryTooLarge: CacheError {
        CacheError(code: .entryTooLarge, message: "The response is too large for the cache.")
    }
    package static var entryRemoved: CacheError {
        CacheError(code: .entryRemoved, message: "The response was removed from the cache before it was stored.")
    }
    package static func rangeNotStored(in size: Int64) -> CacheError {
        CacheError(code: .rangeNotStored, message: "The stored body has only \(size) bytes.")
    }
}
