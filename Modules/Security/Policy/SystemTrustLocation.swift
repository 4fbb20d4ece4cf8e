internal import COpenSSL

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// What the environment says about the system's anchors.
struct SystemTrustLocation: Hashable, Sendable {
    var file: String?
    var directory: String?

    /// Read anew each time. Two `getenv`, not Foundation's dictionary of the whole environment: this is on the way of
    /// every verdict.
    static var current: SystemTrustLocation {
        SystemTrustLocation(file: value("SSL_CERT_FILE"), directory: value("SSL_CERT_DIR"))
    }

    private static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Bundles of the usual distributions, for an OpenSSL whose own directory is empty.
    static let bundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    /// A variable that is set replaces all defaults.
    func resolve() throws(SecurityError) -> TrustStoreLocation {
        let directories = (directory ?? "").split(separator: ":").map(String.init)
        if let file, !file.isEmpty { return TrustStoreLocation(files: [file], directories: directories) }
        if let directory, !directory.isEmpty {
            return TrustStoreLocation(files: [], directories: directories.isEmpty ? [directory] : directories)
        }
        return try Self.defaults()
    }

    private static func defaults() throws(SecurityError) -> TrustStoreLocation {
        let own = X509_get_default_cert_file().map { String(cString: $0) }
        if let found = ([own].compactMap { $0 } + bundles).first(where: isReadable) {
            return TrustStoreLocation(files: [found], directories: [])
        }
        if let path = X509_get_default_cert_dir().map({ String(cString: $0) }), isReadable(path) {
            return TrustStoreLocation(files: [], directories: [path])
        }
        throw SecurityError(
            .noAnchors, "The system has no certificate store; install ca-certificates or set SSL_CERT_FILE.")
    }

    private static func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }
}
