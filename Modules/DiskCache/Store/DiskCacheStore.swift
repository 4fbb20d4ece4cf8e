public import FoundationEssentials
public import LinnetCache
internal import Synchronization

/// A cache in a directory, of limited size, which several processes can share.
///
/// ```swift
/// let folder = URL(filePath: "/home/ada/.cache/example/http")
/// let api = try HTTPSession { $0.cacheStore = try .disk(at: folder, limit: 150 << 20) }
/// ```
/// Bodies are files. An SQLite index has the rest, with the length and the SHA-256 digest of each body. Files in the
/// directory can be truncated, damaged or removed at any time, even while the store is used: an entry whose body does
/// not have the stored length and digest is a miss and is removed. A damaged index is set aside
/// (`index.sqlite.damaged`), as is any item of the wrong kind under a name of the cache, and a new one is created. A
/// failure never fails a request; `CacheStatistics.failures` counts them.
///
/// **Full and read-only disks.** When the disk is full, the store removes the least recently used entries to make room
/// for a new one. A read-only directory serves its entries, and nothing is stored.
///
/// **Permissions.** The directory is created with the permissions 0700, files with 0600. The store refuses a directory
/// that belongs to another user, that others can write, or that is a symbolic link. The contents are not encrypted:
/// URLs with their queries, heads and bodies of responses, and the values of request fields that Vary names.
/// Credentials of requests are not stored, and neither are responses that depend on them (`Vary: Authorization` or
/// `Vary: Cookie`, to a request with that field).
///
/// **Durability.** A body is written beside its place and renamed when it is complete; the index then lists it. Each
/// change of the index is one transaction. A process that is killed leaves whole entries, and files that are removed
/// when a store is next opened. Bodies are not synchronized to the disk, and the index is synchronized when its log is
/// merged: after a power failure, the last entries can be missing.
///
/// **Eviction.** Storing an entry removes the least recently used ones beyond the limit. A use is noted in memory, and
/// written with the next change of the index, or together with 255 other uses: the order is approximate for uses by
/// several processes, and for uses before a process was killed. Unfinished bodies are not counted; each is at most as
/// large as an entry.
///
/// **Threads.** Files are read and written on threads for files. A body of at most 1 MiB is read and verified at once;
/// a larger one is verified when it is first opened, and then read in pieces. Small bodies are read on the caller's
/// thread after their first use. Rows of the index are reused while no process has changed the index, for at most a
/// second.
public final class DiskCacheStore: CacheStore, PromptCacheStore {
    /// The largest body that is read at once, and whose bytes are all verified before the first is delivered: 1 MiB.
    private static let wholeLimit: Int64 = 1 << 20

    /// The largest body that is read on the caller's thread: 64 KiB.
    private static let promptLimit: Int64 = 64 << 10

    let limits: CacheLimits
    private let folder: CacheFolder
    let index: CacheIndex
    private let state: Mutex<DiskCacheMachine>

    /// Creates a store. Checks the directory if it exists, but does not create or open anything yet.
    ///
    /// - Parameters:
    ///   - directory: The directory, which is created with its parents when the store is first used. The store removes
    ///     files without an entry from the subdirectory `bodies`.
    ///   - limit: The size of all entries in bytes: their bodies, and an estimate for their heads. The default is 20
    ///     MiB. Beyond it, the least recently used entries are removed. The index takes about 1 MiB more.
    ///   - entryLimit: The size of one entry. The default is a twentieth of `limit`. Beyond it, a response is not
    ///     stored.
    ///   - memoryLimit: The size of the bodies that are also kept in memory, in bytes. A body of more than a twentieth
    ///     of it is not kept. The default is 0. Beyond it, the least recently used bodies are only on disk.
    /// - Throws: `untrustedDirectory` if the URL is not a file URL, or others could have written the directory.
    public init(
        at directory: URL, limit: Int64 = 20 << 20, entryLimit: Int64? = nil, memoryLimit: Int64 = 0
    ) throws(CacheError) {
        state = Mutex(DiskCacheMachine(memoryLimit: memoryLimit))
        folder = try CacheFolder(directory)
        try folder.checkTrust()
        limits = CacheLimits(total: limit, entry: entryLimit)
        index = CacheIndex(in: folder, limits: limits)
    }

    /// Returns all entries of a key.
    public func responses(for key: CacheKey) async throws(CacheError) -> [StoredResponse] {
        if let known = state.withLock({ $0.mirror.entries(for: key) }), known.isValid {
            return known.value.map(\.response)
        }
        let reading = try await read { try $0.entries(for: key) }
        state.withLock { $0.mirror.add(reading, for: key) }
        if !reading.damaged.isEmpty { try await removeDamaged(reading.damaged) }
        return reading.entries.map(\.response)
    }

