public import FoundationEssentials

/// How revocation is checked. Nothing is fetched: the sources are lists that the app supplies and stapled OCSP
/// responses.
///
/// A certificate that a source reports as revoked is always refused. An entry in a list of its issuer counts even if
/// the list has expired, or is meant for other certificates (RFC 5280, 5.2.5).
///
/// ```swift
/// var profile = ChainProfile.default
/// profile.revocation.lists = try RevocationList.all(contentsOfFile: "/etc/example/ca.crl")
/// profile.revocation.failure = .hardForLeaf
/// ```
public struct RevocationOptions: Sendable, Hashable {
    /// The treatment of a certificate without reliable revocation information.
    public struct Failure: Hashable, Sendable, CustomStringConvertible {
        /// The choice's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The certificate is accepted.
        public static let soft = Failure("soft")
        /// A server's certificate is refused, an authority's is accepted.
        public static let hardForLeaf = Failure("hardForLeaf")
        /// The certificate is refused, except for the anchor.
        public static let hard = Failure("hard")

        package static let all: Set<Failure> = [.soft, .hardForLeaf, .hard]
    }

    /// The lists to check. The default is none.
    public var lists: [RevocationList] = []
    /// Whether stapled OCSP responses are checked (RFC 6066, 8). The default is true.
    public var checksStaple = true
    /// Whether a certificate that promises a stapled response is refused without a valid one (RFC 7633). The default is
    /// true.
    public var honorsMustStaple = true
    /// The treatment of a certificate without revocation information. The default is ``Failure/soft``.
    public var failure = Failure.soft
    /// The tolerated clock difference. The default is five minutes.
    public var clockSkew = Duration.seconds(300)

    /// The defaults.
    public init() {}
}

/// A certificate revocation list (RFC 5280, 5). Only its form is checked on creation; its signature is verified when a
/// chain needs it.
public struct RevocationList: Sendable {
    let handle: CRLHandle
    /// The list in DER.
    public let derBytes: Data

    /// Parses a list in DER.
    ///
    /// - Throws: ``SecurityError/Code/invalidRevocationList``, also for lists that violate RFC 5280, 5 (no `nextUpdate`
    ///   or CRL number, an unprocessed critical extension), that are not DER, that are signed with SHA-1, delta lists
    ///   (5.2.4), complete lists that remove an entry (5.3.1), and lists for several issuers (5.2.5).
    public init(der: Data) throws(SecurityError) {
        handle = try CRLHandle(der: der)
        derBytes = der
    }

    /// Reads all lists of a PEM text, in order; at least one.
    ///
    /// - Throws: ``SecurityError/Code/invalidRevocationList``.
    public static func all(pem: Data) throws(SecurityError) -> [RevocationList] {
        guard let lists = PEM.revocationLists(pem), !lists.isEmpty else {
            throw SecurityError(
                .invalidRevocationList, "The text contains no revocation list, or one that cannot be read.")
        }
        var read: [RevocationList] = []
        for der in lists { read.append(try RevocationList(der: der)) }
        return read
    }

    /// Reads all lists of a file, in PEM or DER.
    ///
    /// - Throws: ``SecurityError/Code/cannotReadFile`` or ``SecurityError/Code/invalidRevocationList``.
    public static func all(contentsOfFile path: String) throws(SecurityError) -> [RevocationList] {
        let data = try FileBytes.read(path)
        return try FileBytes.naming(path) { () throws(SecurityError) in
            PEM.isPEM(data) ? try all(pem: data) : [try RevocationList(der: data)]
        }
    }

    /// The issuer in RFC 2253 notation.
    public var issuer: String { handle.issuer }
    /// When the list was issued.
    public var thisUpdate: Date { handle.facts.thisUpdate }
    /// When the next list is due. After that, the list does not prove that a certificate is not revoked.
    public var nextUpdate: Date { handle.facts.nextUpdate }
}

extension RevocationList: Hashable {
    /// Whether two lists have the same bytes.
    public static func == (left: RevocationList, right: RevocationList) -> Bool {
        left.handle === right.handle || left.derBytes == right.derBytes
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(derBytes) }
}
