internal import COpenSSL
internal import LinnetMessages

/// A hash algorithm of Digest (RFC 7616, section 3.3), from the weakest to the strongest.
package enum DigestAlgorithm: Int, Comparable, CaseIterable, Sendable {
    case md5
    case sha256
    case sha512t256

    /// The name in the registry, without `-sess`.
    package var name: String {
        switch self {
        case .md5: "MD5"
        case .sha256: "SHA-256"
        case .sha512t256: "SHA-512-256"
        }
    }

    package static func < (left: DigestAlgorithm, right: DigestAlgorithm) -> Bool { left.rawValue < right.rawValue }

    fileprivate var function: OpaquePointer? {
        switch self {
        case .md5: EVP_md5()
        case .sha256: EVP_sha256()
        case .sha512t256: EVP_sha512_256()
        }
    }

    /// The algorithms that OpenSSL provides. In FIPS mode MD5 is not among them.
    static let available = Set(allCases.filter { DigestHasher($0) != nil })

    /// The hash of the octets of a text in ISO 8859-1, in lower-case hexadecimal: `H` of RFC 7616, section 3.3.
    func hash(_ text: String) -> String {
        let hasher = DigestHasher(self)
        text.isoLatin1Octets.withUnsafeBytes { hasher?.update($0) }
        return hasher?.finish() ?? ""
    }
}

/// An incremental hasher. Not for concurrent use.
package final class DigestHasher {
    private let context: OpaquePointer
    private let size: Int

    /// Fails if OpenSSL does not provide the algorithm.
    package convenience init?(_ algorithm: DigestAlgorithm) { self.init(function: algorithm.function) }

    /// - Parameter function: A function of OpenSSL; nil if OpenSSL does not provide it.
    init?(function: OpaquePointer?) {
        guard let function, let context = EVP_MD_CTX_new() else { return nil }
        self.context = context
        size = Int(EVP_MD_get_size(function))
        guard EVP_DigestInit_ex(context, function, nil) == 1 else { return nil }
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Adds bytes.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// The hash. Nothing may be added afterwards.
    package func finishBytes() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: max(size, Int(EVP_MAX_MD_SIZE)))
        guard EVP_DigestFinal_ex(context, &digest, nil) == 1 else { return [] }
        return Array(digest.prefix(size))
    }

    /// The hash in lower-case hexadecimal. Nothing may be added afterwards.
    package func finish() -> String { hexadecimal(finishBytes()) }
}

/// Bytes in lower-case hexadecimal, the `LHEX` of RFC 7616.
package func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    var digits: [UInt8] = []
    for byte in bytes {
        digits.append(ASCII.lowercase(ASCII.hexadecimalDigit(byte >> 4)))
        digits.append(ASCII.lowercase(ASCII.hexadecimalDigit(byte & 15)))
    }
    return String(decoding: digits, as: UTF8.self)
}
