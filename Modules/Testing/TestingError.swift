public import FoundationEssentials

/// A failure of the test support.
public struct TestingError: Error, Sendable {
    /// The kind of a failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The server cannot listen on the loopback address.
        public static let cannotListen = Code("cannotListen")
        /// The server's configuration is invalid, for example its certificate or key.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// OpenSSL could not create the key, certificate or other object.
        public static let cannotMint = Code("cannotMint")
        /// The text is not the path and query of a URL.
        public static let invalidURL = Code("invalidURL")
        /// The client closed the connection before it had sent the expected bytes.
        public static let connectionClosed = Code("connectionClosed")
        /// The client sent a frame of a WebSocket that the protocol forbids.
        public static let invalidFrame = Code("invalidFrame")
        /// Two tasks read from the same connection at the same time.
        public static let concurrentRead = Code("concurrentRead")
        /// A script has responses left, or requests found none; see ``MockServer/Script``.
        public static let scriptMismatch = Code("scriptMismatch")
        /// The test has no `MockServer.current`, since it has no trait of LinnetTestingTraits that starts a server.
        public static let noMockServer = Code("noMockServer")
        /// The waiting task was cancelled.
        public static let cancelled = Code("cancelled")
        /// The server was shut down.
        public static let shutDown = Code("shutDown")
    }

    /// The kind of the failure.
    public var code: Code
    /// The failure and its cause, in one sentence.
    public var message: String
    /// The underlying error, if any.
    public var underlying: (any Error)?

    package init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }
}

extension TestingError: CustomStringConvertible, LocalizedError {
    /// The message.
    public var description: String { message }

    /// The message, which is also the error's `localizedDescription`.
    public var errorDescription: String? { message }
}
