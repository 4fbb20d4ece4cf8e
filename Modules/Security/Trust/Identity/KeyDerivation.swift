internal import COpenSSL

/// The work of deriving keys from a passphrase: a file says how much it is.
enum KeyDerivation {
    /// The maximum number of iterations for one file, which take about ten seconds. Files in use have up to two
    /// million.
    static let mostIterations: UInt64 = 10_000_000

    /// The iterations of an encrypted private key (`X509_SIG`).
    static func iterations(ofKey key: OpaquePointer) -> UInt64 {
        linnet_X509_SIG_iterations(key)
    }

    /// The iterations of a PKCS#12 file: of its MAC, its encrypted contents and its encrypted keys. Keys in encrypted
    /// contents are missing, because their iteration counts are encrypted too.
    static func iterations(ofFile file: OpaquePointer) -> UInt64 {
        linnet_PKCS12_iterations(file)
    }

    /// The error for more than the maximum.
    static func tooLong(_ what: String) -> SecurityError {
        SecurityError(
            .unsupportedEncryption,
            "\(what) takes more than \(mostIterations) iterations to decrypt; encrypt it again with fewer.")
    }
}
