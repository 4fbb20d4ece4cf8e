internal import COpenSSL

/// An incremental SHA-256 hasher. Not for concurrent use.
package final class SHA256Hasher {
    private let context: OpaquePointer?

    package init() {
        context = EVP_MD_CTX_new()
        EVP_DigestInit_ex(context, EVP_sha256(), nil)
    }

    private init(_ other: SHA256Hasher) {
        context = EVP_MD_CTX_new()
        EVP_MD_CTX_copy_ex(context, other.context)
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Adds bytes.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    package func update(_ text: String) {
        var text = text
        text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
    }

    /// A hasher with the same state.
    package func copy() -> SHA256Hasher {
        SHA256Hasher(self)
    }

    /// The 32 bytes of the digest so far; more bytes may follow. Empty if OpenSSL has no SHA-256.
    package var digest: [UInt8] {
        let copy = copy()
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        return EVP_DigestFinal_ex(copy.context, &digest, nil) == 1 ? digest : []
    }

    /// The digest so far in hexadecimal; more bytes may follow. Empty if OpenSSL has no SHA-256.
    package var hexadecimalDigest: String {
        digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
