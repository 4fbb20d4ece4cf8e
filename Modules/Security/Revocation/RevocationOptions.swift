/// What is done about revoked certificates. Nothing is fetched: the answers are lists that the app has, and the OCSP
/// response that the server staples.
///
/// A certificate that a list or a response calls revoked is refused, always.
///
/// ```swift
/// var profile = ChainProfile.default
/// profile.revocation.lists = try RevocationList.all(contentsOfFile: "/etc/example/ca.crl")
/// profile.revocation.failure = .hardForLeaf
/// ```
public struct RevocationOptions: Sendable, Hashable {
    /// What becomes of a certificate of which nobody says anything that can be relied on.
    public struct Failure: Hashable, Sendable, CustomStringConvertible {
        /// The choice's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// It is accepted.
        public static let soft = Failure("soft")
        /// A server's is refused, an authority's accepted.
        public static let hardForLeaf = Failure("hardForLeaf")
        /// It is refused, wherever it stands below the anchor.
        public static let hard = Failure("hard")
    }

    /// Lists to look into. The default is none.
    public var lists: [RevocationList] = []
    /// Whether a stapled OCSP response is looked at (RFC 6066, 8). The default is true.
    public var checksStaple = true
    /// Whether a certificate that promises a staple is refused without a good one (RFC 7633). The default is true.
    public var honorsMustStaple = true
    /// What becomes of a certificate of which nothing is known. The default is ``Failure/soft``.
    public var failure = Failure.soft
    /// By how much the clocks may differ. The default is five minutes.
    public var clockSkew = Duration.seconds(300)

    /// The defaults.
    public init() {}
}
