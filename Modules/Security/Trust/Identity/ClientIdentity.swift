public import FoundationEssentials
internal import LinnetMessages
internal import Synchronization

/// A client certificate chain with the private key of its leaf, presented to servers that request a client certificate.
///
/// ```swift
/// let identity = try ClientIdentity.pkcs12(file: "/etc/example/client.p12", passphrase: passphrase)
/// configuration.clientIdentities = try ClientIdentityPolicy(rules: [.init("**.example.com", identity)])
/// ```
/// Copies share one key. It is stored in OpenSSL's memory only, is wiped when the last copy is released, and is never
/// printed: descriptions and mirrors show the certificates. A file is read into memory that is wiped, too. `Data` and
/// passphrases that are passed in belong to the caller and are not wiped.
public struct ClientIdentity: Sendable {
    /// Distinguishes identities; copies have the same ID. Connections and TLS sessions of one identity are never used
    /// for another.
    public struct ID: Hashable, Sendable {
        let number: UInt64

        private static let last = Atomic<UInt64>(0)

        package static func next() -> ID { ID(number: last.add(1, ordering: .relaxed).newValue) }
    }

    /// Distinguishes this identity from others, including one read from the same file.
    public let id: ID
    /// The certificates that are sent, leaf first, each followed by its issuer.
    public let chain: [X509Certificate]
    private let handle: ClientIdentityHandle

    /// The certificate of the private key.
    public var certificate: X509Certificate { chain[0] }

    init(_ handle: ClientIdentityHandle) {
        id = .next()
        chain = handle.certificates
        self.handle = handle
    }

    /// Calls a function with OpenSSL's certificate, key and stack of issuers, which are valid during the call.
    package func withHandles<Result>(
        _ body: (_ leaf: OpaquePointer, _ key: OpaquePointer, _ issuers: OpaquePointer) -> Result
    ) -> Result {
        withExtendedLifetime(handle) { body(handle.leaf, handle.key.pointer, handle.issuers) }
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The certificate's subject and serial number.
    public var description: String {
        "client identity \"\(certificate.subject.oneLine)\", serial \(certificate.serialNumber)"
    }

    /// ``description``.
    public var debugDescription: String { description }

    /// The summaries of the certificates, without the key.
    public var customMirror: Mirror {
        Mirror(self, children: ["chain": chain.map(\.summary)], displayStyle: .struct)
    }
}

extension ClientIdentity {
    /// Creates an identity from certificates and a private key, each in PEM or DER. Both may be in the same PEM text.
    ///
    /// The certificates may be in any order. Certificates outside the chain of the key's certificate, and roots, are
    /// omitted. The key has at most one mebibyte, and takes at most 10,000,000 iterations to decrypt.
    ///
    /// - Parameters:
    ///   - certificates: The key's certificate and its issuers.
    ///   - privateKey: The key as PKCS#8, PKCS#1 or SEC 1.
    ///   - passphrase: Decrypts the key, if it is encrypted. The default is none.
    ///   - time: The time at which the certificate has to be valid. The default is now.
    ///
    /// - Throws: ``SecurityError/Code/invalidCertificate``, ``SecurityError/Code/invalidKey``,
    ///   ``SecurityError/Code/passphraseNeeded``, ``SecurityError/Code/wrongPassphrase``,
    ///   ``SecurityError/Code/unsupportedEncryption``, ``SecurityError/Code/keyMismatch``,
    ///   ``SecurityError/Code/identityExpired`` or ``SecurityError/Code/identityNotYetValid``.
    public init(
        certificates: Data, privateKey: Data, passphrase: String? = nil, at time: Date = Date()
    ) throws(SecurityError) {
        try self.init(
            certificates: certificates, secret: SecretBytes.copying(privateKey, orThrow: .invalidKey),
            passphrase: passphrase, time: time)
    }

    /// Creates an identity from PKCS#12 bytes (RFC 7292).
    ///
    /// Older programs encrypt with RC2, which OpenSSL 3 no longer enables by default; the error then says how to
    /// convert the file. It has at most one mebibyte, and takes at most 10,000,000 iterations to verify and decrypt.
    ///
    /// - Throws: ``SecurityError/Code/invalidIdentity``, ``SecurityError/Code/passphraseNeeded``,
    ///   ``SecurityError/Code/wrongPassphrase``, ``SecurityError/Code/unsupportedEncryption``,
    ///   ``SecurityError/Code/keyMismatch``, ``SecurityError/Code/identityExpired`` or
    ///   ``SecurityError/Code/identityNotYetValid``.
    public init(pkcs12: Data, passphrase: String? = nil, at time: Date = Date()) throws(SecurityError) {
        try self.init(pkcs12: SecretBytes.copying(pkcs12, orThrow: .invalidIdentity), passphrase, time)
    }

    /// Reads an identity from files, in PEM or DER. Without a key file, certificates and key are in the same file.
    ///
    /// - Throws: ``SecurityError/Code/cannotReadFile``, and as ``init(certificates:privateKey:passphrase:at:)`` does.
    public static func files(
        certificates: String, privateKey: String? = nil, passphrase: String? = nil, at time: Date = Date()
    ) throws(SecurityError) -> ClientIdentity {
        guard let privateKey else { return try ClientIdentity(both: SecretBytes.file(certificates), passphrase, time) }
        return try ClientIdentity(
            certificates: FileBytes.read(certificates), secret: SecretBytes.file(privateKey), passphrase: passphrase,
            time: time)
    }

    /// Reads an identity from a PKCS#12 file.
    ///
    /// - Throws: ``SecurityError/Code/cannotReadFile``, and as ``init(pkcs12:passphrase:at:)`` does.
    public static func pkcs12(
        file: String, passphrase: String? = nil, at time: Date = Date()
    ) throws(SecurityError) -> ClientIdentity {
        try ClientIdentity(pkcs12: SecretBytes.file(file), passphrase, time)
    }

    private init(
        certificates: Data, secret: SecretBytes, passphrase: String?, time: Date
    ) throws(SecurityError) {
        let certificates = try X509Certificate.all(data: certificates)
        let key = try PrivateKeyReader.read(secret, passphrase: passphrase)
        self.init(try ClientIdentityHandle(key: key, certificates: certificates, at: time))
    }

    /// A file with both is read into wiped memory, since it contains the key.
    private init(both secret: SecretBytes, _ passphrase: String?, _ time: Date) throws(SecurityError) {
        guard let base = secret.bytes.baseAddress, secret.isPEM else {
            throw SecurityError(
                .invalidIdentity,
                "The file is not PEM, the only format with certificates and a key in one file; give the key's file "
                    + "too, or read it as PKCS#12."
            )
        }
        try self.init(
            certificates: Data(bytesNoCopy: base, count: secret.bytes.count, deallocator: .none), secret: secret,
            passphrase: passphrase, time: time)
    }

    private init(pkcs12 secret: SecretBytes, _ passphrase: String?, _ time: Date) throws(SecurityError) {
        let contents = try PKCS12Reader.read(secret, passphrase: passphrase)
        self.init(try ClientIdentityHandle(key: contents.key, certificates: contents.certificates, at: time))
    }
}
