internal import CLibPQ

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A connection to a server. All functions block, for a limited time, and are called on one thread at a time.
///
/// libpq is used without its own blocking calls, so that a server that does not answer cannot hold the thread.
final class PostgresConnection {
    private let connection: OpaquePointer

    /// Connects to a server.
    ///
    /// - Parameters:
    ///   - connectionString: A string of libpq: a URI, or keywords and values.
    ///   - timeout: The longest time for connecting, without the resolution of the host's name.
    init(_ connectionString: String, timeout: Duration) throws(PostgresError) {
        let options = [
            // The string comes first, and what follows is not left to it.
            ("dbname", connectionString), ("fallback_application_name", "linnet"), ("client_encoding", "UTF8"),
        ]
        let started = Self.withTexts(options.map(\.0) + options.map(\.1)) { texts in
            PQconnectStartParams(
                Array(texts[..<options.count]) + [nil], Array(texts[options.count...]) + [nil], 1)
        }
        guard let started else { throw PostgresError(nil, "libpq has no memory for a connection.") }
        connection = started
        try connect(until: .now + timeout)
        // Notices would be written to the standard error.
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
    }

    deinit { PQfinish(connection) }

    var isUsable: Bool { PQstatus(connection) == CONNECTION_OK }

    private func connect(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        guard PQstatus(connection) != CONNECTION_BAD else { throw failure }
        var events = Int16(POLLOUT)
        while true {
            // The descriptor changes when libpq tries the next address.
            try wait(for: events, until: deadline)
            switch PQconnectPoll(connection) {
            case PGRES_POLLING_OK: return
            case PGRES_POLLING_READING: events = Int16(POLLIN)
            case PGRES_POLLING_WRITING: events = Int16(POLLOUT)
            default: throw failure
            }
        }
    }

    // MARK: Statements

    /// Runs a statement, and returns its rows.
    ///
    /// - Parameters:
    ///   - sql: One statement. Values are passed beside it, never in it.
    ///   - values: The values of `$1` and so on, as texts.
    ///   - timeout: The longest time without an answer. A connection that exceeds it cannot be used again.
    func query(
        _ sql: String, _ values: [String?] = [], timeout: Duration
    ) throws(PostgresError) -> [[String?]] {
        // A text of libpq ends with its first NUL.
        guard !values.contains(where: { $0?.utf8.contains(0) == true }) else {
            throw PostgresError("22021", "A value has a NUL, which a text of PostgreSQL cannot have.")
        }
        let deadline = ContinuousClock.now + timeout
        let isSent = Self.withTexts([sql] + values) { texts in
            PQsendQueryParams(
                connection, texts[0], Int32(values.count), nil, values.isEmpty ? nil : Array(texts[1...]), nil, nil, 0)
        }
        guard isSent == 1 else { throw failure }
        try flush(until: deadline)
        return try readResults(until: deadline)
    }

    private func flush(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        while true {
            let rest = PQflush(connection)
            if rest == 0 { return }
            guard rest > 0 else { throw failure }
            // A server that sends before it has read all would otherwise wait for this side.
            try wait(for: Int16(POLLIN | POLLOUT), until: deadline)
            guard PQconsumeInput(connection) == 1 else { throw failure }
        }
    }

    private func readResults(until deadline: ContinuousClock.Instant) throws(PostgresError) -> [[String?]] {
        var rows: [[String?]] = []
        var problem: PostgresError?
        while true {
            while PQisBusy(connection) == 1 {
                try wait(for: Int16(POLLIN), until: deadline)
                guard PQconsumeInput(connection) == 1 else { throw failure }
            }
            guard let result = PQgetResult(connection) else { break }
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK: rows = Self.rows(of: result)
            case PGRES_COMMAND_OK: break
            default:
                let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
                let message = PQresultErrorField(result, Int32(UInt8(ascii: "M"))) ?? PQresultErrorMessage(result)
                problem = problem ?? PostgresError(state, message.map { String(cString: $0) } ?? "")
            }
        }
        if let problem { throw problem }
        return rows
    }

    private static func rows(of result: OpaquePointer) -> [[String?]] {
        let columns = PQnfields(result)
        return (0..<PQntuples(result)).map { row in
            (0..<columns).map { column in
                guard PQgetisnull(result, row, column) == 0, let value = PQgetvalue(result, row, column) else {
                    return nil
                }
                let bytes = UnsafeRawBufferPointer(start: value, count: Int(PQgetlength(result, row, column)))
                return String(decoding: bytes, as: UTF8.self)
            }
        }
    }

    // MARK: Notifications

    /// Waits for notifications of `LISTEN`; returns whether one has come.
    ///
    /// - Parameters:
    ///   - timeout: The longest wait.
    ///   - waker: A descriptor that ends the wait when it can be read.
    func awaitNotification(for timeout: Duration, orReading waker: Int32) throws(PostgresError) -> Bool {
        if readNotifications() { return true }
        var polled = [
            pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0),
            pollfd(fd: waker, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&polled, nfds_t(polled.count), Self.milliseconds(timeout))
        guard count > 0, polled[0].revents != 0 else { return false }
        guard PQconsumeInput(connection) == 1 else { throw failure }
        return readNotifications()
    }

    private func readNotifications() -> Bool {
        var isAny = false
        while let notification = PQnotifies(connection) {
            PQfreemem(notification)
            isAny = true
        }
        return isAny
    }

    // MARK: Helpers

    private func wait(for events: Int16, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        while true {
            let rest = deadline - .now
            guard rest > .zero else { throw PostgresError(nil, "The server did not answer in time.", isTimeout: true) }
            var polled = pollfd(fd: PQsocket(connection), events: events, revents: 0)
            let count = poll(&polled, 1, Self.milliseconds(rest))
            if count > 0 { return }
            guard count == 0 || errno == EINTR else { throw PostgresError(nil, "The connection cannot be polled.") }
        }
    }

    private var failure: PostgresError {
        PostgresError(nil, PQerrorMessage(connection).map { String(cString: $0) } ?? "The connection failed.")
    }

    private static func milliseconds(_ duration: Duration) -> Int32 {
        Int32(min(max(1, duration / .milliseconds(1)), 1_000_000_000))
    }

    /// Calls a function with texts of C.
    private static func withTexts<Result>(
        _ texts: [String?], _ body: ([UnsafePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { $0.flatMap { strdup($0) } }
        defer { copies.forEach { free($0) } }
        return body(copies.map { $0.map { UnsafePointer($0) } })
    }
}
