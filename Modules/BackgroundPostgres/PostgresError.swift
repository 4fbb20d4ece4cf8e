/// The error of a PostgreSQL server or of the connection to it, as `BackgroundError.underlying` of an error of
/// ``PostgresTransferStore``.
public struct PostgresError: Error, Sendable, CustomStringConvertible {
    /// The SQLSTATE of the server's error, such as `42501`; nil if the connection failed.
    public let sqlState: String?
    /// The message of the server or of libpq, in one line.
    public let message: String
    /// Whether the server has not answered in time.
    let isTimeout: Bool

    init(_ sqlState: String?, _ message: String, isTimeout: Bool = false) {
        self.sqlState = sqlState
        self.isTimeout = isTimeout
        let lines = message.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\t" } }
        self.message = lines.joined(separator: " ")
    }

    /// The message with the SQLSTATE.
    public var description: String { sqlState.map { "\(message) (SQLSTATE \($0))" } ?? message }

    /// Whether the connection, and not the statement, has failed. Class 08 is of connections; 57P01 to 57P05 and 53300
    /// come from a server that stops, starts or is full, 25P03 from one that has waited too long in a transaction, and
    /// 25006 from one that only reads: after a failover, the next connection may lead to the server that writes.
    var isOfConnection: Bool {
        guard let sqlState else { return true }
        return sqlState.hasPrefix("08") || sqlState.hasPrefix("57P") || ["53300", "25P03", "25006"].contains(sqlState)
    }

    /// Whether the transaction was ended in favour of another, and can be repeated.
    var isRepeatable: Bool { sqlState == "40001" || sqlState == "40P01" }
}
