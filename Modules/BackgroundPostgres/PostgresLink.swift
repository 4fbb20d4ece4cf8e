internal import Dispatch
internal import LinnetBackground
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A connection with its thread, which connects again when the connection is lost.
final class PostgresLink: Sendable {
    /// How often a statement is tried, if its connection or its transaction was ended.
    private static let tries = 4
    /// The waits before the connection is made again, after one failure and more.
    private static let waits: [Duration] = [.zero, .milliseconds(100), .milliseconds(500), .seconds(2)]

    private let configuration: PostgresTransferStore.Configuration
    private let connectionString: String
    /// The number of statements that wait or run.
    private let load = Atomic(0)
    private let queue = DispatchQueue(label: "LinnetBackgroundPostgres")
    // SAFETY: only functions on `queue`, which is serial, read and write these two.
    private nonisolated(unsafe) var connection: PostgresConnection?
    private nonisolated(unsafe) var failures = 0

    init(_ connectionString: String, _ configuration: PostgresTransferStore.Configuration) {
        self.connectionString = connectionString
        self.configuration = configuration
    }

    var waiting: Int { load.load(ordering: .relaxed) }

    /// Runs statements on the thread of the connection. They run again if the connection is lost, or if the server
    /// ends their transaction in favour of another.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        load.add(1, ordering: .relaxed)
        defer { load.subtract(1, ordering: .relaxed) }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.run(body) }) }
        }
    }

    private func run<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        let deadline = ContinuousClock.now + configuration.connectTimeout
        var tries = 0
        while true {
            tries += 1
            do {
                return try body(connected())
            } catch {
                guard let error = error as? PostgresError else { throw error }
                if error.isOfConnection { connection = nil }
                guard error.isOfConnection || error.isRepeatable, tries < Self.tries, .now < deadline else {
                    throw error
                }
            }
        }
    }

    private func connected() throws(PostgresError) -> PostgresConnection {
        if let connection, connection.isUsable { return connection }
        connection = nil
        let wait = Self.waits[min(failures, Self.waits.count - 1)]
        if wait > .zero { usleep(UInt32(wait / .microseconds(1))) }
        do {
            let made = try PostgresConnection(connectionString, timeout: configuration.connectTimeout)
            let milliseconds = Int(configuration.statementTimeout / .milliseconds(1))
            // A process that is stopped in a transaction does not keep its locks for long.
            _ = try made.query(
                """
                SELECT set_config('statement_timeout', $1, false),
                    set_config('idle_in_transaction_session_timeout', $1, false)
                """, [String(milliseconds)], timeout: configuration.connectTimeout)
            connection = made
            failures = 0
            return made
        } catch {
            failures += 1
            throw error
        }
    }
}

extension PostgresConnection {
    /// Runs statements as one transaction.
    func transaction<Value>(
        timeout: Duration, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        _ = try query("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", timeout: timeout)
        do {
            let value = try body(self)
            _ = try query("COMMIT", timeout: timeout)
            return value
        } catch {
            _ = try? query("ROLLBACK", timeout: timeout)
            throw error
        }
    }
}
