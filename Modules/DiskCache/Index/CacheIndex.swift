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
            if IndexDatabase.isDamage(error), let identity { try folder.setIndexAside(identity) }
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
        if let database, folder.indexIdentity == database.identity { return database }
        database = nil
        verified = [:]
        try folder.prepare()
        let opened = try openedOrBegunAnew()
        database = opened
        try opened.sweep()
        return opened
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
