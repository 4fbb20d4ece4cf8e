internal import GRDB
internal import LinnetCache

/// Opens the index of a cache at its first use, and again when its file was removed, replaced or damaged.
///
/// The functions block, so they run on the threads for files. Waiting for each other does not occupy a thread.
actor CacheIndex {
    /// The number of remembered verified bodies. A large body is read for its digest only once while it is remembered.
    private static let verifiedLimit = 4096
    /// After an operation has waited for another process in vain, the others do not wait for this long. They run one
    /// after the other, so their waiting times would add up.
    private static let impatience: Duration = .seconds(5)

    private let folder: CacheFolder
    private let limits: CacheLimits
    private var database: IndexDatabase?
    /// The time from which operations wait for other processes again; nil if they do now.
    private var impatienceEnd: ContinuousClock.Instant?
    private var verified: [StoredResponse.ID: OpenFile.State] = [:]

    init(in folder: CacheFolder, limits: CacheLimits) {
        self.folder = folder
        self.limits = limits
    }

    /// Runs an operation on the index. Converts errors of SQLite into a `CacheError`.
    ///
    /// If another process has locked the index, the operation waits for two seconds. In the following five seconds,
    /// operations fail at once while the index is locked.
    func run<Result: Sendable>(
        isCancellable: Bool = false, _ body: @Sendable (IndexDatabase) throws -> Result
    ) throws(CacheError) -> Result {
        if isCancellable, Task.isCancelled { throw .cancelled }
        if let impatienceEnd, impatienceEnd <= .now { setImpatience(until: nil) }
        do {
            return try body(opened())
        } catch let error as CacheError {
            // The directory may have been removed or replaced, so the next operation opens the index again.
            if error.code == .storageFailed { database = nil }
            throw error
        } catch let error as DatabaseError {
            let identity = database?.identity ?? folder.indexIdentity
            if error.resultCode == .SQLITE_BUSY, impatienceEnd == nil { setImpatience(until: .now + Self.impatience) }
            // These two pass by themselves; after any other error, the connection may be unusable.
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

    /// Whether an index belongs to the current files. A read-only index does not see changes of others.
    private func isCurrent(_ database: IndexDatabase) -> Bool {
        guard let state = database.readState else { return folder.indexIdentity == database.identity }
        return folder.indexState == state && folder.isReadOnly
    }

    /// Opens the index. If the disk has no space for the files that SQLite creates, removes bodies first.
    private func openedWithRoom() throws -> IndexDatabase {
        do {
            return try openedOrBegunAnew()
        } catch let error as DatabaseError where error.isOfFullDisk {
            let removed = folder.removeOldestBodies(of: IndexDatabase.room)
            let opened = try openedOrBegunAnew()
            // If this fails, reading the entries later finds them damaged, because their files are missing.
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
        // Forgetting costs one more reading, and an order of use would cost more than that.
        if verified.count >= Self.verifiedLimit { verified = [:] }
        verified[id] = state
    }
}
