public import LinnetSecurity

/// Certificate authorities and servers' identities, made at run time and valid around now.
///
/// ```swift
/// let pki = try TestPKI()
/// let identity = try pki.identity()
/// let server = try await MockServer.start(tls: identity) { _ in .text("hello") }
/// let policy = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
/// ```
public struct TestPKI: Sendable {
    /// What an identity is made of.
    public struct Options: Sendable {
        /// The host names it is for. The default is `localhost`.
        public var hosts = ["localhost"]
        /// The IP addresses it is for. The default is `127.0.0.1` and `::1`.
        public var addresses = ["127.0.0.1", "::1"]
        /// When it is valid. The default is now.
        public var validity = Validity.current
        /// The common name of its subject; nil, the default, is for the first of the hosts, or else of the addresses.
        public var commonName: String?
        /// Its key. The default is P-256.
        public var key = KeyKind.p256
        /// Whether its chain goes over the intermediate authority. The default is true.
        public var hasIntermediate = true
        /// Whether it promises a stapled OCSP response (RFC 7633). The default is false.
        public var promisesStaple = false
        /// Whether it may be used by clients only, which a server must not be accepted with. The default is false.
        public var isForClients = false

        /// The defaults.
        public init() {}
    }

    /// A server's chain and key.
    public struct Identity: Sendable {
        /// The chain, leaf first, without the root, as PEM.
        public let certificateChainPEM: String
        /// The key, as PEM.
        public let privateKeyPEM: String
        /// The chain, leaf first, without the root.
        public let chain: [Certificate]

        let leaf: Minted

        /// The leaf.
        public var certificate: Certificate { chain[0] }
        /// The pin of the leaf's key.
        public var pin: PublicKeyPin { certificate.publicKeyPin }
    }

    /// The root authority.
    public let root: Certificate
    /// The root authority, as PEM.
    public let rootPEM: String
    /// The intermediate authority.
    public let intermediate: Certificate
    /// The intermediate authority, as PEM.
    public var intermediatePEM: String { intermediateIssuer.certificatePEM }
    let rootIssuer: Minted
    let intermediateIssuer: Minted

    /// Makes a root and an intermediate authority.
    ///
    /// Fails with ``TestingError/Code/cannotMint``.
    public init(named name: String = "Linnet Test") throws(TestingError) {
        rootIssuer = try Mint.certificate(
            CertificateRequest(commonName: name + " Root", kind: .authority(pathLength: 1)), issuer: nil)
        intermediateIssuer = try Mint.certificate(
            CertificateRequest(commonName: name + " Intermediate", kind: .authority(pathLength: 0)),
            issuer: rootIssuer)
        root = rootIssuer.certificate
        rootPEM = rootIssuer.certificatePEM
        intermediate = intermediateIssuer.certificate
    }

    /// Makes a server's identity.
    ///
    /// Fails with ``TestingError/Code/cannotMint``, also for an address that is none.
    public func identity(_ configure: (inout Options) -> Void = { _ in }) throws(TestingError) -> Identity {
        var options = Options()
        configure(&options)
        let issuer = options.hasIntermediate ? intermediateIssuer : rootIssuer
        let leaf = try Mint.certificate(CertificateRequest(options), issuer: issuer)
        return Identity(leaf, issuers: options.hasIntermediate ? [intermediateIssuer] : [])
    }

    /// Makes a client's identity.
    ///
    /// Fails with ``TestingError/Code/cannotMint``.
    public func clientIdentity(
        named name: String = "client", _ configure: (inout Options) -> Void = { _ in }
    ) throws(TestingError) -> Identity {
        try identity { options in
            (options.hosts, options.addresses, options.commonName) = ([], [], name)
            options.isForClients = true
            configure(&options)
        }
    }

    /// Makes an identity whose issuer is no authority but another identity, which a client must not accept.
    ///
    /// Fails with ``TestingError/Code/cannotMint``.
    public func identity(
        issuedBy issuer: Identity, _ configure: (inout Options) -> Void = { _ in }
    ) throws(TestingError) -> Identity {
        var options = Options()
        configure(&options)
        let leaf = try Mint.certificate(CertificateRequest(options), issuer: issuer.leaf)
        return Identity(leaf, issuers: [issuer.leaf] + (issuer.chain.count > 1 ? [intermediateIssuer] : []))
    }

    /// Makes an identity that is signed by itself.
    ///
    /// Fails with ``TestingError/Code/cannotMint``.
    public static func selfSigned(_ configure: (inout Options) -> Void = { _ in }) throws(TestingError) -> Identity {
        var options = Options()
        configure(&options)
        return Identity(try Mint.certificate(CertificateRequest(options), issuer: nil), issuers: [])
    }
}

extension TestPKI.Identity {
    init(_ leaf: Minted, issuers: [Minted]) {
        self.leaf = leaf
        let all = [leaf] + issuers
        certificateChainPEM = all.map(\.certificatePEM).joined()
        privateKeyPEM = leaf.privateKeyPEM
        chain = all.map(\.certificate)
    }
}
