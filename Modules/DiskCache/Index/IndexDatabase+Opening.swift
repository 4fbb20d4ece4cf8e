internal import FoundationEssentials
internal import GRDB
internal import LinnetCache

/// The limits of a cache, in bytes.
struct CacheLimits: Sendable {
    let total: Int64
    let entry: Int64

    init(total: Int64, entry: Int64?) {
        self.total = max(0, total)
        self.entry = min(entry ?? self.total / 20, self.total)
    }
}

extension IndexDatabase {
    /// Identifies the file as an index among all SQLite files.
    private static let applicationID: Int64 = 0x4C69_6E43
    /// The version of the tables and of the seals. An index of another version is set aside, and an empty one is
    /// created.
    ///
    /// Since version 2, the seal of an entry also covers the size of its body and the place of a part.
    private static let version: Int64 = 2

    /// The time of the latest use of a stored entry, as SQL.
    static let latestUseQuery = "SELECT coalesce(max(used), 0) FROM entry WHERE isStored"

    /// The largest plausible time. A larger one comes from no clock, and leaves no room for later times.
    private static let lastTime = Int64.max / 2

    /// The time in milliseconds for which an operation waits for another process. Transactions are short: a process
    /// that locks the index for longer is not running.
    private static let patience = 2000

    /// The bytes that the files of an index need for a transaction, or for opening.
    static let room: Int64 = 64 << 10

    /// Sets whether operations wait for other processes, or fail at once if one has locked the index.
    func setWaits(_ waits: Bool) {
        try? queue.inDatabase { try $0.execute(sql: "PRAGMA busy_timeout = \(waits ? Self.patience : 0)") }
    }

    /// Opens the index, or creates it. Throws a `DatabaseError` for which ``isDamage(_:)`` is true if the file is not
    /// an index of this version.
    init(in folder: CacheFolder, limits: CacheLimits, waits: Bool) throws {
        self.folder = folder
        self.limits = limits
        identity = try folder.makeIndex()
        var configuration = Configuration()
        configuration.label = "LinnetDiskCache"
        configuration.foreignKeysEnabled = false
        configuration.busyMode = waits ? .timeout(Double(Self.patience) / 1000) : .immediateError
        configuration.prepareDatabase { database in
            // Synchronizing only when the log is merged makes commits fast; a power failure loses only the last
            // entries. Removed data is overwritten, because it may be confidential.
            try database.execute(
                sql: """
                    PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 250;
                    PRAGMA journal_size_limit = 1048576; PRAGMA secure_delete = ON;
                    """)
        }
        token = try ChangeToken(folder.changes)
        readState = nil
        queue = try DatabaseQueue(path: folder.index, configuration: configuration)
        latestUse = try queue.write { database in
            try Self.prepare(database)
            try database.execute(
                sql: "UPDATE entry SET used = 0 WHERE isStored AND used > ?", arguments: [Self.lastTime])
            return try Row.fetchOne(database, sql: Self.latestUseQuery)?.value(0, as: Int64.self) ?? 0
        }
    }

    /// Opens the index of a read-only directory. Throws a `DatabaseError` for which ``isDamage(_:)`` is true if the
    /// file is not an index of this version.
    ///
    /// SQLite creates files beside an index even for reading, unless it is told that the index does not change. Another
    /// process may nevertheless change the directory through another mount: the index is therefore reopened when its
    /// files change, and each entry has a seal.
    init(reading folder: CacheFolder, limits: CacheLimits) throws {
        self.folder = folder
        self.limits = limits
        guard let identity = folder.indexIdentity, let state = folder.indexState else {
            throw CacheError.failedCall(folder.index, "cannot be inspected")
        }
        self.identity = identity
        readState = state
        var configuration = Configuration()
        configuration.label = "LinnetDiskCache"
        configuration.readonly = true
        token = ChangeToken()
        queue = try DatabaseQueue(
            path: state.hasLog ? folder.index : Self.unchangingPath(folder.index), configuration: configuration)
        latestUse = try queue.inDatabase { database in
            guard try Self.isIndex(database) else { throw Self.otherVersion }
            return try Row.fetchOne(database, sql: Self.latestUseQuery)?.value(0, as: Int64.self) ?? 0
        }
    }

    /// The URI of a file that SQLite neither locks nor creates other files for.
    private static func unchangingPath(_ path: String) -> String {
        "file:\(URL(filePath: path).path(percentEncoded: true))?immutable=1"
    }

    /// Whether the error means that the file must be replaced.
    static func isDamage(_ error: DatabaseError) -> Bool {
        // A generic error means that a table or a column is missing. A constraint fails only for values that no
        // statement writes.
        [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_ERROR, .SQLITE_CONSTRAINT].contains(error.resultCode)
            // The file was truncated.
            || error.extendedResultCode == .SQLITE_IOERR_SHORT_READ
    }

    /// The error for contradictions in an index, which SQLite does not detect.
    static func damage(_ message: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: message)
    }

    private static let otherVersion = DatabaseError(
        resultCode: .SQLITE_NOTADB, message: "the database is not an index of this version")

    private static func number(_ pragma: String, _ database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "PRAGMA \(pragma)") ?? 0
    }

    private static func isIndex(_ database: Database) throws -> Bool {
        try number("application_id", database) == applicationID && number("user_version", database) == version
    }

    private static func prepare(_ database: Database) throws {
        if try isIndex(database) { return }
        let tables = try Int64.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        guard try number("application_id", database) == 0, try number("user_version", database) == 0, tables == 0 else {
            throw otherVersion
        }
        try database.execute(
            sql: """
                CREATE TABLE entry (
                    id INTEGER PRIMARY KEY, key TEXT NOT NULL, isStored INTEGER NOT NULL, variant BLOB NOT NULL,
                    head BLOB NOT NULL, requestTime REAL NOT NULL, responseTime REAL NOT NULL, seal BLOB NOT NULL,
                    partStart INTEGER, partEnd INTEGER, partTotal INTEGER, bodySize INTEGER NOT NULL,
                    digest BLOB, size INTEGER NOT NULL, used INTEGER NOT NULL);
                CREATE INDEX entryOfKey ON entry(key);
                CREATE INDEX entryByUse ON entry(used, size) WHERE isStored;
                CREATE INDEX entryBegun ON entry(id) WHERE NOT isStored;
                CREATE TABLE total (count INTEGER NOT NULL, size INTEGER NOT NULL);
                INSERT INTO total VALUES (0, 0);
                CREATE TRIGGER entryChanged AFTER UPDATE OF isStored, size ON entry BEGIN
                    UPDATE total SET count = count + NEW.isStored - OLD.isStored,
                        size = size + NEW.isStored * NEW.size - OLD.isStored * OLD.size;
                END;
                CREATE TRIGGER entryRemoved AFTER DELETE ON entry WHEN OLD.isStored BEGIN
                    UPDATE total SET count = count - 1, size = size - OLD.size;
                END;
                PRAGMA application_id = \(applicationID);
                PRAGMA user_version = \(Self.version);
                """)
    }
}
