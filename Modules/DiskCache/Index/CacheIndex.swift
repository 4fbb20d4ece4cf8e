internal import GRDB
internal import LinnetCache

/// The index of a cache, which is opened when it is first used, and again when its file was removed, replaced or damaged.
///
/// Its functions block: they are called on the threads for files, where they wait for each other without occupying one.
actor CacheIndex {
    /// The bodies that were verified, so that large ones are read only once for that.
    private static let verifiedLimit = 4096

    private let folder: CacheFolder
    private let limits: CacheLimits
    private var database: IndexDatabase?
    private var verified: [StoredResponse.ID: OpenFile.State] = [:]

    init(in folder: CacheFolder, limits: CacheLimits) {
        self.folder = folder
        self.limits = limits
    }

    /// Runs an operation on the index. What fails in SQLite becomes a `CacheError`.
    func run<Result: Sendable>(_ body: @Sendable (IndexDatabase) throws -> Result) throws(CacheError) -> Result {
        do {
            return try body(opened())
        } catch let error as CacheError {
            // The next operation looks again at what there is of the directory.
            if error.code == .storageFailed { database = nil }
            throw error
        } catch let error as DatabaseError {
            let identity = database?.identity ?? folder.indexIdentity
            if ![.SQLITE_BUSY, .SQLITE_FULL].contains(error.resultCode) { database = nil }
            if IndexDatabase.isDamage(error), let identity { try folder.setIndexAside(identity) }
            throw CacheError(
                code: .storageFailed,
                message:
                    "The index of the cache \(folder.path) failed (SQLite \(error.extendedResultCode.rawValue)): \(error)",
                underlying: error)
        } catch {
            throw CacheError(
                code: .storageFailed, message: "The cache \(folder.path) failed: \(error)", underlying: error)
        }
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
            return try IndexDatabase(in: folder, limits: limits)
        } catch let error as DatabaseError {
            guard IndexDatabase.isDamage(error), let identity = folder.indexIdentity else { throw error }
            try folder.setIndexAside(identity)
            return try IndexDatabase(in: folder, limits: limits)
        }
    }

    // MARK: Verified bodies

    func isVerified(_ id: StoredResponse.ID, _ state: OpenFile.State) -> Bool { verified[id] == state }

    func noteVerified(_ id: StoredResponse.ID, _ state: OpenFile.State) {
        if verified.count >= Self.verifiedLimit { verified = [:] }
        verified[id] = state
    }
}
