internal import LinnetBackground

/// The schema of a store: its tables, and their versions.
struct PostgresSchema: Sendable {
    let name: String

    /// - Parameter name: Letters, digits and underscores, which need no quotes in a statement.
    init(_ name: String) { self.name = name }

    var table: String { "\(name).transfer" }

    /// The statements that lead from each version to the next, beginning with no tables.
    private var migrations: [[String]] {
        [
            [
                "CREATE TABLE \(name).version (version bigint NOT NULL)",
                "INSERT INTO \(name).version VALUES (0)",
                """
                CREATE TABLE \(table) (
                    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                    id text COLLATE "C" NOT NULL UNIQUE,
                    definition text NOT NULL, machine text NOT NULL, result text NOT NULL,
                    state bigint NOT NULL, rank bigint NOT NULL, "readyAt" bigint NOT NULL, expiry bigint NOT NULL,
                    worker text, "leaseEnd" bigint, "changedAt" bigint NOT NULL)
                """,
                // States are numbered as in SQLiteTransferStore: 0 waits, 1 is leased.
                "CREATE INDEX transfer_to_start ON \(table) (rank, number) WHERE state = 0",
                "CREATE INDEX transfer_ready ON \(table) (\"readyAt\") WHERE state = 0",
                "CREATE INDEX transfer_to_expire ON \(table) (expiry) WHERE state = 0",
                "CREATE INDEX transfer_leased ON \(table) (\"leaseEnd\") WHERE state = 1",
                "CREATE INDEX transfer_state ON \(table) (state, number)",
            ],
            [
                "ALTER TABLE \(table) ADD COLUMN kind bigint NOT NULL DEFAULT 0",
                "ALTER TABLE \(table) ADD COLUMN host text COLLATE \"C\" NOT NULL DEFAULT ''",
                "DROP INDEX \(name).transfer_ready",
                "CREATE INDEX transfer_ready ON \(table) (\"readyAt\", kind, host) WHERE state = 0",
            ],
        ]
    }

    /// Creates or migrates the tables, if they are not of this version.
    func prepare(_ connection: PostgresConnection, timeout: Duration) throws {
        guard try version(connection, timeout) != migrations.count else { return }
        try connection.transaction(timeout: timeout) { connection in
            // Programs that start at once create the tables once.
            _ = try connection.query(
                "SELECT pg_advisory_xact_lock(hashtext($1))", ["linnet " + name], timeout: timeout)
            let found = try version(connection, timeout)
            guard found < migrations.count else { return }
            if found == 0 {
                // The statement needs the right to create schemas also if the schema is there.
                let schemas = try connection.query(
                    "SELECT 1 FROM pg_namespace WHERE nspname = $1", [name], timeout: timeout)
                if schemas.isEmpty { _ = try connection.query("CREATE SCHEMA \(name)", timeout: timeout) }
            }
            for statement in migrations[found...].joined() { _ = try connection.query(statement, timeout: timeout) }
            if found == 1 { try TransferTable(connection, self, timeout: timeout).fillHosts() }
            _ = try connection.query(
                "UPDATE \(name).version SET version = $1::bigint", [String(migrations.count)], timeout: timeout)
        }
    }

    /// The version of the tables; 0 if there are none.
    ///
    /// - Throws: `newerJournal`.
    private func version(_ connection: PostgresConnection, _ timeout: Duration) throws -> Int {
        // Unlike `to_regclass`, this sees the tables that another transaction has made while this one waited for it.
        let tables = try connection.query(
            "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'version'", [name],
            timeout: timeout)
        guard !tables.isEmpty else { return 0 }
        let rows = try connection.query("SELECT version FROM \(name).version", timeout: timeout)
        guard let text = rows.first?.first ?? nil, let version = Int(text), version >= 1 else {
            throw BackgroundError(.storageFailed, "The schema \(name) is not one of a store.")
        }
        guard version <= migrations.count else {
            throw BackgroundError(
                .newerJournal,
                "The schema \(name) has version \(version), and this program reads version \(migrations.count) at most."
            )
        }
        return version
    }
}
