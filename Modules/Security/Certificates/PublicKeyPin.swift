internal import COpenSSL
public import FoundationEssentials

/// The SHA-256 of a SubjectPublicKeyInfo, by which a key is known whatever certificate carries it (RFC 7469, 2.4).
///
/// ```swift
/// let pin = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
/// ```
public struct PublicKeyPin: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The 32 bytes of the digest.
    public let digest: Data

    /// Reads `sha256/` and 32 bytes in Base64.
    ///
    /// Fails with ``SecurityError/Code/invalidPin``.
    public init(_ text: String) throws(SecurityError) {
        let prefix = "sha256/"
        // Written back, since Base64 has more than one text for these bytes, and a pin has to have one.
        guard text.hasPrefix(prefix), let digest = Data(base64Encoded: String(text.dropFirst(prefix.count))),
            digest.count == 32, prefix + digest.base64EncodedString() == text
        else {
            throw SecurityError(
                .invalidPin, "\"\(text.oneLine)\" is no pin: it must be \"sha256/\" and the Base64 of 32 bytes.")
        }
        self.digest = digest
    }

    /// The pin of a certificate's key.
    public init(certificate: Certificate) {
        self = certificate.publicKeyPin
    }

    /// The pin of a key, from a public key, a private key or a certificate, in PEM or DER.
    ///
    /// A PEM text with more than one is read for its first public key, else its first private key, else its first
    /// certificate. Fails with ``SecurityError/Code/invalidKey``; keys under a passphrase are refused.
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
        throw SecurityError(.invalidKey, "These \(key.count) bytes hold no key that OpenSSL reads.")
    }

    init(subjectPublicKeyInfo info: Data) {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        info.withUnsafeBytes { bytes in
            _ = SHA256(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, &digest)
        }
        self.digest = Data(digest)
    }

    /// The pin as `sha256/BASE64`.
    public var description: String { "sha256/" + digest.base64EncodedString() }

    /// Reads the text.
    public init(from decoder: any Decoder) throws {
        self = try PublicKeyPin(decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
