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
    /// How often statements are tried, if their connection or their transaction was ended; and how often a server is
    /// tried that was never reached.
    private static let tries = 4
    /// The waits before the connection is made again, after one failure and more.
    private static let waits: [Duration] = [.milliseconds(100), .milliseconds(500), .seconds(2)]

    /// The failures to connect since the last success.
    private struct Outage {
        var count = 0
        let error: PostgresError
        let time: ContinuousClock.Instant

        /// The time before which the server is not tried again.
        var end: ContinuousClock.Instant { time + PostgresLink.waits[min(count, PostgresLink.waits.count) - 1] }
    }

    private let configuration: PostgresTransferStore.Configuration
    private let connectionString: String
    /// The number of statements that wait or run.
    private let load = Atomic(0)
    private let queue = DispatchQueue(label: "LinnetBackgroundPostgres")
    // SAFETY: only functions on `queue`, which is serial, read and write these two.
    private nonisolated(unsafe) var connection: PostgresConnection?
    private nonisolated(unsafe) var outage: Outage?

    init(_ connectionString: String, _ configuration: PostgresTransferStore.Configuration) {
        self.connectionString = connectionString
        self.configuration = configuration
    }

    var waiting: Int { load.load(ordering: .relaxed) }

    /// Runs statements on the thread of the connection. They run again if the connection is lost, or if the server
    /// ends their transaction in favour of another.
    ///
    /// - Parameter awaitsServer: Whether a server that is away is awaited for the configured time. A server that was
    ///   never reached may be the wrong one, and is tried a few times only.
    func perform<Value: Sendable>(
        awaitsServer: Bool = true, _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        load.add(1, ordering: .relaxed)
        defer { load.subtract(1, ordering: .relaxed) }
        let start = ContinuousClock.now
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try self.run(body, since: start, awaitsServer: awaitsServer) })
            }
        }
    }

    private func run<Value>(
        _ body: (PostgresConnection) throws -> Value, since start: ContinuousClock.Instant, awaitsServer: Bool
    ) throws -> Value {
        var deadline = start + configuration.connectTimeout
        var tries = 0
        while true {
            let connection = try connected(since: start, by: deadline, tries: awaitsServer ? .max : Self.tries)
            tries += 1
            do {
                return try body(connection)
            } catch let error as PostgresError where error.isOfConnection {
                self.connection = nil
                // The same statement may take too long again.
                guard tries < Self.tries, !error.isTimeout else { throw error }
                deadline = .now + configuration.connectTimeout
            } catch let error as PostgresError where error.isRepeatable && tries < Self.tries {
                continue
            }
        }
    }

    // MARK: Connecting

    /// The connection, which is made if there is none.
    ///
    /// - Parameters:
    ///   - start: The beginning of the call.
    ///   - deadline: The time after which the server is not tried again.
    ///   - tries: The largest number of tries.
    private func connected(
        since start: ContinuousClock.Instant, by deadline: ContinuousClock.Instant, tries: Int
    ) throws(PostgresError) -> PostgresConnection {
        if let connection, connection.isUsable { return connection }
        connection = nil
        var count = 0
        while true {
            // A call that has waited for others, which could not connect, waits no longer than they did.
            if let outage, outage.time > start, .now >= deadline || count >= tries { throw outage.error }
            let wait = min(outage?.end ?? deadline, deadline) - ContinuousClock.now
            if outage != nil, wait > .zero { usleep(UInt32(wait / .microseconds(1))) }
            count += 1
            do {
                let made = try connect()
                connection = made
                outage = nil
                return made
            } catch {
                outage = Outage(count: (outage?.count ?? 0) + 1, error: error, time: .now)
            }
        }
    }

    private func connect() throws(PostgresError) -> PostgresConnection {
        let connection = try PostgresConnection(connectionString, timeout: configuration.connectTimeout)
        let milliseconds = Int(configuration.statementTimeout / .milliseconds(1))
        // A process that is stopped in a transaction does not keep its locks for long.
        _ = try connection.query(
            """
            SELECT set_config('statement_timeout', $1, false),
                set_config('idle_in_transaction_session_timeout', $1, false)
            """, [String(milliseconds)], timeout: configuration.connectTimeout)
        return connection
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
