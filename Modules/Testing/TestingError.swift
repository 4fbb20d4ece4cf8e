/// Why a piece of the test kit could not do what it was asked to.
public struct TestingError: Error, Sendable {
    /// What kind of failure it was.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The server cannot listen on the loopback address.
        public static let cannotListen = Code("cannotListen")
        /// The server's configuration cannot be used: its certificate or key, for one.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// OpenSSL makes no such key or certificate.
        public static let cannotMint = Code("cannotMint")
        /// The text is not a URL's path and query.
        public static let invalidURL = Code("invalidURL")
        /// The client ended the connection before what was waited for.
        public static let connectionClosed = Code("connectionClosed")
        /// Two tasks read from one connection at a time.
        public static let concurrentRead = Code("concurrentRead")
        /// The waiting task was cancelled.
        public static let cancelled = Code("cancelled")
        /// The server was shut down.
        public static let shutDown = Code("shutDown")
    }

    /// What kind of failure it was.
    public var code: Code
    /// One line that a person can act on.
    public var message: String
    /// The error below, where there is one.
    public var underlying: (any Error)?

    /// Makes an error.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }
}

extension TestingError: CustomStringConvertible {
    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}
