public import LinnetBackground
internal import Synchronization

/// A store for the workers of many machines, in a PostgreSQL database.
///
/// ```swift
/// let store = try await PostgresTransferStore("postgresql://fleet@db.example.com/mirror?sslmode=verify-full")
/// let worker = try await TransferWorker(store, directory: directory) { transfer in
///     try .file(transfer.destination, in: mirror)
/// }
/// try await worker.run()
/// ```
/// Workers lease transfers with row locks (`FOR UPDATE SKIP LOCKED`), so they do not wait for each other, and by the
/// clock of the server. Changes are told by `LISTEN` and `NOTIFY`. An addition, a control or an end is as durable as a
/// commit of the database: `synchronous_commit` and the database's replication decide.
///
/// The store needs PostgreSQL 12 or newer, a database whose encoding is UTF8, and a connection to the server itself or
/// through a pool that gives a client its connection for the whole session. Statements run on threads of the store's
/// own, for a limited time, and again on a new connection if theirs is lost, also after a restart of the server. A
/// transaction whose commit was lost with its connection may have taken effect: it runs again all the same, and the
/// call returns what the second one has found. ``add(_:)`` then leaves out identifiers that the first one has added.
public final class PostgresTransferStore: TransferStore {
    let configuration: Configuration
    private let connectionString: String
    private let links: [PostgresLink]
    private let signal = ChangeSignal()
    /// Ends the listener; nil while no one reads changes.
    private let listener = Mutex<(@Sendable () -> Void)?>(nil)

    /// Connects to a database, and creates or migrates the schema of the store.
    ///
    /// The tables are created once, by a user who may create a schema in the database, or who owns an empty schema of
    /// the name. Afterwards, a worker needs `USAGE` of the schema, and `SELECT`, `INSERT`, `UPDATE` and `DELETE` of its
    /// tables.
    ///
    /// - Parameters:
    ///   - connectionString: A connection string of libpq: a URI, or keywords and values. It decides on TLS, with
    ///     `sslmode`, of which only `verify-full` checks the server, against the authorities of `sslrootcert`.
    ///     libpq's environment variables and password file apply, `connect_timeout` does not. Hosts of a list are tried
    ///     in order, within one ``Configuration/connectTimeout``.
    ///   - configure: Changes the default configuration.
    /// - Throws: `BackgroundError` with `storeUnavailable` if the server cannot be reached or
    ///   refuses the connection, `newerJournal` if a newer version of the library made the
    ///   schema, `storageFailed`, and `invalidOptions`. The underlying
    ///   error is a ``PostgresError``, with the SQLSTATE of the server.
    public init(
        _ connectionString: String, configure: (inout Configuration) -> Void = { _ in }
    ) async throws(BackgroundError) {
        var configuration = Configuration()
        configure(&configuration)
        try configuration.check()
        guard !connectionString.utf8.contains(0) else {
            throw BackgroundError(.invalidOptions, "The connection string has a NUL.")
        }
        self.configuration = configuration
        self.connectionString = connectionString
        links = (0..<configuration.connections).map { [configuration] _ in
            PostgresLink(connectionString, configuration)
        }
        try await perform(awaitsServer: false) { [configuration] connection in
            try PostgresSchema(configuration.schema).prepare(connection, timeout: configuration.patience)
        }
    }

    deinit {
        listener.withLock { $0 }?()
        signal.finish()
    }

    /// Tells changes; see `TransferStore.changes()`.
    public func changes() -> AsyncStream<Void> {
        let stream = signal.stream()
        listener.withLock { listener in
            guard listener == nil else { return }
            // Without a thread, the interval of the worker remains.
            listener = PostgresListener.start(
                connectionString, configuration, channel: PostgresSchema(configuration.schema).name, signal)
        }
        return stream
    }
}

// MARK: - Statements

extension PostgresTransferStore {
    /// Runs statements on the connection that has the least to do.
    func perform<Value: Sendable>(
        awaitsServer: Bool = true, _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws(BackgroundError) -> Value {
        guard let link = links.min(by: { $0.waiting < $1.waiting }) else { throw .shutDown }
        do {
            return try await link.perform(awaitsServer: awaitsServer, body)
        } catch {
            throw Self.failure(error)
        }
    }

    /// Runs one statement that reads.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (TransferTable) throws -> Value
    ) async throws(BackgroundError) -> Value {
        try await perform { [configuration] in try body(TransferTable($0, configuration)) }
    }

    /// Runs a transaction, whose locks end with it.
    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (TransferTable) throws -> Value
    ) async throws(BackgroundError) -> Value {
        try await perform { [configuration] connection in
            try connection.transaction(timeout: configuration.patience) {
                try body(TransferTable($0, configuration))
            }
        }
    }

    private static func failure(_ error: any Error) -> BackgroundError {
        guard let error = error as? PostgresError else { return .storage(error) }
        return error.isOfConnection
            ? BackgroundError(.storeUnavailable, "The store cannot be reached: \(error)", underlying: error)
            : BackgroundError(.storageFailed, "The server of the store has failed: \(error)", underlying: error)
    }
}
