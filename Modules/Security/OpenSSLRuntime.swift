internal import COpenSSL

/// The OpenSSL library that the process has loaded.
public enum OpenSSLRuntime {
    /// Its version, as it tells it.
    public static var version: String {
        OpenSSL_version(OPENSSL_VERSION).map { String(cString: $0) } ?? "unknown"
    }

    /// Refuses an OpenSSL in which a verdict cannot be awaited.
    ///
    /// The headers are checked when Linnet is built; a process can still load an older library than it was built with.
    /// Fails with ``SecurityError/Code/openSSLTooOld`` below 3.0.2.
    public static func requireSupportedVersion() throws(SecurityError) {
        try require(OpenSSL_version_num())
    }

    static func require(_ number: UInt) throws(SecurityError) {
        guard number >= LINNET_OPENSSL_MINIMUM else {
            throw SecurityError(.openSSLTooOld, "Linnet needs OpenSSL 3.0.2 or newer; this process has \(version).")
        }
    }
}
