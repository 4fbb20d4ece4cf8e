public import FoundationEssentials

/// Why a credential could not be made, or a response not be trusted.
public struct AuthenticationError: Error, Sendable, Hashable {
    /// The kind of a failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// A user name, a password or a token contains a character that its scheme does not allow.
        public static let invalidCredential = Code("invalidCredential")
        /// The server's response proves no knowledge of the password, although it has a proof (RFC 7616, section 3.5). It did
        /// not come from the server that knows the password, or was changed on its way.
        public static let wrongServerProof = Code("wrongServerProof")
    }

    /// The kind of the failure.
    public let code: Code
    /// What failed and why, in one sentence, without a secret.
    public let message: String

    init(_ code: Code, _ message: String) {
        (self.code, self.message) = (code, message)
    }
}

extension AuthenticationError: CustomStringConvertible, LocalizedError {
    /// The message.
    public var description: String { message }

    /// The message, which is also the error's `localizedDescription`.
    public var errorDescription: String? { message }
}