    /// Opens the body of an entry, and counts it as used; nil if the entry was removed.
    ///
    /// A body whose size or digest differs from the index is removed.
    public func body(of id: StoredResponse.ID) async throws(CacheError) -> (any StoredBody)? {
        let known = state.withLock { $0.mirror.body(of: id) }
        let indexed = known.flatMap { $0.isValid ? $0.value : nil }
        if indexed != nil, let data = state.withLock({ $0.memory.use(id) }) {
            await noteUse(of: id)
            return WholeBody(data: data)
        }
        guard let indexed = try await orIndexed(indexed, id) else { return nil }
        guard let body = try await opened(indexed) else {
            try await removeDamaged([id])
            return nil
        }
        if let whole = body as? WholeBody { state.withLock { $0.memory.insert(whole.data, of: id) } }
        await noteUse(of: id)
        return body
    }

    private func orIndexed(
        _ known: IndexedBody?, _ id: StoredResponse.ID
    ) async throws(CacheError) -> IndexedBody? {
        if let known { return known }
        return try await read { try $0.body(of: id) }
    }

    private func noteUse(of id: StoredResponse.ID) async {
        guard state.withLock({ $0.use(id) }) else { return }
        // A failure is counted, but does not concern the caller, who has the body.
        _ = try? await change { database, notes, _ in try database.write(notes) }
    }

    /// Opens a body; nil if its file is missing, or differs from the stored body.
    ///
    /// A small body that was read before is in the system's memory, so it is read on the caller's thread.
    private func opened(_ indexed: IndexedBody) async throws(CacheError) -> (any StoredBody)? {
        guard indexed.size <= Self.promptLimit else { return try await openedOnFileThreads(indexed) }
        if state.withLock({ $0.wasRead(indexed.id) }), let body = try? await open(indexed) { return body }
        let body = try await openedOnFileThreads(indexed)
        if body != nil { state.withLock { $0.noteRead(indexed.id) } }
        return body
    }

    private func openedOnFileThreads(_ indexed: IndexedBody) async throws(CacheError) -> (any StoredBody)? {
        try await counting { () async throws(CacheError) -> (any StoredBody)? in try await self.open(indexed) }
    }

    /// Opens a file, which can block; nil if it is missing, or differs from the stored body.
    private func open(_ indexed: IndexedBody) async throws(CacheError) -> (any StoredBody)? {
        guard let file = try OpenFile(folder.body(indexed.id)), file.state.size == indexed.size else { return nil }
        if indexed.size <= Self.wholeLimit {
            let data = try file.read(0..<indexed.size)
            guard data.digest == indexed.digest else { return nil }
            return WholeBody(data: data)
        }
        if await !index.isVerified(indexed.id, file.state) {
            guard try file.digest() == indexed.digest else { return nil }
            await index.noteVerified(indexed.id, file.state)
        }
        return FileBody(file: file)
    }

    // MARK: Writing

    /// Begins an entry.
    ///
    /// - Throws: `dependsOnCredentials` if the variant has credentials of the request, and the errors of all stores.
    public func beginEntry(
        _ response: StoredResponse, replacing replaced: [StoredResponse.ID]
    ) async throws(CacheError) -> any CacheEntryWriter {
        var response = response
        // Random, since processes that share the directory must not choose the same one. SQLite's keys are signed.
        response.id = StoredResponse.ID(rawValue: .random(in: 1...UInt64(Int64.max)))
        response.bodySize = 0
        guard !response.variant.hasCredentials else { throw .dependsOnCredentials }
        guard response.size + response.expectedBodySize <= limits.entry else { throw .entryTooLarge }
        state.withLock { $0.begin(response.id, response.key) }
        do {
            let file = try await withNotes { [response] database, notes, _ in try database.begin(response, notes) }
            return DiskEntryWriter(response, in: file, replacing: replaced, store: self)
        } catch {
            state.withLock { $0.close(response.id) }
            throw error
        }
    }

    func isOpen(_ id: StoredResponse.ID) -> Bool { state.withLock { $0.isOpen(id) } }

    func abandon(_ id: StoredResponse.ID) { state.withLock { $0.abandon(id) } }

    func commit(
        _ response: StoredResponse, digest: Data, in file: LockedFile, replacing replaced: [StoredResponse.ID]
    ) async throws(CacheError) {
        try await change { database, notes, time in
            try database.commit(response, digest: digest, in: file, replacing: replaced, usedAt: time, notes)
        }
        state.withLock { $0.close(response.id) }
    }

    /// Replaces everything but the body of an entry.
    public func update(_ response: StoredResponse) async throws(CacheError) {
        try await change { database, notes, _ in try database.update(response, notes) }
    }

    // MARK: Removing

    /// Removes entries.
    public func remove(_ ids: [StoredResponse.ID]) async throws(CacheError) {
        try await change { database, notes, _ in try database.remove(ids, notes) }
    }

