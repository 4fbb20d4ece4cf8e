internal import FoundationEssentials
internal import GRDB
internal import LinnetCache

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The index of a cache in SQLite: its entries, and the sizes and digests of their bodies. All functions block.
///
/// Each change is one transaction, also for other processes. The files of removed entries are unlinked afterwards. If a
/// process is killed in between, the next opening of the index removes them.
struct IndexDatabase: Sendable {
    /// Notes that are collected between two transactions, and written with the next one.
    struct Notes: Sendable {
        /// The used entries, with the times of their use.
        var uses: [StoredResponse.ID: Int64] = [:]
        /// The entries whose writers were abandoned.
        var abandoned: [StoredResponse.ID] = []
    }

    /// The entries of a key.
    struct Reading: Sendable {
        let entries: [IndexedEntry]
        let damaged: [StoredResponse.ID]
        let token: ChangeToken
        /// The token's number before the entries were read; nil if it could not be read.
        let number: UInt64?
    }

    /// The entries that a transaction has removed.
    struct Removal: Sendable {
        var ids: [StoredResponse.ID] = []
        var evictions = 0
        /// The number of damaged entries among them, as far as the transaction has noticed.
        var damaged = 0
    }

    let folder: CacheFolder
    let identity: CacheFolder.FileIdentity
    let limits: CacheLimits
    let queue: DatabaseQueue
    let token: ChangeToken
    /// The state of the files of a read-only index; nil if the index can be changed.
    let readState: CacheFolder.IndexState?
    /// The time of the latest use when the index was opened.
    let latestUse: Int64

    // MARK: Reading

    /// Returns the entries of a key, and the identifiers of damaged ones.
    func entries(for key: CacheKey) throws -> Reading {
        // Reading the number first makes the result outdated if the rows change meanwhile.
        let number = token.number
        return try queue.inDatabase { database in
            let statement = try database.cachedStatement(
                sql: "SELECT \(IndexedEntry.columns) FROM entry WHERE key = ? AND isStored")
            var (entries, damaged): ([IndexedEntry], [StoredResponse.ID]) = ([], [])
            let rows = try Row.fetchCursor(statement, arguments: [key.description])
            while let row = try rows.next() {
                guard let id = row.identifier else { throw Self.damage("an entry has no number") }
                guard let entry = IndexedEntry(row) else {
                    damaged.append(id)
                    continue
                }
                // SQLite looks the key up in its index of keys alone, and a damaged one can name another row.
                guard entry.response.key == key else { throw Self.damage("an entry is listed under another key") }
                entries.append(entry)
            }
            return Reading(entries: entries, damaged: damaged, token: token, number: number)
        }
    }

    func body(of id: StoredResponse.ID) throws -> IndexedBody? {
        try queue.inDatabase { database in
            let statement = try database.cachedStatement(
                sql: "SELECT \(IndexedBody.columns) FROM entry WHERE id = ? AND isStored")
            return try Row.fetchOne(statement, arguments: [id.key]).flatMap(IndexedBody.init)
        }
    }

    /// The number of entries, and their total size.
    func total() throws -> (count: Int, size: Int64) {
        try queue.inDatabase { try Self.total($0) }
    }

    private static func total(_ database: Database) throws -> (count: Int, size: Int64) {
        try pair(database, "SELECT count, size FROM total")
    }

    /// The true total, computed from each entry.
    static func counted(_ database: Database) throws -> (count: Int, size: Int64) {
        try pair(database, count)
    }

    static let count = "SELECT count(*), coalesce(sum(size), 0) FROM entry WHERE isStored"

    private static func pair(_ database: Database, _ sql: String) throws -> (count: Int, size: Int64) {
        let row = try Row.fetchOne(database.cachedStatement(sql: sql))
        guard let count = row?.value(0, as: Int.self), let size = row?.value(1, as: Int64.self) else {
            throw Self.damage("the size of the entries is not a number")
        }
        return (count, size)
    }

    // MARK: Writing

