/// The certificates at which a chain may end.
///
/// Each set of anchors has one store in memory, which copies of the set, and all evaluators made with them, share.
public struct TrustAnchors: Sendable {
    enum Source: Sendable {
        /// Where the environment says, unless it is told.
        case system(SystemTrustLocation?)
        /// The system's and others.
        case extended(SystemTrustStores, SystemTrustLocation?)
        case own(TrustStore, [X509Handle])
    }

    let source: Source

    /// What the system trusts.
    ///
    /// `SSL_CERT_FILE` and `SSL_CERT_DIR` where one of them is set, instead of all defaults; else the bundle that OpenSSL
    /// was built to read; else the distribution's; else OpenSSL's directory. Loaded once for each value of the two
    /// variables, when a chain is first judged; a process that has to see new anchors has to be restarted. A variable that
    /// names nothing readable refuses every chain with ``TrustRefusal/Reason/anchorsUnavailable``.
    public static let system = TrustAnchors(source: .system(nil))

    /// These certificates alone. A chain may end at an intermediate one, or at a server's own, too.
    ///
    /// Fails with ``SecurityError/Code/noAnchors`` when there is none.
    public static func certificates(_ certificates: [Certificate]) throws(SecurityError) -> TrustAnchors {
        try own(certificates.map(\.handle))
    }

    /// The certificates of a file, in PEM or DER, alone.
    ///
    /// Fails with ``SecurityError/Code/cannotReadFile`` or ``SecurityError/Code/invalidCertificate``.
    public static func file(_ path: String) throws(SecurityError) -> TrustAnchors {
        try certificates(Certificate.all(contentsOfFile: path))
    }

    /// These anchors, and certificates in addition to them. A chain may end at an intermediate one, too.
    ///
    /// Fails with ``SecurityError/Code/noAnchors`` when there is none.
    public func adding(_ certificates: [Certificate]) throws(SecurityError) -> TrustAnchors {
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

    /// Whether an intermediate certificate may end a chain: only where it was named as an anchor.
    var allowsPartialChains: Bool {
        switch source {
        case .system: false
        case .extended, .own: true
        }
    }

    /// Whether the system's anchors are among them.
    var includesSystem: Bool {
        switch source {
        case .system, .extended: true
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
            throw SecurityError(.noAnchors, "A set of anchors needs one certificate at least.")
        }
        return TrustAnchors(source: .own(try TrustStore(.nowhere, anchors), anchors))
    }
}
