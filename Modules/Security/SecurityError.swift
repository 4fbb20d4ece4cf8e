/// Why a pin, a certificate, an identity or a policy could not be made.
public struct SecurityError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it was.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The text is no pin: not `sha256/` and 32 bytes in Base64.
        public static let invalidPin = Code("invalidPin")
        /// The bytes are no X.509 certificate.
        public static let invalidCertificate = Code("invalidCertificate")
        /// The bytes are no revocation list, or one that cannot be relied on.
        public static let invalidRevocationList = Code("invalidRevocationList")
        /// The bytes are no key that OpenSSL reads.
        public static let invalidKey = Code("invalidKey")
        /// The bytes are no PKCS#12 file, or one without a private key.
        public static let invalidIdentity = Code("invalidIdentity")
        /// A private key is encrypted, and no passphrase was given.
        public static let passphraseNeeded = Code("passphraseNeeded")
        /// The passphrase is another one's.
        public static let wrongPassphrase = Code("wrongPassphrase")
        /// A private key is encrypted in a way that OpenSSL no longer has by default, such as RC2.
        public static let unsupportedEncryption = Code("unsupportedEncryption")
        /// A private key is that of none of the certificates.
        public static let keyMismatch = Code("keyMismatch")
        /// A client's own certificate has expired.
        public static let identityExpired = Code("identityExpired")
        /// A client's own certificate is not valid yet.
        public static let identityNotYetValid = Code("identityNotYetValid")
        /// The text is no host pattern.
        public static let invalidPattern = Code("invalidPattern")
        /// A pinning policy was given nothing to pin.
        public static let noPins = Code("noPins")
        /// A set of anchors was given no certificate.
        public static let noAnchors = Code("noAnchors")
        /// Two rules have the same pattern.
        public static let duplicateRule = Code("duplicateRule")
        /// A file could not be read.
        public static let cannotReadFile = Code("cannotReadFile")
        /// The process has loaded an OpenSSL below 3.0.2.
        public static let openSSLTooOld = Code("openSSLTooOld")
        /// A policy asks for what contradicts itself, and would trust less or more than it says.
        public static let unenforceablePolicy = Code("unenforceablePolicy")
        /// A policy file is no JSON, or not of the form that its version has.
        public static let invalidPolicyFile = Code("invalidPolicyFile")
        /// A policy file's version is unknown.
        public static let unknownPolicyVersion = Code("unknownPolicyVersion")
        /// A policy file has a key that its version does not know, or one twice.
        public static let unknownPolicyKey = Code("unknownPolicyKey")
        /// A policy file lacks a key.
        public static let missingPolicyKey = Code("missingPolicyKey")
        /// A policy file names a rule for chains that there is not.
        public static let unknownChainRule = Code("unknownChainRule")
        /// Policy files include each other in a circle, or too many.
        public static let includeLoop = Code("includeLoop")
        /// OpenSSL failed where it should not.
        public static let openSSLFailed = Code("openSSLFailed")
    }

    /// What kind of failure it was.
    public var code: Code
    /// One line that a person can act on.
    public var message: String
    /// Where in a policy file the mistake is, written `rules[0].pins[1]`; nil where no such file is read.
    public var path: String?

    /// Makes an error.
    public init(_ code: Code, _ message: String, path: String? = nil) {
        self.code = code
        self.message = message
        self.path = path
    }

    /// The code, the place in a policy file, and the message.
    public var description: String {
        "\(code): " + (path.map { $0.isEmpty ? "" : $0 + ": " } ?? "") + message
    }
}
