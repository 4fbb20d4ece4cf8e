public import FoundationEssentials

/// A certificate revocation list (RFC 5280, 5), of which nothing but its form has been checked: its signature is when a
/// chain needs it.
public struct RevocationList: Sendable {
    let handle: CRLHandle
    /// The list's bytes.
    public let derBytes: Data

    /// Parses DER.
    ///
    /// Fails with ``SecurityError/Code/invalidRevocationList``, also for a list that breaks RFC 5280, 5: one without
    /// `nextUpdate` or number, with a critical extension that is not processed, signed over SHA-1; for one of changes
    /// alone (5.2.4), and one for several issuers (5.2.5).
    public init(der: Data) throws(SecurityError) {
        handle = try CRLHandle(der: der)
        derBytes = der
    }

    /// All lists of a PEM text, in order; one at least.
    ///
    /// Fails with ``SecurityError/Code/invalidRevocationList``.
    public static func all(pem: Data) throws(SecurityError) -> [RevocationList] {
        guard let lists = PEM.revocationLists(pem), !lists.isEmpty else {
            throw SecurityError(.invalidRevocationList, "The text has no revocation list, or one that cannot be read.")
        }
        var read: [RevocationList] = []
        for der in lists { read.append(try RevocationList(der: der)) }
        return read
    }

    /// All lists of a file, in PEM or DER.
    ///
    /// Fails with ``SecurityError/Code/cannotReadFile`` or ``SecurityError/Code/invalidRevocationList``.
    public static func all(contentsOfFile path: String) throws(SecurityError) -> [RevocationList] {
        let data = try FileBytes.read(path)
        return PEM.isPEM(data) ? try all(pem: data) : [try RevocationList(der: data)]
    }

    /// Who issued it, as RFC 2253 writes names.
    public var issuer: String { handle.issuer }
    /// When it was issued.
    public var thisUpdate: Date { handle.facts.thisUpdate }
    /// When the next one is due; after that it says nothing about certificates that are not in it.
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
