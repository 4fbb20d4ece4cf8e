internal import COpenSSL
internal import FoundationEssentials
internal import Synchronization

/// The certificates at which a chain may end.
public struct TrustAnchors: Sendable {
    enum Source: Sendable {
        /// Where the environment says, unless it is told.
        case system(SystemTrustLocation?)
        case own(TrustStore)
    }

    let source: Source

    /// What the system trusts: `SSL_CERT_FILE` and `SSL_CERT_DIR` where they are set, else OpenSSL's directory, else the
    /// distribution's bundle.
    ///
    /// Loaded once for each value of the two variables, when a chain is first judged.
    public static let system = TrustAnchors(source: .system(nil))

    /// These certificates alone. A chain may end at an intermediate one, too.
    ///
    /// Fails with ``SecurityError/Code/noAnchors`` when there is none.
    public static func certificates(_ certificates: [Certificate]) throws(SecurityError) -> TrustAnchors {
        guard !certificates.isEmpty else {
            throw SecurityError(.noAnchors, "A set of anchors needs one certificate at least.")
        }
        return TrustAnchors(source: .own(try TrustStore(certificates.map(\.handle))))
    }

    /// The certificates of a file, in PEM or DER, alone.
    ///
    /// Fails with ``SecurityError/Code/cannotReadFile`` or ``SecurityError/Code/invalidCertificate``.
    public static func file(_ path: String) throws(SecurityError) -> TrustAnchors {
        try certificates(Certificate.all(contentsOfFile: path))
    }

    /// Whether an intermediate certificate may end a chain: only where it was named as an anchor.
    var allowsPartialChains: Bool {
        if case .own = source { true } else { false }
    }

    func store() throws(SecurityError) -> TrustStore {
        switch source {
        case .system(let location): try SystemTrustStores.shared.store(for: location ?? .current)
        case .own(let store): store
        }
    }
}

/// Where the system's anchors are, by the environment.
struct SystemTrustLocation: Hashable, Sendable {
    var file: String?
    var directory: String?

    static var current: SystemTrustLocation {
        let environment = ProcessInfo.processInfo.environment
        return SystemTrustLocation(file: environment["SSL_CERT_FILE"], directory: environment["SSL_CERT_DIR"])
    }

    /// Bundles of the usual distributions, for an OpenSSL whose own directory is empty.
    static let bundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    /// A variable that is set replaces its default, and one that names nothing readable is an error.
    func resolve() throws(SecurityError) -> (files: [String], directories: [String]) {
        let directories = (directory ?? "").split(separator: ":").map(String.init).filter { !$0.isEmpty }
        if let file, !file.isEmpty { return ([file], directories) }
        if !directories.isEmpty { return ([], directories) }
        let defaultFile = X509_get_default_cert_file().map { String(cString: $0) }
        let candidates = ([defaultFile].compactMap { $0 }) + Self.bundles
        if let found = candidates.first(where: { FileManager.default.isReadableFile(atPath: $0) }) {
            return ([found], [])
        }
        if let path = X509_get_default_cert_dir().map({ String(cString: $0) }),
            FileManager.default.isReadableFile(atPath: path)
        {
            return ([], [path])
        }
        throw SecurityError(
            .noAnchors, "The system has no certificate store; install ca-certificates or set SSL_CERT_FILE.")
    }
}

/// The system's stores, each loaded once.
final class SystemTrustStores: Sendable {
    static let shared = SystemTrustStores()

    private let stores = Mutex<[SystemTrustLocation: TrustStore]>([:])

    func store(for location: SystemTrustLocation) throws(SecurityError) -> TrustStore {
        if let store = stores.withLock({ $0[location] }) { return store }
        // Loaded outside of the lock, as it reads files; of two that race the first stays.
        let (files, directories) = try location.resolve()
        let loaded = try TrustStore(files: files, directories: directories)
        return stores.withLock { stores in
            if let store = stores[location] { return store }
            stores[location] = loaded
            return loaded
        }
    }
}
