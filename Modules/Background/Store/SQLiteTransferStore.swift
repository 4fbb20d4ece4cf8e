public import FoundationEssentials
internal import GRDB
internal import LinnetSession

/// A store for the workers of one machine, in a directory.
///
/// ```swift
/// let store = try await SQLiteTransferStore(directory: URL(filePath: "/var/lib/mirror"))
/// try await store.add([TransferDescription("linnet.iso", download: api.get("linnet.iso"), to: "linnet.iso")])
/// ```
/// Any number of processes of one user can have the directory open. Additions, controls and ends survive a power
/// failure when their function has returned; after one, a lease may be one that was never given. The directory is
/// checked as ``BackgroundSession`` checks its own, and has the same journal; a session of the directory has its own
/// tasks.
public final class SQLiteTransferStore: TransferStore {
    /// The directory. Only its owner can read it.
    public let directory: URL
    /// The damage of an earlier journal of the directory, which was renamed to `journal.sqlite.damaged`; nil if there
    /// was none. Its transfers are lost.
    public let journalDamage: BackgroundError?

    private let journal: Journal
    private let presence: Presence
    private let signal = ChangeSignal()

    /// Opens the store of a directory, which is created if it is missing.
    ///
    /// - Throws: ``BackgroundError`` with ``BackgroundError/Code/untrustedDirectory``,
    ///   ``BackgroundError/Code/newerJournal`` or ``BackgroundError/Code/storageFailed``.
    public init(directory: URL) async throws(BackgroundError) {
        let folder = try BackgroundFolder(directory)
        (journal, presence) = try await onFileThreads { () throws(BackgroundError) in
            try folder.prepare()
            return (try Journal.open(folder, faults: FaultPoints(nil)), try Presence(folder))
        }
        self.directory = directory
        journalDamage = journal.damage
        try await journal.write { try Self.prepare($0) }
        try presence.start { [signal] news in
            if case .changed = news { signal.tell() }
        }
    }

    deinit {
        presence.leave()
        signal.finish()
    }

    // MARK: Transfers

    /// Adds transfers, all or none; see ``TransferStore/add(_:)``.
    @discardableResult
    public func add(_ transfers: [TransferDescription]) async throws(BackgroundError) -> [String] {
        var additions: [TransferAddition] = []
        for transfer in transfers { additions.append(try TransferAddition(transfer)) }
        let initial = try TransferAddition.initialColumns()
        let added = try await journal.write { [additions] database in
            let now = Runner.now
            return try additions.filter { try Self.insert($0, initial, at: now, database) }.map(\.id)
        }
        if !added.isEmpty { tell() }
        return added
    }

    /// Leases transfers that may begin; see ``TransferStore/lease(_:by:for:in:)``.
    public func lease(
        _ count: Int, by worker: String, for duration: Duration, in room: TransferLease.Room
    ) async throws(BackgroundError) -> [TransferLease] {
        try await journal.write(durably: false) { database in
            let now = Runner.now
            let due = "WHERE (state = 1 AND leaseEnd <= ?1) OR (state = 0 AND expiry <= ?1) LIMIT 1000"
            for var transfer in try Self.transfers(due, [now], database) where transfer.lapse(at: now) {
                try Self.update(transfer, at: now, database)
            }
            var (room, leases): (TransferLease.Room, [TransferLease]) = (room, [])
            // Transfers of a host that has become full make room for those behind them.
            while leases.count < count {
                let (full, wanted) = (room.fullHosts, count - leases.count)
                let found = try Self.transfers(
                    "WHERE state = 0 AND readyAt <= ? AND \(Self.condition(room)) ORDER BY rank, number LIMIT ?",
                    [now, try Self.json(full), wanted], database)
                for var transfer in found where room.take(transfer) {
                    guard let lease = transfer.lease(by: worker, for: duration.milliseconds, at: now) else { continue }
                    try Self.update(transfer, at: now, database)
                    leases.append(lease)
                }
                if found.count < wanted || room.fullHosts == full { break }
            }
            return leases
        }
    }

    /// Renews leases; see ``TransferStore/renew(_:for:)``.
    public func renew(
        _ renewals: [TransferLease.Renewal], for duration: Duration
    ) async throws(BackgroundError) -> [TransferLease.Status] {
        try await journal.write(durably: false) { database in
            let now = Runner.now
            return try renewals.map { renewal in
                guard var transfer = try Self.transfer(renewal.lease.transfer.number, database) else { return .lost }
                let state = transfer.state
                let status = transfer.renew(renewal, for: duration.milliseconds, at: now)
                // A lost one has changed if it has expired.
                if status != .lost || transfer.state != state { try Self.update(transfer, at: now, database) }
                return status
            }
        }
    }

