public import LinnetSecurity

/// A test PKI: certificate authorities and identities that are created at run time.
///
/// ```swift
/// let pki = try TestPKI()
/// let identity = try pki.identity()
/// let server = try await MockServer.start(tls: identity) { _ in .text("hello") }
/// let policy = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
/// ```
public struct TestPKI: Sendable {
    /// The properties of an identity.
    public struct Options: Sendable {
        /// The host names of the certificate. The default is `localhost`.
        public var hosts = ["localhost"]
        /// The IP addresses of the certificate. The default is `127.0.0.1` and `::1`.
        public var addresses = ["127.0.0.1", "::1"]
        /// The validity of the certificate. The default is ``Validity/current``.
        public var validity = Validity.current
        /// The common name of the subject. Nil, the default, uses the first host name, or else the first address.
        public var commonName: String?
        /// The kind of the key. The default is P-256.
        public var key = KeyKind.p256
        /// Whether the intermediate authority issues the certificate, rather than the root. The default is true.
        public var hasIntermediate = true
        /// Whether the certificate requires a stapled OCSP response (RFC 7633). The default is false.
        public var promisesStaple = false
        /// Whether the certificate is valid for client authentication only. The default is false.
        public var isForClients = false

        /// Creates the default options.
        public init() {}
    }

    /// A certificate chain with its private key.
    public struct Identity: Sendable {
        /// The chain in PEM: the leaf first, without the root.
        public let certificateChainPEM: String
        /// The private key in PEM.
        public let privateKeyPEM: String
        /// The chain: the leaf first, without the root.
        public let chain: [X509Certificate]

        let leaf: Minted

        /// The leaf certificate.
        public var certificate: X509Certificate { chain[0] }
        /// The pin of the leaf certificate's key.
        public var pin: PublicKeyPin { certificate.publicKeyPin }
    }

    /// The certificate of the root authority.
    public let root: X509Certificate
    /// The certificate of the root authority in PEM.
    public let rootPEM: String
    /// The certificate of the intermediate authority.
    public let intermediate: X509Certificate
    /// The certificate of the intermediate authority in PEM.
    public var intermediatePEM: String { intermediateIssuer.certificatePEM }
    let rootIssuer: Minted
    let intermediateIssuer: Minted

    /// Creates a root and an intermediate authority.
    ///
    /// - Parameter name: The beginning of the authorities' names.
    /// - Throws: ``TestingError`` with ``TestingError/Code/cannotMint``.
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

    /// Creates the identity of a server.
    ///
    /// - Parameter configure: Changes the default options.
    /// - Throws: ``TestingError`` with ``TestingError/Code/cannotMint``, also when an address is invalid.
    public func identity(_ configure: (inout Options) -> Void = { _ in }) throws(TestingError) -> Identity {
        var options = Options()
        configure(&options)
        let issuer = options.hasIntermediate ? intermediateIssuer : rootIssuer
        let leaf = try Mint.certificate(CertificateRequest(options), issuer: issuer)
        return Identity(leaf, issuers: options.hasIntermediate ? [intermediateIssuer] : [])
    }

    /// Creates the identity of a client.
    ///
    /// - Parameters:
    ///   - name: The common name. The default is `client`.
    ///   - configure: Changes the default options.
    /// - Throws: ``TestingError`` with ``TestingError/Code/cannotMint``.
    public func clientIdentity(
        named name: String = "client", _ configure: (inout Options) -> Void = { _ in }
    ) throws(TestingError) -> Identity {
        try identity { options in
            (options.hosts, options.addresses, options.commonName) = ([], [], name)
            options.isForClients = true
            configure(&options)
        }
    }

    /// Creates an invalid identity, issued by another identity instead of an authority.
    ///
    /// - Parameters:
    ///   - issuer: The identity that issues the certificate.
    ///   - configure: Changes the default options.
    /// - Throws: ``TestingError`` with ``TestingError/Code/cannotMint``.
    public func identity(
        issuedBy issuer: Identity, _ configure: (inout Options) -> Void = { _ in }
    ) throws(TestingError) -> Identity {
        var options = Options()
        configure(&options)
        let leaf = try Mint.certificate(CertificateRequest(options), issuer: issuer.leaf)
        return Identity(leaf, issuers: [issuer.leaf] + (issuer.chain.count > 1 ? [intermediateIssuer] : []))
    }

    /// Creates a self-signed identity.
    ///
    /// - Parameter configure: Changes the default options.
    /// - Throws: ``TestingError`` with ``TestingError/Code/cannotMint``.
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

extension TestPKI {
    /// The kind of a key. Kinds may be added.
    public struct KeyKind: Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// The name of the kind.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// Elliptic curve P-256.
        public static let p256 = KeyKind("P-256")
        /// Elliptic curve P-384.
        public static let p384 = KeyKind("P-384")
        /// Elliptic curve P-192, which a client must not accept.
        package static let p192 = KeyKind("P-192")
        /// RSA of 2048 bits.
        public static let rsa2048 = KeyKind("RSA 2048")
        /// RSA of 1024 bits, which a client must not accept.
        public static let rsa1024 = KeyKind("RSA 1024")
        /// Ed25519.
        public static let ed25519 = KeyKind("Ed25519")
        /// Ed448, which browsers do not accept.
        public static let ed448 = KeyKind("Ed448")
        /// RSA of 2048 bits restricted to RSASSA-PSS (RFC 4055), which browsers do not accept.
        public static let rsaPSS2048 = KeyKind("RSASSA-PSS 2048")

        /// The kinds that every client must accept.
        public static let allCases: [KeyKind] = [.p256, .p384, .rsa2048, .ed25519]
    }

    /// The validity period of a certificate.
    public struct Validity: Sendable, Hashable {
        /// The beginning, relative to the current time.
        public var notBefore: Duration
        /// The end, relative to the current time.
        public var notAfter: Duration

        /// Creates a period; both ends are relative to the current time.
        public init(from notBefore: Duration, to notAfter: Duration) {
            self.notBefore = notBefore
            self.notAfter = notAfter
        }

        /// The validity from yesterday to a month from now.
        public static let current = Validity(from: .seconds(-86_400), to: .seconds(30 * 86_400))
        /// A period that ended yesterday.
        public static let expired = Validity(from: .seconds(-30 * 86_400), to: .seconds(-86_400))
        /// A period that begins tomorrow.
        public static let notYetValid = Validity(from: .seconds(86_400), to: .seconds(30 * 86_400))
    }
}
