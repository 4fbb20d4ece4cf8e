internal import COpenSSL

/// A key in OpenSSL's memory, which OpenSSL wipes when the last reference is released.
final class SignatureKeyHandle: Sendable {
    // SAFETY: not modified after it was read; OpenSSL counts references with atomics.
    nonisolated(unsafe) private let pointer: OpaquePointer

    /// Takes ownership of a reference.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit {
        EVP_PKEY_free(pointer)
    }

    /// The algorithm of an asymmetric key; nil if it has none here.
    var algorithm: SignatureKey.Algorithm? {
        ERR_clear_error()
        defer { ERR_clear_error() }
        if EVP_PKEY_is_a(pointer, "ED25519") == 1 { return .ed25519 }
        if EVP_PKEY_is_a(pointer, "EC") == 1 { return isP256 ? .ecdsaP256SHA256 : nil }
        let isRSA = EVP_PKEY_is_a(pointer, "RSA") == 1 || EVP_PKEY_is_a(pointer, "RSA-PSS") == 1
        return isRSA && EVP_PKEY_get_bits(pointer) >= 2048 ? .rsaPSSSHA512 : nil
    }

    /// Whether the number of an EC key is not zero, and below the order of the curve. OpenSSL reads others, too.
    var isInRange: Bool {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard EVP_PKEY_is_a(pointer, "EC") == 1 else { return true }
        guard let context = EVP_PKEY_CTX_new(pointer, nil) else { return false }
        defer { EVP_PKEY_CTX_free(context) }
        return EVP_PKEY_private_check(context) == 1
    }

    private var isP256: Bool {
        var name = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1 else { return false }
        return name.prefix { $0 != 0 }.elementsEqual("prime256v1".utf8.map { CChar($0) })
    }

    /// Returns the signature of bytes; nil if OpenSSL fails.
    func sign(_ bytes: [UInt8], _ algorithm: SignatureKey.Algorithm) -> [UInt8]? {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        var (parameters, count): (OpaquePointer?, Int) = (nil, 0)
        guard EVP_DigestSignInit(context, &parameters, algorithm.function, nil, pointer) == 1,
            algorithm.configure(parameters), EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1
        else { return nil }
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1, count <= signature.count else {
            return nil
        }
        signature.removeLast(signature.count - count)
        return algorithm == .ecdsaP256SHA256 ? P256Signature.fixed(ofDER: signature) : signature
    }

    /// Whether a signature of bytes is right.
    func verify(_ signature: [UInt8], of bytes: [UInt8], _ algorithm: SignatureKey.Algorithm) -> Bool {
        if algorithm == .hmacSHA256 {
            guard let own = sign(bytes, algorithm), own.count == signature.count else { return false }
            return CRYPTO_memcmp(own, signature, own.count) == 0
        }
        ERR_clear_error()
        defer { ERR_clear_error() }
        let encoded = algorithm == .ecdsaP256SHA256 ? P256Signature.der(ofFixed: signature) : signature
        guard let encoded, let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        var parameters: OpaquePointer?
        guard EVP_DigestVerifyInit(context, &parameters, algorithm.function, nil, pointer) == 1,
            algorithm.configure(parameters)
        else { return false }
        return EVP_DigestVerify(context, encoded, encoded.count, bytes, bytes.count) == 1
    }
}

extension SignatureKey.Algorithm {
    /// Ed25519 hashes by itself.
    fileprivate var function: OpaquePointer? {
        switch self {
        case .ecdsaP256SHA256, .hmacSHA256: EVP_sha256()
        case .rsaPSSSHA512: EVP_sha512()
        default: nil
        }
    }

    /// Sets the padding of RSA (RFC 9421, section 3.3.1): the salt has 64 bytes.
    fileprivate func configure(_ context: OpaquePointer?) -> Bool {
        guard self == .rsaPSSSHA512 else { return true }
        return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, 64) == 1
    }
}

/// The two forms of an ECDSA signature: DER, as OpenSSL has it, and the numbers r and s of 32 bytes (RFC 9421, section
/// 3.3.4).
private enum P256Signature {
    static func fixed(ofDER bytes: [UInt8]) -> [UInt8]? {
        bytes.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            guard let signature = d2i_ECDSA_SIG(nil, &position, buffer.count) else { return nil }
            defer { ECDSA_SIG_free(signature) }
            var fixed = [UInt8](repeating: 0, count: 64)
            let isWritten = fixed.withUnsafeMutableBufferPointer { fixed in
                BN_bn2binpad(ECDSA_SIG_get0_r(signature), fixed.baseAddress, 32) == 32
                    && BN_bn2binpad(ECDSA_SIG_get0_s(signature), fixed.baseAddress.map { $0 + 32 }, 32) == 32
            }
            return isWritten ? fixed : nil
        }
    }

    static func der(ofFixed bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count == 64, let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let (r, s) = (BN_bin2bn(Array(bytes[..<32]), 32, nil), BN_bin2bn(Array(bytes[32...]), 32, nil))
        // The signature owns the numbers only if it has taken both.
        guard ECDSA_SIG_set0(signature, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        let count = i2d_ECDSA_SIG(signature, nil)
        guard count > 0 else { return nil }
        var encoded = [UInt8](repeating: 0, count: Int(count))
        return encoded.withUnsafeMutableBufferPointer { buffer in
            var position = buffer.baseAddress
            return i2d_ECDSA_SIG(signature, &position) == count ? Array(buffer) : nil
        }
    }
}
