internal import FoundationEssentials
internal import LinnetBackground

/// The table of transfers, for one transaction or one statement.
struct TransferTable {
    /// The largest number of transfers in one statement.
    private static let most = 1000

    private let connection: PostgresConnection
    private let schema: PostgresSchema
    private let timeout: Duration
    /// The server's time in milliseconds since 1970.
    private static let serverTime = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    private static let columns = "number, id, definition, machine, result, expiry, worker, \"leaseEnd\""

    init(_ connection: PostgresConnection, _ configuration: PostgresTransferStore.Configuration) {
        self.init(connection, PostgresSchema(configuration.schema), timeout: configuration.patience)
    }

    init(_ connection: PostgresConnection, _ schema: PostgresSchema, timeout: Duration) {
        self.connection = connection
        self.schema = schema
        self.timeout = timeout
    }

    func query(_ sql: String, _ values: [String?] = []) throws(PostgresError) -> [[String?]] {
        try connection.query(sql, values, timeout: timeout)
    }

    /// Tells the listeners, when the transaction is committed, that the table has changed.
    func notify() throws { _ = try query("SELECT pg_notify($1, '')", [schema.name]) }

    // MARK: Reading

    /// Returns transfers, and the server's time when the last of them was read, and locked if they are.
    func transfers(_ rest: String, _ values: [String?] = []) throws -> (transfers: [StoredTransfer], now: Int64) {
        let rows = try query("SELECT \(Self.serverTime), \(Self.columns) FROM \(schema.table) \(rest)", values)
        let times = rows.compactMap { $0[0].flatMap { Int64($0) } }
        return (try rows.map { try Self.transfer(Array($0.dropFirst())) }, times.max() ?? .min)
    }

    /// Locks and returns transfers whose lease has ended, or which have expired. Rows that another transaction has
    /// locked are left to it.
    func lockDue() throws -> (transfers: [StoredTransfer], now: Int64) {
        try transfers(
            """
            WHERE (state = 1 AND "leaseEnd" <= \(Self.serverTime)) OR (state = 0 AND expiry <= \(Self.serverTime))
            ORDER BY number LIMIT \(Self.most) FOR UPDATE SKIP LOCKED
            """)
    }

    /// Locks and returns the first transfers that can be leased by a worker that has room for them.
    func lockReady(_ count: Int, _ room: TransferLease.Room) throws -> (transfers: [StoredTransfer], now: Int64) {
        try transfers(
            """
            WHERE state = 0 AND "readyAt" <= \(Self.serverTime) AND expiry > \(Self.serverTime)
                AND \(Self.kinds(room)) AND \(Self.hosts("$2"))
            ORDER BY rank, number LIMIT $1::bigint FOR UPDATE SKIP LOCKED
            """, [String(count), Self.json(room.fullHosts)])
    }

    /// The condition that a worker takes the kind of a transfer.
    private static func kinds(_ room: TransferLease.Room) -> String {
        let numbers = room.kinds.map { String($0.number) }.sorted().joined(separator: ", ")
        return numbers.isEmpty ? "false" : "kind IN (\(numbers))"
    }

    /// The condition that a worker has room for the host of a transfer; the parameter are those that are full.
    private static func hosts(_ parameter: String) -> String {
        "host <> ALL (ARRAY(SELECT json_array_elements_text(\(parameter)::json)))"
    }

    /// Locks and returns the transfers of numbers, in the order of their numbers, so that transactions that lock
    /// several do not wait for each other in a circle.
    func lock(numbers: [Int64]) throws -> (transfers: [StoredTransfer], now: Int64) {
        try transfers(
            "WHERE number IN (SELECT value::bigint FROM json_array_elements_text($1::json)) ORDER BY number FOR UPDATE",
            [Self.json(numbers)])
    }

    private static func transfer(_ row: [String?]) throws -> StoredTransfer {
        guard row.count == 8, let number = row[0].flatMap({ Int64($0) }), let id = row[1], let definition = row[2],
            let machine = row[3], let result = row[4], let expiry = row[5].flatMap({ Int64($0) })
        else { throw BackgroundError(.storageFailed, "A row of the store is not one of this version.") }
        return try StoredTransfer(
            TransferColumns(
                number: number, id: id, definition: definition, machine: machine, result: result, expiry: expiry,
                worker: row[6], leaseEnd: row[7].flatMap { Int64($0) }))
    }

    // MARK: Writing

