public import FoundationEssentials

/// A key that signs, for a ``MessageSigner`` or for signatures of one's own. Its bytes are in OpenSSL's memory, and in
/// no description.
public struct SignatureKey: Sendable, CustomStringConvertible {
    /// A signature algorithm (RFC 9421, section 3.3).
    public struct Algorithm: Hashable, Sendable, CustomStringConvertible {
        /// The name in the registry.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// Ed25519 (RFC 8032).
        public static let ed25519 = Algorithm("ed25519")
        /// ECDSA with the curve P-256 and SHA-256.
        public static let ecdsaP256SHA256 = Algorithm("ecdsa-p256-sha256")
        /// HMAC with SHA-256.
        public static let hmacSHA256 = Algorithm("hmac-sha256")
        /// RSASSA-PSS with SHA-512.
        public static let rsaPSSSHA512 = Algorithm("rsa-pss-sha512")
    }

    /// The algorithm, which follows from the key.
    public let algorithm: Algorithm
    let handle: SignatureKeyHandle

    /// Reads a private key, without encryption: PKCS#8, SEC 1 or PKCS#1, in PEM or DER. It is an Ed25519 key, an EC key
    /// of the curve P-256, or an RSA key of 2048 bits or more.
    ///
    /// - Throws: ``AuthenticationError/Code/invalidKey``.
    public init(privateKey: Data) throws(AuthenticationError) {
        try self.init(try SignatureKeyReader.privateKey(privateKey))
    }

    /// An Ed25519 key of its 32 bytes (RFC 8032, section 5.1.5).
    ///
    /// - Throws: ``AuthenticationError/Code/invalidKey``.
    public static func ed25519(_ bytes: Data) throws(AuthenticationError) -> SignatureKey {
        try SignatureKey(try SignatureKeyReader.ed25519(bytes))
    }

    /// A key of the curve P-256 of the 32 bytes of its private number, the most significant one first.
    ///
    /// - Throws: ``AuthenticationError/Code/invalidKey``.
    public static func ecdsaP256(_ bytes: Data) throws(AuthenticationError) -> SignatureKey {
        try SignatureKey(try SignatureKeyReader.p256(bytes))
    }

    /// A secret that both sides know, of 16 bytes or more.
    ///
    /// - Throws: ``AuthenticationError/Code/invalidKey``.
    public static func hmacSHA256(_ secret: Data) throws(AuthenticationError) -> SignatureKey {
        SignatureKey(.hmacSHA256, try SignatureKeyReader.secret(secret))
    }

    /// Reads a public key in PEM, which verifies.
    package init(publicKey: Data) throws(AuthenticationError) {
        try self.init(try SignatureKeyReader.publicKey(publicKey))
    }

    private init(_ algorithm: Algorithm, _ handle: SignatureKeyHandle) {
        (self.algorithm, self.handle) = (algorithm, handle)
    }

    private init(_ handle: SignatureKeyHandle) throws(AuthenticationError) {
        guard let algorithm = handle.algorithm else {
            throw .invalidKey(
                "The key is neither an Ed25519 key, nor one of the curve P-256, nor an RSA key of 2048 bits or more.")
        }
        self.init(algorithm, handle)
    }

    /// Returns the signature of bytes, or their code for HMAC.
    ///
    /// - Throws: ``AuthenticationError/Code/invalidKey`` if OpenSSL cannot sign with the key.
    public func signature(of bytes: Data) throws(AuthenticationError) -> Data {
        guard let signature = handle.sign(Array(bytes), algorithm) else {
            throw .invalidKey("OpenSSL could not sign with the key; a public key cannot sign.")
        }
        return Data(signature)
    }

    /// The name of the algorithm.
    public var description: String { "\(algorithm)" }
}

extension AuthenticationError {
    static func invalidKey(_ message: String) -> AuthenticationError { AuthenticationError(.invalidKey, message) }
}