    /// Removes all entries of keys.
    public func removeAll(for keys: [CacheKey]) async throws(CacheError) {
        state.withLock { $0.closeAll(for: Set(keys)) }
        try await change { database, notes, _ in try database.removeAll(for: keys, notes) }
    }

    /// Removes all entries.
    public func removeAll() async throws(CacheError) {
        state.withLock { $0.closeAll() }
        try await change { database, notes, _ in try database.removeAll(notes) }
    }

    private func removeDamaged(_ ids: [StoredResponse.ID]) async throws(CacheError) {
        do throws(CacheError) {
            let removal = try await change { database, notes, _ in try database.remove(ids, notes) }
            state.withLock { $0.statistics.failures += removal.ids.count }
        } catch {
            // A read-only directory keeps damaged entries, which never answer a request.
            guard error.isOfReadOnlyDirectory else { throw error }
        }
    }

    // MARK: Counting

    /// Counts the outcome of a request.
    public func record(_ outcome: CacheStatistics.Outcome) {
        state.withLock { $0.statistics.record(outcome) }
    }

    /// The store's counts so far, and its contents; no contents if the directory cannot be read.
    public func statistics() async -> CacheStatistics {
        let total = try? await perform { try $0.total() }
        var statistics = state.withLock { $0.statistics }
        statistics.count = total?.count ?? 0
        statistics.bytes = total?.size ?? 0
        return statistics
    }

    // MARK: Support

    /// Changes the index, and writes the notes.
    @discardableResult
    private func change(
        _ body: @Sendable @escaping (IndexDatabase, IndexDatabase.Notes, _ time: Int64) throws -> IndexDatabase.Removal
    ) async throws(CacheError) -> IndexDatabase.Removal {
        let removal = try await withNotes(body)
        note(removal)
        return removal
    }

    private func note(_ removal: IndexDatabase.Removal) {
        state.withLock { state in
            state.statistics.evictions += removal.evictions
            state.statistics.failures += removal.damaged
            for id in removal.ids { state.memory.remove(id) }
        }
    }

    /// Runs an operation that writes. On a full disk, removes the least recently used entries and runs it again, first
    /// for as much space as the operation needs, then for more. Other processes may take the space, so this ends after
    /// a few attempts.
    func makingRoom<Result: Sendable>(
        for size: Int64, _ body: @Sendable () async throws(CacheError) -> Result
    ) async throws(CacheError) -> Result {
        for factor: Int64 in [1, 2, 4] {
            do throws(CacheError) {
                return try await body()
            } catch {
                let makeRoom: @Sendable (IndexDatabase) throws -> IndexDatabase.Removal? = { database in
                    try database.makeRoom(for: size * factor, after: self.state.withLock { $0.unwrittenUses })
                }
                guard error.isOfFullDisk, let removal = (try? await index.run(makeRoom)) ?? nil else { throw error }
                note(removal)
            }
        }
        return try await body()
    }

    /// Runs a transaction that writes the notes, and takes the notes back if it fails.
    private func withNotes<Result: Sendable>(
        _ body: @Sendable @escaping (IndexDatabase, IndexDatabase.Notes, _ time: Int64) throws -> Result
    ) async throws(CacheError) -> Result {
        try await counting { () async throws(CacheError) -> Result in
            try await self.makingRoom(for: IndexDatabase.room) { () async throws(CacheError) -> Result in
                try await self.index.run { database in
                    let (notes, time) = self.state.withLock { $0.takeNotes(after: database.latestUse) }
                    do {
                        return try body(database, notes, time)
                    } catch {
                        // A read-only index never writes them.
                        if database.readState == nil { self.state.withLock { $0.putBack(notes) } }
                        throw error
                    }
                }
            }
        }
    }

    private func perform<Result: Sendable>(
        _ body: @Sendable @escaping (IndexDatabase) throws -> Result
    ) async throws(CacheError) -> Result {
        try await counting { () async throws(CacheError) -> Result in try await self.index.run(body) }
    }

    /// Runs an operation that changes nothing, unless the task was cancelled while it waited for other operations.
    private func read<Result: Sendable>(
        _ body: @Sendable @escaping (IndexDatabase) throws -> Result
    ) async throws(CacheError) -> Result {
        try await counting { () async throws(CacheError) -> Result in
            try await self.index.run(isCancellable: true) { database in
                self.state.withLock { $0.noteUses(until: database.latestUse) }
                return try body(database)
            }
        }
    }

    /// Runs an operation on the threads for files, and counts its failure.
    func counting<Result: Sendable>(
        _ body: @Sendable () async throws(CacheError) -> Result
    ) async throws(CacheError) -> Result {
        do throws(CacheError) {
            return try await onFileThreads(body)
        } catch {
            let isCancellation = error.underlying is CancellationError
            if error.code != .entryRemoved, !isCancellation { state.withLock { $0.statistics.failures += 1 } }
            throw error
        }
    }
}