    /// Ends a lease; see ``TransferStore/end(_:with:)``.
    @discardableResult
    public func end(_ lease: TransferLease, with end: TransferLease.End) async throws(BackgroundError) -> StoredTransfer
    {
        let ended = try await journal.write { database in
            let now = Runner.now
            guard var transfer = try Self.transfer(lease.transfer.number, database) else {
                throw BackgroundError.leaseLost(lease.transfer.id)
            }
            if try transfer.end(lease, with: end, at: now) { try Self.update(transfer, at: now, database) }
            return transfer
        }
        tell()
        return ended
    }

    /// Controls transfers; see ``TransferStore/apply(_:to:)``.
    @discardableResult
    public func apply(_ control: TransferControl, to ids: [String]) async throws(BackgroundError) -> [String] {
        let found = try await journal.write { database in
            let now = Runner.now
            return try ids.filter { id in
                guard var transfer = try Self.transfers("WHERE id = ?", [id], database).first else { return false }
                switch transfer.apply(control, at: now) {
                case .none: break
                case .changed: try Self.update(transfer, at: now, database)
                case .removed:
                    try database.execute(sql: "DELETE FROM transfer WHERE number = ?", arguments: [transfer.number])
                }
                return true
            }
        }
        if !found.isEmpty { tell() }
        return found
    }

    /// Removes transfers that have ended; see ``TransferStore/removeEnded(unchangedFor:)``.
    @discardableResult
    public func removeEnded(unchangedFor age: Duration) async throws(BackgroundError) -> Int {
        var removed = 0
        while true {
            let count = try await journal.write { database in
                // A part at a time, so that other writers have their turn.
                try database.execute(
                    sql: """
                        DELETE FROM transfer WHERE number IN (
                            SELECT number FROM transfer WHERE state >= 3 AND changedAt <= ? LIMIT 10000)
                        """, arguments: [Runner.now - age.milliseconds])
                return database.changesCount
            }
            removed += count
            if count == 0 { break }
        }
        if removed > 0 { tell() }
        return removed
    }

    private func tell() {
        signal.tell()
        presence.announceChange()
    }

    // MARK: Reading

    /// The transfer with an identifier; see ``TransferStore/transfer(_:)``.
    public func transfer(_ id: String) async throws(BackgroundError) -> StoredTransfer? {
        try await journal.read { try Self.transfers("WHERE id = ?", [id], $0).first }
    }

    /// Transfers in the order in which they were added; see ``TransferStore/transfers(in:after:limit:)``.
    public func transfers(
        in states: Set<BackgroundTask.State>, after last: StoredTransfer?, limit: Int
    ) async throws(BackgroundError) -> [StoredTransfer] {
        let numbers = states.map { String($0.number) }.joined(separator: ", ")
        return try await journal.read { database in
            try Self.transfers(
                "WHERE number > ? AND state IN (\(numbers)) ORDER BY number LIMIT ?",
                [last?.number ?? 0, max(0, limit)], database)
        }
    }

    /// The number of transfers in each state; see ``TransferStore/counts()``.
    public func counts() async throws(BackgroundError) -> [BackgroundTask.State: Int] {
        try await journal.read { database in
            var counts: [BackgroundTask.State: Int] = [:]
            for row in try Row.fetchAll(database, sql: "SELECT state, count(*) FROM transfer GROUP BY state") {
                guard let number = Journal.value(row, 0, Int64.self), let state = BackgroundTask.State(number: number)
                else { continue }
                counts[state] = Journal.value(row, 1, Int.self)
            }
            return counts
        }
    }

    /// The time until a worker can lease a transfer; see ``TransferStore/timeUntilReady(in:)``.
    public func timeUntilReady(in room: TransferLease.Room) async throws(BackgroundError) -> Duration? {
        let next = try await journal.read { database in
            let kinds = Self.condition(room.kinds)
            return try Int64.fetchOne(
                database,
                sql: """
                    SELECT min(time) FROM (
                        SELECT min(readyAt) AS time FROM transfer WHERE state = 0 AND \(Self.condition(room))
                        UNION ALL SELECT min(expiry) FROM transfer WHERE state = 0 AND \(kinds)
                        UNION ALL SELECT min(leaseEnd) FROM transfer WHERE state = 1 AND \(kinds))
                    """, arguments: [try Self.json(room.fullHosts)])
        }
        return next.map { .milliseconds(max(0, max($0, 0) - Runner.now)) }
    }

    /// Tells changes; see ``TransferStore/changes()``.
    public func changes() -> AsyncStream<Void> { signal.stream() }
}

// MARK: - The table

extension SQLiteTransferStore {
    /// The version of the table. The first one had no kinds and hosts.
    private static let version: Int64 = 2