    /// Inserts transfers; returns the identifiers of those that were not there.
    func insert(_ additions: [TransferAddition]) throws -> [String] {
        let initial = try TransferAddition.initialColumns()
        let sql = """
            INSERT INTO \(schema.table) (id, definition, machine, result, state, rank, "readyAt", expiry, "changedAt", kind,
                host)
            SELECT new.id, new.definition, $2::text, $3::text, 0, greatest(clock.now, new.earliest) - new.worth,
                coalesce(new.earliest, '\(Int64.min)'::bigint), greatest(clock.now, new.earliest) + new.timeout, clock.now,
                new.kind, new.host
            FROM (SELECT \(Self.serverTime) AS now) AS clock,
                ROWS FROM (json_to_recordset($1::json)
                    AS (id text, definition text, worth bigint, earliest bigint, timeout bigint, kind bigint,
                        host text))
                WITH ORDINALITY AS new
            ORDER BY new.ordinality
            ON CONFLICT (id) DO NOTHING RETURNING id
            """
        return try Self.chunks(additions).flatMap { chunk in
            try query(sql, [Self.json(chunk), initial.machine, initial.result]).compactMap { $0.first ?? nil }
        }
    }

    /// Writes transfers that have changed.
    func update(_ transfers: [StoredTransfer], at now: Int64) throws {
        let sql = """
            UPDATE \(schema.table) AS old SET machine = new.machine, result = new.result, state = new.state,
                "readyAt" = new."readyAt", expiry = new.expiry, worker = new.worker, "leaseEnd" = new."leaseEnd",
                "changedAt" = $2::bigint
            FROM json_to_recordset($1::json) AS new(number bigint, machine text, result text, state bigint,
                "readyAt" bigint, expiry bigint, worker text, "leaseEnd" bigint)
            WHERE old.number = new.number
            """
        for chunk in Self.chunks(transfers) {
            _ = try query(sql, [Self.json(try chunk.map { try TransferChange($0) }), String(now)])
        }
    }

    /// Writes the hosts of transfers that were added before they had a column.
    func fillHosts() throws {
        var last: Int64 = 0
        while true {
            let (found, _) = try transfers(
                "WHERE number > $1::bigint ORDER BY number LIMIT \(Self.most)", [String(last)])
            guard let end = found.last else { return }
            last = end.number
            _ = try query(
                """
                UPDATE \(schema.table) AS old SET host = new.host
                FROM json_to_recordset($1::json) AS new(number bigint, host text) WHERE old.number = new.number
                """, [Self.json(found.map { TransferHost(number: $0.number, host: $0.host) })])
        }
    }

    func delete(numbers: [Int64]) throws {
        guard !numbers.isEmpty else { return }
        _ = try query(
            """
            DELETE FROM \(schema.table)
            WHERE number IN (SELECT value::bigint FROM json_array_elements_text($1::json))
            """, [Self.json(numbers)])
    }

    /// Deletes some transfers that have ended, and have not changed for a time in milliseconds; returns their number.
    func deleteEnded(unchangedFor age: Int64) throws -> Int {
        try query(
            """
            DELETE FROM \(schema.table) WHERE number IN (
                SELECT number FROM \(schema.table)
                WHERE state >= 3 AND "changedAt" <= \(Self.serverTime) - $1::bigint LIMIT 10000 FOR UPDATE SKIP LOCKED)
            RETURNING number
            """, [String(age)]
        ).count
    }

    // MARK: Values

    /// Parts of a list, so that a statement has a bounded size.
    static func chunks<Element>(_ list: [Element]) -> [ArraySlice<Element>] {
        stride(from: 0, to: list.count, by: most).map { list[$0..<min($0 + most, list.count)] }
    }

    static func json(_ values: some Collection<some Encodable>) throws -> String {
        String(decoding: try JSONEncoder().encode(Array(values)), as: UTF8.self)
    }

    /// The statement that returns the number of transfers in each state.
    func counts() throws -> [[String?]] { try query("SELECT state, count(*) FROM \(schema.table) GROUP BY state") }

    /// The time until a transfer can be leased, in milliseconds; nil if there is nothing to wait for.
    func timeUntilReady(in room: TransferLease.Room) throws -> Int64? {
        let kinds = Self.kinds(room)
        let rows = try query(
            """
            SELECT least(
                (SELECT min("readyAt") FROM \(schema.table) WHERE state = 0 AND \(kinds) AND \(Self.hosts("$1"))),
                (SELECT min(expiry) FROM \(schema.table) WHERE state = 0 AND \(kinds)),
                (SELECT min("leaseEnd") FROM \(schema.table) WHERE state = 1 AND \(kinds))), \(Self.serverTime)
            """, [Self.json(room.fullHosts)])
        guard let row = rows.first, row.count == 2, let next = row[0].flatMap({ Int64($0) }),
            let now = row[1].flatMap({ Int64($0) })
        else { return nil }
        return max(0, max(next, 0) - now)
    }
}

/// The host of a transfer, for a statement.
private struct TransferHost: Encodable {
    let number: Int64
    let host: String
}
