internal import LinnetBackground

extension PostgresTransferStore {
    /// The configuration of a store, fixed when it is opened.
    public struct Configuration: Sendable {
        /// The name of the schema that has the tables: 1 to 48 lower-case letters, digits and underscores of ASCII, not
        /// beginning with a digit. It is created if it is missing. Stores of one database with different schemas have
        /// nothing in common. The default is `linnet_background`.
        public var schema = "linnet_background"
        /// The number of connections for statements, each with a thread: 1 to 64. One more listens while
        /// ``PostgresTransferStore/changes()`` is read. The default is 2.
        public var connections = 2
        /// The longest time for connecting. While the server cannot be reached, such as during its restart, a call
        /// tries again, and fails after about this time; the initializer tries four times at most. The default is 10
        /// seconds. Beyond it, the call fails with `storeUnavailable`.
        public var connectTimeout = Duration.seconds(10)
        /// The longest time for a statement, which the server also applies. The default is 30 seconds. Beyond it, the
        /// call fails with `storageFailed`, or with `storeUnavailable` if the server does not end the statement.
        public var statementTimeout = Duration.seconds(30)
        /// The time after which ``PostgresTransferStore/changes()`` tells a change without one, and after which a lost
        /// connection for it is made again. The default is 15 seconds.
        public var pollInterval = Duration.seconds(15)

        /// Creates the default configuration.
        public init() {}

        /// The time after which a statement without an answer is given up. The server ends it before.
        var patience: Duration { statementTimeout + .seconds(2) }

        func check() throws(BackgroundError) {
            let letters = schema.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 95 }
            guard letters, (1...48).contains(schema.utf8.count), let first = schema.utf8.first, first > 57 else {
                throw BackgroundError(.invalidOptions, "\"\(schema)\" cannot be the name of a store's schema.")
            }
            guard (1...64).contains(connections) else {
                throw BackgroundError(.invalidOptions, "The number of connections is \(connections), not 1 to 64.")
            }
            let shortest = Duration.milliseconds(1)
            guard min(connectTimeout, statementTimeout, pollInterval) >= shortest,
                max(connectTimeout, statementTimeout, pollInterval) <= .seconds(86_400)
            else {
                throw BackgroundError(.invalidOptions, "A timeout of the store is not between 1 ms and a day.")
            }
        }
    }
}
