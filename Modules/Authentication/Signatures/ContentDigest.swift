internal import COpenSSL
public import FoundationEssentials

/// The digest of a message's content (RFC 9530, section 2).
public struct ContentDigest: Hashable, Sendable, CustomStringConvertible {
    /// A hash algorithm for digests (RFC 9530, section 5).
    public struct Algorithm: Hashable, Sendable, CustomStringConvertible {
        /// The name in the registry.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// SHA-256.
        public static let sha256 = Algorithm("sha-256")
        /// SHA-512.
        public static let sha512 = Algorithm("sha-512")

        fileprivate var function: OpaquePointer? { self == .sha512 ? EVP_sha512() : EVP_sha256() }
    }

    /// The algorithm of the digest.
    public let algorithm: Algorithm
    /// The digest.
    public let bytes: Data

    package init(_ algorithm: Algorithm, _ bytes: some Sequence<UInt8>) {
        (self.algorithm, self.bytes) = (algorithm, Data(bytes))
    }

    /// The digest in lower-case hexadecimal.
    public var hexadecimal: String { LinnetAuthentication.hexadecimal(bytes) }

    /// The value of a Content-Digest field, such as `sha-256=:…:`.
    public var description: String { "\(algorithm)=:\(bytes.base64EncodedString()):" }
}

extension DigestHasher {
    /// Fails if OpenSSL does not provide the algorithm.
    package convenience init?(_ algorithm: ContentDigest.Algorithm) { self.init(function: algorithm.function) }
}
