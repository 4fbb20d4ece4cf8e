public import FoundationEssentials

/// Stores the responses of a cache.
///
/// A store applies no rules of HTTP: it keeps responses under keys, within its limits. Its methods can be called from
/// several tasks at once. Each is atomic:
///
/// - An entry becomes visible as a whole when ``CacheEntryWriter/commit(asFirstOf:)`` returns it. An abandoned entry,
///   or one whose writer is released, leaves nothing.
/// - A commit also replaces the entry of the same key and variant, and the entries named in
///   ``beginEntry(_:replacing:)``, in the same step.
/// - An entry cannot be committed after its key or the whole store has been emptied since its beginning.
/// - A body that was opened stays readable when its entry is removed.
///
/// The store limits the number of entries for one key.
public protocol CacheStore: Sendable {
    /// Returns all entries of a key, in any order. This does not count as a use.
    func responses(for key: CacheKey) async throws(CacheError) -> [StoredResponse]

    /// Opens the body of an entry, which counts as a use; nil if the entry has been removed.
    func body(of id: StoredResponse.ID) async throws(CacheError) -> (any StoredBody)?

    /// Begins an entry.
    ///
    /// - Parameters:
    ///   - response: The response, whose identifier and body size have no meaning yet.
    ///   - replaced: Entries that the new one replaces.
    /// - Returns: A writer for its body.
    /// - Throws: `entryTooLarge` if the head or its Content-Length exceeds the size limit of an entry.
    func beginEntry(
        _ response: StoredResponse, replacing replaced: [StoredResponse.ID]
    ) async throws(CacheError) -> any CacheEntryWriter

    /// Replaces everything but the body of the entry with the same identifier; without effect if it has been removed.
    func update(_ response: StoredResponse) async throws(CacheError)

    /// Removes entries.
    func remove(_ ids: [StoredResponse.ID]) async throws(CacheError)

    /// Removes all entries of keys.
    func removeAll(for keys: [CacheKey]) async throws(CacheError)

    /// Removes all entries.
    func removeAll() async throws(CacheError)

    /// Counts the outcome of a request.
    func record(_ outcome: CacheStatistics.Outcome)

    /// The store's counts so far, and its contents.
    func statistics() async -> CacheStatistics
}

/// The body of an entry.
public protocol StoredBody: Sendable {
    /// The number of bytes.
    var size: Int64 { get }

    /// Returns bytes of the body, exactly the requested number; without a copy if they are in memory.
    ///
    /// - Throws: `rangeNotStored` if the body is shorter.
    func bytes(in range: Range<Int64>) async throws(CacheError) -> Data
}

/// Writes the body of an entry that is not visible yet. A single task uses it.
///
/// An entry whose writer is released without ``commit(asFirstOf:)`` is abandoned.
public protocol CacheEntryWriter: AnyObject, Sendable {
    /// Appends bytes to the body.
    ///
    /// - Throws: `entryTooLarge` if the body exceeds the size limit of an entry, `entryRemoved` if the entry can no
    ///   longer be stored; the entry is abandoned.
    func append(_ bytes: Data) async throws(CacheError)

    /// Makes the entry visible.
    ///
    /// - Parameter total: The length of the whole representation, if the body has only its first bytes; nil if the body
    ///   is complete.
    /// - Returns: The stored response, with its identifier.
    /// - Throws: `entryRemoved` if the entry was abandoned or committed, or if its key was removed meanwhile.
    func commit(asFirstOf total: Int64?) async throws(CacheError) -> StoredResponse

    /// Drops the entry.
    func abandon() async
}

extension CacheEntryWriter {
    /// Makes the entry visible; its body is complete.
    ///
    /// - Throws: The errors of ``commit(asFirstOf:)``.
    public func commit() async throws(CacheError) -> StoredResponse { try await commit(asFirstOf: nil) }
}
