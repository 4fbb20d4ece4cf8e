internal import GRDB
internal import LinnetCache

/// The index of a cache, which is opened when it is first used, and again when its file was removed, replaced or damaged.
///
/// Its functions block: they are called on the threads for files, where they wait for each other without occupying one.
actor CacheIndex {
    /// The bodies that were verified, so that large ones are read only once for that.
    private static let verifiedLimit = 4096
    /// How long no operation waits for another process, after one has waited in vain. They run one after the other, so that their
    /// times would add up.
    private static let impatience: Duration = .seconds(5)

    private let folder: CacheFolder
    private let limits: CacheLimits
    private var database: IndexDatabase?
    /// When operations wait for other processes again; nil if they do.
    private var impatienceEnd: ContinuousClock.Instant?
    private var verified: [StoredResponse.ID: OpenFile.State] = [:]

    init(in folder: CacheFolder, limits: CacheLimits) {
        self.folder = folder
        self.limits = limits
    }

    /// Runs an operation on the index. What fails in SQLite becomes a `CacheError`.
    ///
    /// If another process has locked the index, the operation waits for two seconds; in the five seconds after that, operations
    /// fail at once while the index is locked.
    func run<Result: Sendable>(
        isCancellable: Bool = false, _ body: @Sendable (IndexDatabase) throws -> Result
    ) throws(CacheError) -> Result {
        if isCancellable, Task.isCancelled { throw .cancelled }
        if let impatienceEnd, impatienceEnd <= .now { setImpatience(until: nil) }
        do {
            return try body(opened())
        } catch let error as CacheError {
            // The next operation looks again at what there is of the directory.
            if error.code == .storageFailed { database = nil }
            throw error
        } catch let error as DatabaseError {
            let identity = database?.identity ?? folder.indexIdentity
            if error.resultCode == .SQLITE_BUSY, impatienceEnd == nil { setImpatience(until: .now + Self.impatience) }
            if ![.SQLITE_BUSY, .SQLITE_FULL].contains(error.resultCode) { database = nil }
            if IndexDatabase.isDamage(error), let identity, !folder.isReadOnly { try folder.setIndexAside(identity) }
            throw CacheError(
                code: .storageFailed,
                message:
                    "The index of the cache \(folder.path) failed (SQLite \(error.extendedResultCode.rawValue)): \(error).",
                underlying: error)
        } catch {
            throw CacheError(
                code: .storageFailed, message: "The cache \(folder.path) failed: \(error).", underlying: error)
        }
    }

    private func setImpatience(until end: ContinuousClock.Instant?) {
        impatienceEnd = end
        database?.setWaits(end == nil)
    }

    private func opened() throws -> IndexDatabase {
        if let database, isCurrent(database) { return database }
        database = nil
        verified = [:]
        if folder.isReadOnly {
            try folder.checkTrust()
            let opened = try IndexDatabase(reading: folder, limits: limits)
            database = opened
            return opened
        }
        try folder.prepare()
        let opened = try openedWithRoom()
        database = opened
        try opened.sweep()
        return opened
    }

    /// Whether an index is that of the files that are there now. One that is only read does not see changes.
    private func isCurrent(_ database: IndexDatabase) -> Bool {
        guard let state = database.readState else { return folder.indexIdentity == database.identity }
        return folder.indexState == state && folder.isReadOnly
    }

    /// Opens the index. If there is no space for the files that SQLite makes for that, bodies are removed.
    private func openedWithRoom() throws -> IndexDatabase {
        do {
            return try openedOrBegunAnew()
        } catch let error as DatabaseError where error.isOfFullDisk {
            let removed = folder.removeOldestBodies(of: IndexDatabase.room)
            let opened = try openedOrBegunAnew()
            // What stays in the index is found to be damaged later.
            _ = try? opened.remove(removed, IndexDatabase.Notes())
            return opened
        }
    }

    private func openedOrBegunAnew() throws -> IndexDatabase {
        do {
            return try IndexDatabase(in: folder, limits: limits, waits: impatienceEnd == nil)
        } catch let error as DatabaseError {
            guard IndexDatabase.isDamage(error), let identity = folder.indexIdentity else { throw error }
            try folder.setIndexAside(identity)
            return try IndexDatabase(in: folder, limits: limits, waits: impatienceEnd == nil)
        }
    }

    // MARK: Verified bodies

    func isVerified(_ id: StoredResponse.ID, _ state: OpenFile.State) -> Bool { verified[id] == state }

    func noteVerified(_ id: StoredResponse.ID, _ state: OpenFile.State) {
        if verified.count >= Self.verifiedLimit { verified = [:] }
        verified[id] = state
    }
}
