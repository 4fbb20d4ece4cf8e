internal import COpenSSL

/// An incremental SHA-256 hasher. Not for concurrent use.
///
/// If the loaded OpenSSL does not compute SHA-256, because of its configuration, the process ends: missing or wrong
/// digests could be equal to others. TLS does not work without SHA-256 either.
package final class SHA256Hasher {
    private let context: OpaquePointer?

    package init() {
        context = EVP_MD_CTX_new()
        Self.require(EVP_DigestInit_ex(context, EVP_sha256(), nil))
    }

    private init(_ other: SHA256Hasher) {
        context = EVP_MD_CTX_new()
        Self.require(EVP_MD_CTX_copy_ex(context, other.context))
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// The 32 bytes of the digest of bytes.
    package static func digest(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        let hasher = SHA256Hasher()
        hasher.update(bytes)
        return hasher.digest
    }

    /// Adds bytes.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        Self.require(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count))
    }

    package func update(_ text: String) {
        var text = text
        text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
    }

    /// A hasher with the same state.
    package func copy() -> SHA256Hasher {
        SHA256Hasher(self)
    }

    /// The 32 bytes of the digest so far; more bytes may follow.
    package var digest: [UInt8] {
        let copy = copy()
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        Self.require(EVP_DigestFinal_ex(copy.context, &digest, nil))
        return digest
    }

    /// The digest so far in hexadecimal; more bytes may follow.
    package var hexadecimalDigest: String {
        digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func require(_ result: Int32) {
        precondition(
            result == 1, "OpenSSL does not compute SHA-256; check the providers in its configuration, openssl.cnf.")
    }
}