    private static func prepare(_ database: Database) throws {
        let found = try Int64.fetchOne(database, sql: "SELECT value FROM setting WHERE name = 'transferVersion'")
        if let found, found < version { return try migrate(database) }
        guard (found ?? version) <= version else {
            throw BackgroundError(
                .newerJournal,
                "The table of transfers has version \(found ?? 0), and this program reads version \(version) at most.")
        }
        guard found == nil else { return }
        try database.execute(
            sql: """
                CREATE TABLE transfer (
                    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, definition TEXT NOT NULL,
                    machine TEXT NOT NULL, result TEXT NOT NULL, state INTEGER NOT NULL, rank INTEGER NOT NULL,
                    readyAt INTEGER NOT NULL, expiry INTEGER NOT NULL, worker TEXT, leaseEnd INTEGER,
                    changedAt INTEGER NOT NULL, kind INTEGER NOT NULL, host TEXT NOT NULL);
                \(indexesWithHosts)
                CREATE INDEX transferToExpire ON transfer(expiry) WHERE state = 0;
                CREATE INDEX transferLeased ON transfer(leaseEnd) WHERE state = 1;
                CREATE INDEX transferState ON transfer(state);
                INSERT INTO setting VALUES ('transferVersion', \(version));
                """)
    }

    private static let indexesWithHosts = """
        CREATE INDEX transferToStart ON transfer(rank, number, readyAt, kind, host) WHERE state = 0;
        CREATE INDEX transferReady ON transfer(readyAt, kind, host) WHERE state = 0;
        """

    /// Adds what the first version did not have.
    private static func migrate(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE transfer ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE transfer ADD COLUMN host TEXT NOT NULL DEFAULT '';
                DROP INDEX transferToStart;
                DROP INDEX transferReady;
                \(indexesWithHosts)
                UPDATE setting SET value = \(version) WHERE name = 'transferVersion';
                """)
        for transfer in try transfers("", [], database) {
            try database.cachedStatement(sql: "UPDATE transfer SET host = ? WHERE number = ?")
                .execute(arguments: [transfer.host, transfer.number])
        }
    }

    /// The condition that a worker has room for a transfer. Its argument are the hosts that are full, in JSON.
    private static func condition(_ room: TransferLease.Room) -> String {
        "\(condition(room.kinds)) AND host NOT IN (SELECT value FROM json_each(?))"
    }

    private static func condition(_ kinds: Set<BackgroundTask.Kind>) -> String {
        "kind IN (\(kinds.map { String($0.number) }.sorted().joined(separator: ", ")))"
    }

    private static func json(_ hosts: [String]) throws -> String {
        String(decoding: try JSONEncoder().encode(hosts), as: UTF8.self)
    }

    /// Returns whether the transfer was not there.
    private static func insert(
        _ addition: TransferAddition, _ initial: (machine: String, result: String), at now: Int64, _ database: Database
    ) throws -> Bool {
        let begin = max(now, addition.earliest ?? now)
        try database.cachedStatement(
            sql: """
                INSERT INTO transfer (id, definition, machine, result, state, rank, readyAt, expiry, changedAt, kind, host)
                VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
                """
        ).execute(
            arguments: [
                addition.id, addition.definition, initial.machine, initial.result, begin - addition.worth,
                addition.earliest ?? .min, begin + addition.timeout, now, addition.kind, addition.host,
            ])
        return database.changesCount > 0
    }

    private static func update(_ transfer: StoredTransfer, at now: Int64, _ database: Database) throws {
        let change = try TransferChange(transfer)
        try database.cachedStatement(
            sql: """
                UPDATE transfer SET machine = ?, result = ?, state = ?, readyAt = ?, expiry = ?, worker = ?, leaseEnd = ?,
                changedAt = ? WHERE number = ?
                """
        ).execute(
            arguments: [
                change.machine, change.result, change.state, change.readyAt, change.expiry, change.worker,
                change.leaseEnd, now, change.number,
            ])
    }

    private static func transfer(_ number: Int64, _ database: Database) throws -> StoredTransfer? {
        try transfers("WHERE number = ?", [number], database).first
    }

    private static func transfers(
        _ rest: String, _ arguments: StatementArguments, _ database: Database
    ) throws -> [StoredTransfer] {
        let statement = try database.cachedStatement(
            sql: "SELECT number, id, definition, machine, result, expiry, worker, leaseEnd FROM transfer \(rest)")
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var transfers: [StoredTransfer] = []
        while let row = try rows.next() {
            guard let number = Journal.value(row, 0, Int64.self), let id = Journal.value(row, 1, String.self),
                let definition = Journal.value(row, 2, String.self), let machine = Journal.value(row, 3, String.self),
                let result = Journal.value(row, 4, String.self), let expiry = Journal.value(row, 5, Int64.self)
            else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a row of the store is damaged") }
            let columns = TransferColumns(
                number: number, id: id, definition: definition, machine: machine, result: result, expiry: expiry,
                worker: Journal.value(row, 6, String.self), leaseEnd: Journal.value(row, 7, Int64.self))
            transfers.append(try StoredTransfer(columns))
        }
        return transfers
    }
}
