public import FoundationEssentials

/// An error thrown while making a pin, a certificate, an identity or a policy.
public struct SecurityError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        package init(_ description: String) { self.description = description }

        /// The text is not a pin: `sha256/` followed by the Base64 of 32 bytes.
        public static let invalidPin = Code("invalidPin")
        /// The bytes are not an X.509 certificate.
        public static let invalidCertificate = Code("invalidCertificate")
        /// The bytes are not a revocation list, or the list cannot be relied on.
        public static let invalidRevocationList = Code("invalidRevocationList")
        /// The bytes are not a key that OpenSSL can read.
        public static let invalidKey = Code("invalidKey")
        /// The bytes are not a PKCS#12 file, or the file has no private key.
        public static let invalidIdentity = Code("invalidIdentity")
        /// A private key is encrypted and no passphrase was given.
        public static let passphraseNeeded = Code("passphraseNeeded")
        /// The passphrase is wrong.
        public static let wrongPassphrase = Code("wrongPassphrase")
        /// A private key is encrypted with an algorithm that OpenSSL no longer enables by default, such as RC2, or
        /// takes more than 10,000,000 iterations to decrypt.
        public static let unsupportedEncryption = Code("unsupportedEncryption")
        /// The private key does not match any of the certificates.
        public static let keyMismatch = Code("keyMismatch")
        /// The client certificate has expired.
        public static let identityExpired = Code("identityExpired")
        /// The client certificate is not yet valid.
        public static let identityNotYetValid = Code("identityNotYetValid")
        /// The text is not a host pattern.
        public static let invalidPattern = Code("invalidPattern")
        /// A pinning policy has no pins.
        public static let noPins = Code("noPins")
        /// A set of anchors has no certificate.
        public static let noAnchors = Code("noAnchors")
        /// Two rules have the same pattern.
        public static let duplicateRule = Code("duplicateRule")
        /// A file could not be read.
        public static let cannotReadFile = Code("cannotReadFile")
        /// The loaded OpenSSL is older than 3.0.2.
        public static let openSSLTooOld = Code("openSSLTooOld")
        /// The policy contradicts itself, so that it would trust more or less than it states.
        public static let unenforceablePolicy = Code("unenforceablePolicy")
        /// OpenSSL failed unexpectedly.
        public static let openSSLFailed = Code("openSSLFailed")
    }

    /// The kind of failure.
    public var code: Code
    /// A sentence with the failure and its remedy.
    public var message: String
    /// The policy file with the mistake; nil if the error is not about one.
    public var file: String?
    /// The line of the mistake in a policy file, from 1.
    public var line: Int?
    /// The location of the mistake in a policy, such as `rules[0].pins[1]`; nil if the error concerns no policy.
    public var path: String?

    /// Creates an error.
    public init(_ code: Code, _ message: String, path: String? = nil) {
        self.code = code
        self.message = message
        self.path = path
    }

    /// The message, preceded by the location in a policy file.
    public var description: String { PolicyPlace(file: file, line: line, path: path).prefix + message }
}

extension SecurityError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}