    /// Notes a new entry, and creates the file of its body.
    ///
    /// The other columns are written when the entry is committed. No stored entry changes, so the token stays.
    func begin(_ response: StoredResponse, _ notes: Notes) throws -> LockedFile {
        try checkIsWritable()
        return try queue.write { database in
            try write(notes, database)
            let file = try LockedFile.create(folder.unfinishedBody(response.id))
            try run(
                database,
                """
                INSERT INTO entry (id, key, isStored, variant, head, requestTime, responseTime, seal, bodySize, size, used)
                VALUES (?, ?, 0, x'', x'', 0, 0, x'', 0, 0, 0)
                """, [response.id.key, response.key.description])
            return file
        }
    }

    /// Makes an entry visible in place of others, and removes entries beyond the limits.
    func commit(
        _ response: StoredResponse, digest: Data, in file: LockedFile, replacing replaced: [StoredResponse.ID],
        usedAt time: Int64, _ notes: Notes
    ) throws -> Removal {
        let path = folder.body(response.id)
        let columns = try SealedColumns(response)
        do {
            return try change(notes) { database, removal in
                try run(
                    database,
                    """
                    UPDATE entry SET isStored = 1, variant = ?, head = ?, requestTime = ?, responseTime = ?, seal = ?,
                    bodySize = ?, digest = ?, size = ?, used = max(?, 1 + (\(Self.latestUseQuery))), partStart = ?, partEnd = ?,
                    partTotal = ? WHERE id = ? AND NOT isStored
                    """,
                    [
                        columns.variant, columns.head, columns.requestTime, columns.responseTime, columns.seal,
                        columns.bodySize, digest, response.size, time, columns.part?.range.lowerBound,
                        columns.part?.range.upperBound, columns.part?.total, response.id.key,
                    ])
                // A removal of the key, or another process's sweep, may have removed the row meanwhile.
                guard database.changesCount == 1 else { throw CacheError.entryRemoved }
                try remove(replaced, database, &removal)
                let same = try ids(
                    database,
                    """
                    SELECT id FROM entry WHERE key = ?1 AND isStored AND id <> ?2
                    AND variant = (SELECT variant FROM entry WHERE id = ?2)
                    """, [response.key.description, response.id.key])
                try removeFound(same, database, &removal)
                try evict(database, &removal, variantsOf: response.key)
                // Last in the transaction: a committed row without its file would be damage, a file without its row is
                // swept.
                try file.keep(as: path)
            }
        } catch {
            file.takeBack(from: path)
            throw error
        }
    }

    /// Replaces everything but the body of an entry.
    func update(_ response: StoredResponse, _ notes: Notes) throws -> Removal {
        try change(notes) { database, removal in
            let statement = try database.cachedStatement(
                sql: "SELECT \(IndexedEntry.columns) FROM entry WHERE id = ? AND key = ? AND isStored")
            let arguments: StatementArguments = [response.id.key, response.key.description]
            guard let row = try Row.fetchOne(statement, arguments: arguments) else { return }
            guard let old = IndexedEntry(row)?.response else {
                // Updating the row would give the damage a valid seal.
                removal.damaged += 1
                return try remove([response.id], database, &removal)
            }
            var new = response
            new.bodySize = old.bodySize
            new.part = old.part
            // The update may make the head longer, or make the response depend on credentials.
            guard new.size <= limits.entry, !new.variant.hasCredentials else {
                return try remove([new.id], database, &removal)
            }
            let columns = try SealedColumns(new)
            try run(
                database,
                "UPDATE entry SET variant = ?, head = ?, requestTime = ?, responseTime = ?, seal = ?, size = ? WHERE id = ?",
                [
                    columns.variant, columns.head, columns.requestTime, columns.responseTime, columns.seal, new.size,
                    new.id.key,
                ])
            try evict(database, &removal)
        }
    }

    // MARK: Removing

    func remove(_ ids: [StoredResponse.ID], _ notes: Notes) throws -> Removal {
        try change(notes) { database, removal in try remove(ids, database, &removal) }
    }

