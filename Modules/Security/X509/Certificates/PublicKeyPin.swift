public import FoundationEssentials
internal import LinnetMessages

/// The SHA-256 digest of a SubjectPublicKeyInfo, which identifies a key independently of its certificate (RFC 7469,
/// 2.4).
///
/// ```swift
/// let pin = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
/// ```
public struct PublicKeyPin: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The digest; 32 bytes.
    public let digest: Data

    /// Parses `sha256/` followed by the Base64 of 32 bytes.
    ///
    /// - Throws: ``SecurityError/Code/invalidPin``.
    public init(_ text: String) throws(SecurityError) {
        let prefix = "sha256/"
        // Encoded again for comparison: Base64 has more than one text for these bytes, and only the canonical one is a
        // pin.
        guard text.hasPrefix(prefix), let digest = Data(base64Encoded: String(text.dropFirst(prefix.count))),
            digest.count == 32, prefix + digest.base64EncodedString() == text
        else {
            throw SecurityError(
                .invalidPin,
                "\"\(text.oneLine)\" is not a pin: it must be \"sha256/\" followed by the Base64 of 32 bytes.")
        }
        self.digest = digest
    }

    /// Creates the pin of a certificate's key.
    public init(certificate: X509Certificate) {
        self = certificate.publicKeyPin
    }

    /// Creates a pin from a public key, a private key or a certificate, in PEM or DER.
    ///
    /// A PEM text with several objects is read for its first public key, else its first private key, else its first
    /// certificate.
    ///
    /// - Throws: ``SecurityError/Code/invalidKey``, also for encrypted keys.
    public init(key: Data) throws(SecurityError) {
        if PEM.isPEM(key) {
            if let info = PEM.publicKeyInfo(key) {
                self.init(subjectPublicKeyInfo: info)
                return
            }
            if let first = PEM.certificates(key)?.first {
                self = first.pin
                return
            }
        } else if let info = PEM.publicKeyInfo(der: key) {
            self.init(subjectPublicKeyInfo: info)
            return
        } else if let certificate = X509Handle(der: key) {
            self = certificate.pin
            return
        }
        throw SecurityError(.invalidKey, "These \(key.count) bytes contain no key that OpenSSL can read.")
    }

    package init(subjectPublicKeyInfo info: Data) {
        digest = Data(info.withUnsafeBytes { SHA256Hasher.digest(of: $0) })
    }

    /// The pin in the form `sha256/BASE64`.
    public var description: String { "sha256/" + digest.base64EncodedString() }

    /// Decodes the text form.
    public init(from decoder: any Decoder) throws {
        self = try PublicKeyPin(decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
