public import FoundationEssentials

/// A failure to make a credential, or to trust a response.
public struct AuthenticationError: Error, Sendable, Hashable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// A user name, a password or a token contains a character that the scheme does not allow.
        public static let invalidCredential = Code("invalidCredential")
        /// The server's response contains a wrong proof of the password (RFC 7616, section 3.5). It did not come from
        /// the server that knows the password, or was changed on its way.
        public static let wrongServerProof = Code("wrongServerProof")
        /// The bytes of a ``SignatureKey`` are not a key that can sign: malformed, encrypted, or of another kind.
        public static let invalidKey = Code("invalidKey")
        /// A ``MessageSigner`` has an invalid name, or the same component twice.
        public static let invalidSigner = Code("invalidSigner")
        /// The message does not have a component that its signature covers, or the component's value cannot be signed.
        public static let missingComponent = Code("missingComponent")
        /// The message has no signature with a label, or a wrong one.
        package static let wrongSignature = Code("wrongSignature")
    }

    /// The kind of the failure.
    public let code: Code
    /// The failure and its cause, in one sentence, without a secret.
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