    /// Removes the entries of keys, including unfinished ones.
    func removeAll(for keys: [CacheKey], _ notes: Notes) throws -> Removal {
        try change(notes) { database, removal in
            for key in keys {
                let found = try ids(database, "SELECT id FROM entry WHERE key = ?", [key.description])
                try removeFound(found, database, &removal)
            }
        }
    }

    /// Removes all entries, including unfinished ones, and their remains in the log and in a damaged index.
    func removeAll(_ notes: Notes) throws -> Removal {
        folder.removeDamagedIndex()
        let removal = try change(notes) { database, removal in
            removal.ids = try ids(database, "SELECT id FROM entry WHERE isStored", [])
            try run(database, "DELETE FROM entry", [])
        }
        // If another process is reading, the remains stay in the log until the next merge.
        try? queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        return removal
    }

    /// Writes the notes.
    func write(_ notes: Notes) throws -> Removal {
        try change(notes) { _, _ in }
    }

    // MARK: Support

    func change(
        _ notes: Notes, _ body: (Database, inout Removal) throws -> Void
    ) throws -> Removal {
        let removal = try changing { database in
            try write(notes, database)
            var removal = Removal()
            try body(database, &removal)
            return removal
        }
        for id in removal.ids {
            unlink(folder.body(id))
            unlink(folder.unfinishedBody(id))
        }
        return removal
    }

    private func write(_ notes: Notes, _ database: Database) throws {
        for (id, time) in notes.uses {
            try run(database, "UPDATE entry SET used = max(used, ?) WHERE id = ? AND isStored", [time, id.key])
        }
        for id in notes.abandoned {
            try run(database, "DELETE FROM entry WHERE id = ? AND NOT isStored", [id.key])
        }
    }

    /// Runs a transaction that changes the results of ``entries(for:)``.
    private func changing<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try checkIsWritable()
        defer { token.renew() }
        return try queue.write { database in
            defer { token.renew() }
            return try body(database)
        }
    }

    private func checkIsWritable() throws(CacheError) {
        guard readState == nil else { throw .readOnly(folder.path) }
    }

    func remove(_ ids: [StoredResponse.ID], _ database: Database, _ removal: inout Removal) throws {
        for id in ids {
            try run(database, "DELETE FROM entry WHERE id = ?", [id.key])
            if database.changesCount > 0 { removal.ids.append(id) }
        }
    }

    /// Removes entries that this transaction has found. If one cannot be removed, the index is damaged: it lists
    /// entries that the table does not have, and would list them again and again.
    private func removeFound(_ ids: [StoredResponse.ID], _ database: Database, _ removal: inout Removal) throws {
        let count = removal.ids.count
        try remove(ids, database, &removal)
        guard removal.ids.count - count == ids.count else { throw Self.damage("an entry cannot be removed") }
    }

    /// Removes the least recently used entries until the rest is within the limits.
    func evict(_ database: Database, _ removal: inout Removal, variantsOf key: CacheKey? = nil) throws {
        if let key {
            let excess = try ids(
                database,
                """
                SELECT id FROM entry WHERE key = ? AND isStored ORDER BY used DESC LIMIT -1
                OFFSET \(MemoryCacheStore.variantLimit)
                """, [key.description])
            removal.evictions += excess.count
            try removeFound(excess, database, &removal)
        }
        var size = try Self.total(database).size
        while size > limits.total {
            let oldest = try ids(database, "SELECT id FROM entry WHERE isStored ORDER BY used LIMIT 1", [])
            // With a positive sum of no entries, each new entry would be removed at once.
            guard !oldest.isEmpty else { throw Self.damage("the size of no entries is not zero") }
            removal.evictions += oldest.count
            try removeFound(oldest, database, &removal)
            size = try Self.total(database).size
        }
        // With a negative sum, the cache would grow without a limit.
        guard size >= 0 else { throw Self.damage("the size of the entries is negative") }
    }

    func run(_ database: Database, _ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func ids(
        _ database: Database, _ sql: String, _ arguments: StatementArguments
    ) throws -> [StoredResponse.ID] {
        try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments).map { row in
            guard let id = row.identifier else { throw Self.damage("an entry has no number") }
            return id
        }
    }
}
