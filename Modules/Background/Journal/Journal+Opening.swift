internal import FoundationEssentials
internal import GRDB

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension Journal {
    /// Identifies the file as a journal among all SQLite files.
    private static let applicationID: Int64 = 0x4C69_6E42
    /// The version of the tables. A newer journal is refused, and left unchanged.
    private static let version: Int64 = 2

    /// Opens the journal, or creates it. A damaged one is kept aside, and a new one is created with the begun
    /// downloads, which have files of their own.
    ///
    /// - Throws: ``BackgroundError/Code/newerJournal`` and ``BackgroundError/Code/storageFailed``.
    static func open(_ folder: BackgroundFolder, faults: FaultPoints) throws(BackgroundError) -> Journal {
        do {
            do {
                return try Journal(folder, faults)
            } catch let error as DatabaseError where isDamage(error) {
                try setAside(folder)
                var journal = try Journal(folder, faults)
                let begun = folder.begunDownloads()
                try journal.restore(begun)
                journal.damage = BackgroundError(
                    .damagedJournal,
                    "The journal was damaged, and is now \(folder.journal).damaged. Of its tasks, \(begun.count) begun downloads "
                        + "were found again.", underlying: error)
                return journal
            }
        } catch {
            throw .storage(error)
        }
    }

    private init(_ folder: BackgroundFolder, _ faults: FaultPoints) throws {
        self.faults = faults
        var configuration = GRDB.Configuration()
        configuration.label = "LinnetBackground"
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { database in
            // An accepted task and an end survive a power failure, so each commit is synchronized unless it says
            // otherwise.
            try database.execute(
                sql: """
                    PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000;
                    PRAGMA journal_size_limit = 4194304; PRAGMA secure_delete = ON;
                    """)
        }
        try folder.makeJournal()
        queue = try DatabaseQueue(path: folder.journal, configuration: configuration)
        writer = JournalWriter(queue) { [cache] in cache.removeAll() }
        try queue.write { try Self.prepare($0) }
    }

    private static func isDamage(_ error: DatabaseError) -> Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_ERROR].contains(error.resultCode)
            || error.extendedResultCode == .SQLITE_IOERR_SHORT_READ
    }

    /// Renames a damaged journal with its log, which SQLite would apply to the next one.
    private static func setAside(_ folder: BackgroundFolder) throws(BackgroundError) {
        for suffix in ["-wal", "-shm"] { unlink(folder.journal + suffix) }
        guard rename(folder.journal, folder.journal + ".damaged") == 0 else {
            throw .failedCall(folder.journal, "is damaged, and cannot be renamed")
        }
    }

    private static func number(_ pragma: String, _ database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "PRAGMA \(pragma)") ?? 0
    }

    /// Finds the next tasks in order, and skips those that cannot begin. The index of the first version lacked the
    /// order.
    private static let indexToStart = """
        DROP INDEX IF EXISTS taskToStart;
        CREATE INDEX taskToStart ON task(rank, id, readyAt, host, expiry) WHERE state = 0;
        """

    /// Creates the tables, or migrates an older version's tables.
    private static func prepare(_ database: Database) throws {
        let found = try (number("application_id", database), number("user_version", database))
        if found == (applicationID, version) { return }
        if found == (applicationID, 1) {
            return try database.execute(sql: indexToStart + "PRAGMA user_version = \(version)")
        }
        if found.0 == applicationID, found.1 > version {
            throw BackgroundError(
                .newerJournal, "The journal has version \(found.1), and this program reads version \(version) at most.")
        }
        let tables = try Int64.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        guard found == (0, 0), tables == 0 else {
            throw DatabaseError(resultCode: .SQLITE_NOTADB, message: "the database is not a journal")
        }
        // Partial indexes repeat the numbers of states: SQLite uses them for queries that say the same.
        try database.execute(
            sql: """
                CREATE TABLE task (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, definition BLOB NOT NULL, machine BLOB NOT NULL,
                    result BLOB NOT NULL, state INTEGER NOT NULL, wish INTEGER NOT NULL, destination TEXT,
                    host TEXT NOT NULL, rank INTEGER NOT NULL, readyAt INTEGER NOT NULL, expiry INTEGER NOT NULL,
                    isTold INTEGER NOT NULL, changedAt INTEGER NOT NULL, revision INTEGER NOT NULL);
                \(indexToStart)
                CREATE INDEX taskReady ON task(readyAt) WHERE state = 0;
                CREATE INDEX taskToExpire ON task(expiry) WHERE state < 2;
                CREATE INDEX taskRunning ON task(id) WHERE state = 1;
                CREATE INDEX taskUnfinished ON task(id) WHERE state < 3;
                CREATE INDEX taskUntold ON task(id) WHERE isTold = 0;
                CREATE INDEX taskByChange ON task(revision);
                CREATE UNIQUE INDEX taskOfDestination ON task(destination) WHERE state < 3;
                CREATE TABLE setting (name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
                CREATE TABLE counter (revision INTEGER NOT NULL);
                INSERT INTO counter VALUES (0);
                PRAGMA application_id = \(applicationID);
                PRAGMA user_version = \(version);
                """)
    }
}
