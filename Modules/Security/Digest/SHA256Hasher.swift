internal import COpenSSL

/// Makes the SHA-256 of bytes that come in pieces. For one task at a time.
package final class SHA256Hasher {
    private let context: OpaquePointer?

    /// Makes a hasher that has seen nothing.
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

    /// Takes the next bytes.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// Takes the next bytes.
    package func update(_ text: String) {
        var text = text
        text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
    }

    /// Another one that has seen the same.
    package func copy() -> SHA256Hasher {
        SHA256Hasher(self)
    }

    /// The digest of what came so far, in hexadecimal; more may follow. Empty when OpenSSL has no SHA-256 to give.
    package var hexadecimalDigest: String {
        let copy = copy()
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        guard EVP_DigestFinal_ex(copy.context, &digest, nil) == 1 else { return "" }
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
