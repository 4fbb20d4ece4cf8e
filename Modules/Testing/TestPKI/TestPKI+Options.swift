extension TestPKI {
    /// A key's kind. New ones may be added.
    public struct KeyKind: Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// The kind's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// Elliptic curve P-256.
        public static let p256 = KeyKind("P-256")
        /// Elliptic curve P-384.
        public static let p384 = KeyKind("P-384")
        /// Elliptic curve P-192, which a client must not accept.
        package static let p192 = KeyKind("P-192")
        /// RSA of 2048 bits.
        public static let rsa2048 = KeyKind("RSA 2048")
        /// RSA of 1024 bits, which a client must not accept.
        public static let rsa1024 = KeyKind("RSA 1024")
        /// Ed25519.
        public static let ed25519 = KeyKind("Ed25519")
        /// Ed448, which browsers do not accept.
        public static let ed448 = KeyKind("Ed448")
        /// RSA of 2048 bits for RSASSA-PSS alone (RFC 4055), which browsers do not accept.
        public static let rsaPSS2048 = KeyKind("RSASSA-PSS 2048")

        /// Those that every client has to accept.
        public static let allCases: [KeyKind] = [.p256, .p384, .rsa2048, .ed25519]
    }

    /// When a certificate is valid.
    public struct Validity: Sendable, Hashable {
        /// The beginning, counted from now.
        public var notBefore: Duration
        /// The end, counted from now.
        public var notAfter: Duration

        /// Makes a validity; both ends are counted from now.
        public init(from notBefore: Duration, to notAfter: Duration) {
            self.notBefore = notBefore
            self.notAfter = notAfter
        }

        /// From yesterday to a month from now.
        public static let current = Validity(from: .seconds(-86_400), to: .seconds(30 * 86_400))
        /// It ended yesterday.
        public static let expired = Validity(from: .seconds(-30 * 86_400), to: .seconds(-86_400))
        /// It begins tomorrow.
        public static let notYetValid = Validity(from: .seconds(86_400), to: .seconds(30 * 86_400))
    }
}
