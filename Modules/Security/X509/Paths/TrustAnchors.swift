internal import COpenSSL
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The certificates that a chain may end at.
///
/// Copies of a set of anchors, and all evaluators made with it, share one store in memory.
public struct TrustAnchors: Sendable {
    enum Source: Sendable {
        /// The system's anchors at a given location, or at the location from the environment.
        case system(SystemTrustLocation?)
        /// The system's anchors and additional ones.
        case extended(SystemTrustStores, SystemTrustLocation?)
        case own(TrustStore, [X509Handle])
    }

    let source: Source

    /// The anchors of the system.
    ///
    /// Read from `SSL_CERT_FILE` and `SSL_CERT_DIR` if one of them is set, else from OpenSSL's default bundle, the
    /// distribution's bundle, or OpenSSL's default directory. Loaded once for each value of the two variables, when a
    /// chain is first evaluated; restart the process to load new anchors. If a variable names no readable location,
    /// every chain is refused with ``TrustRefusal/Reason/anchorsUnavailable``.
    public static let system = TrustAnchors(source: .system(nil))

    /// Only these certificates. A chain may also end at an intermediate or server certificate.
    ///
    /// - Throws: ``SecurityError/Code/noAnchors`` when there is none.
    public static func certificates(_ certificates: [X509Certificate]) throws(SecurityError) -> TrustAnchors {
        try own(certificates.map(\.handle))
    }

    /// Only the certificates of a file, in PEM or DER.
    ///
    /// - Throws: ``SecurityError/Code/cannotReadFile`` or ``SecurityError/Code/invalidCertificate``.
    public static func file(_ path: String) throws(SecurityError) -> TrustAnchors {
        try certificates(X509Certificate.all(contentsOfFile: path))
    }

    /// Returns these anchors and additional certificates. A chain may also end at an intermediate certificate.
    ///
    /// - Throws: ``SecurityError/Code/noAnchors`` when there is none.
    public func adding(_ certificates: [X509Certificate]) throws(SecurityError) -> TrustAnchors {
        let more = certificates.map(\.handle)
        guard !more.isEmpty else { throw SecurityError(.noAnchors, "There is no certificate to add.") }
        switch source {
        case .system(let location):
            return TrustAnchors(source: .extended(SystemTrustStores(adding: more), location))
        case .extended(let stores, let location):
            return TrustAnchors(source: .extended(stores.adding(more), location))
        case .own(_, let anchors):
            return try Self.own(anchors + more)
        }
    }

    /// Whether a chain may end at an intermediate certificate, which has to be named as an anchor.
    var allowsPartialChains: Bool {
        switch source {
        case .system: false
        case .extended, .own: true
        }
    }

    /// The named certificates, in order. The system's anchors are not among them.
    public var certificates: [X509Certificate] {
        switch source {
        case .system: []
        case .extended(let stores, _): stores.added.map { X509Certificate($0) }
        case .own(_, let anchors): anchors.map { X509Certificate($0) }
        }
    }

    /// Whether the anchors include the system's.
    public var includesSystem: Bool {
        switch source {
        case .system, .extended: true
        case .own: false
        }
    }

    /// Whether the system's anchors come from another location than the environment's.
    package var isAtLocation: Bool {
        switch source {
        case .system(let location), .extended(_, let location): location != nil
        case .own: false
        }
    }

    func store() throws(SecurityError) -> TrustStore {
        switch source {
        case .system(let location): try SystemTrustStores.shared.store(for: location ?? .current)
        case .extended(let stores, let location): try stores.store(for: location ?? .current)
        case .own(let store, _): store
        }
    }

    private static func own(_ anchors: [X509Handle]) throws(SecurityError) -> TrustAnchors {
        guard !anchors.isEmpty else {
            throw SecurityError(.noAnchors, "A set of anchors needs at least one certificate.")
        }
        return TrustAnchors(source: .own(try TrustStore(.nowhere, anchors), anchors))
    }
}

/// Stores of the system's anchors, one for each location, loaded once.
final class SystemTrustStores: Sendable {
    /// The system's anchors alone.
    static let shared = SystemTrustStores()

    let added: [X509Handle]
    private let stores = Mutex<[SystemTrustLocation: TrustStore]>([:])

    init(adding added: [X509Handle] = []) {
        self.added = added
    }

    func store(for location: SystemTrustLocation) throws(SecurityError) -> TrustStore {
        if let store = stores.withLock({ $0[location] }) { return store }
        // Loaded outside of the lock, since it reads files. If two threads race, the first store is kept.
        let loaded = try TrustStore(location.resolve(), added)
        return stores.withLock { stores in
            if let store = stores[location] { return store }
            stores[location] = loaded
            return loaded
        }
    }

    func adding(_ more: [X509Handle]) -> SystemTrustStores { SystemTrustStores(adding: added + more) }
}

/// The location of the system's anchors as set in the environment.
struct SystemTrustLocation: Hashable, Sendable {
    var file: String?
    var directory: String?

    /// The current environment. Uses `getenv` instead of Foundation's dictionary of the whole environment, since every
    /// evaluation reads it.
    static var current: SystemTrustLocation {
        SystemTrustLocation(file: value("SSL_CERT_FILE"), directory: value("SSL_CERT_DIR"))
    }

    private static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Bundles of common distributions, used if OpenSSL's own directory is empty.
    static let bundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    /// The location to load; a variable that is set replaces all defaults.
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
