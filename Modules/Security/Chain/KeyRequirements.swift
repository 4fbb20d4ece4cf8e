/// Which keys and signatures a chain may have.
///
/// ```swift
/// var profile = ChainProfile.strict
/// profile.keys.minimumRSABits = 3072
/// profile.keys.kinds = [.p256, .p384]
/// ```
public struct KeyRequirements: Sendable, Hashable {
    /// A kind of key. New ones may be added.
    public struct KeyKind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// RSA.
        public static let rsa = KeyKind("RSA")
        /// RSA for RSASSA-PSS alone (RFC 4055, 1.2).
        public static let rsaPSS = KeyKind("RSASSA-PSS")
        /// Elliptic curve P-256.
        public static let p256 = KeyKind("P-256")
        /// Elliptic curve P-384.
        public static let p384 = KeyKind("P-384")
        /// Elliptic curve P-521.
        public static let p521 = KeyKind("P-521")
        /// Ed25519 (RFC 8410).
        public static let ed25519 = KeyKind("Ed25519")
        /// Ed448 (RFC 8410).
        public static let ed448 = KeyKind("Ed448")
    }

    /// The smallest RSA modulus in bits. The default is 2048; more than 8192 is never accepted.
    public var minimumRSABits = 2048
    /// The kinds of keys that any certificate of a chain may have. The default is all that have a name here.
    public var kinds: Set<KeyKind> = [.rsa, .rsaPSS, .p256, .p384, .p521, .ed25519, .ed448]
    /// The algorithms with which certificates below the anchor may be signed. The default is all that have a name.
    public var signatures: Set<SignatureAlgorithm> = SignatureAlgorithm.all

    /// The defaults.
    public init() {}
}

/// An algorithm with which a certificate is signed. New ones may be added.
public struct SignatureAlgorithm: Hashable, Sendable, CustomStringConvertible {
    /// The algorithm's name.
    public let description: String
    /// AlgorithmIdentifier in DER; there is one encoding for each (Baseline Requirements, 7.1.3.2).
    let encoding: [UInt8]

    private init(_ description: String, _ encoding: [UInt8]) {
        self.description = description
        self.encoding = encoding
    }

    /// RSASSA-PKCS1-v1_5 with SHA-256.
    public static let rsaSHA256 = rsa("RSA with SHA-256", 0x0B)
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    public static let rsaSHA384 = rsa("RSA with SHA-384", 0x0C)
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    public static let rsaSHA512 = rsa("RSA with SHA-512", 0x0D)
    /// RSASSA-PSS with SHA-256 and 32 bytes of salt.
    public static let rsaPSSSHA256 = pss("RSASSA-PSS with SHA-256", 1, salt: 32)
    /// RSASSA-PSS with SHA-384 and 48 bytes of salt.
    public static let rsaPSSSHA384 = pss("RSASSA-PSS with SHA-384", 2, salt: 48)
    /// RSASSA-PSS with SHA-512 and 64 bytes of salt.
    public static let rsaPSSSHA512 = pss("RSASSA-PSS with SHA-512", 3, salt: 64)
    /// ECDSA with SHA-256.
    public static let ecdsaSHA256 = ecdsa("ECDSA with SHA-256", 2)
    /// ECDSA with SHA-384.
    public static let ecdsaSHA384 = ecdsa("ECDSA with SHA-384", 3)
    /// ECDSA with SHA-512.
    public static let ecdsaSHA512 = ecdsa("ECDSA with SHA-512", 4)
    /// Ed25519.
    public static let ed25519 = SignatureAlgorithm("Ed25519", [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70])
    /// Ed448.
    public static let ed448 = SignatureAlgorithm("Ed448", [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x71])

    /// All that have a name here.
    public static let all: Set<SignatureAlgorithm> = [
        .rsaSHA256, .rsaSHA384, .rsaSHA512, .rsaPSSSHA256, .rsaPSSSHA384, .rsaPSSSHA512, .ecdsaSHA256, .ecdsaSHA384,
        .ecdsaSHA512, .ed25519, .ed448,
    ]

    private static let pkcs1: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01]
    private static let sha2: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02]

    private static func rsa(_ name: String, _ number: UInt8) -> SignatureAlgorithm {
        SignatureAlgorithm(name, [0x30, 0x0D, 0x06, 0x09] + pkcs1 + [number, 0x05, 0x00])
    }

    private static func ecdsa(_ name: String, _ number: UInt8) -> SignatureAlgorithm {
        SignatureAlgorithm(
            name, [0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, number])
    }

    /// Digest and mask generation alike (RFC 4055, 3.1).
    private static func pss(_ name: String, _ digest: UInt8, salt: UInt8) -> SignatureAlgorithm {
        let hash: [UInt8] = [0x30, 0x0D, 0x06, 0x09] + sha2 + [digest, 0x05, 0x00]
        let mask: [UInt8] = [0x30, 0x1A, 0x06, 0x09] + pkcs1 + [0x08] + hash
        let parameters: [UInt8] = [0xA0, 0x0F] + hash + [0xA1, 0x1C] + mask + [0xA2, 0x03, 0x02, 0x01, salt]
        return SignatureAlgorithm(name, [0x30, 0x41, 0x06, 0x09] + pkcs1 + [0x0A, 0x30, 0x34] + parameters)
    }
}
