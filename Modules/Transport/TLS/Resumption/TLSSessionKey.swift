internal import LinnetSecurity

/// What two connections must have in common for the second to resume a TLS session of the first.
struct TLSSessionKey: Hashable, Sendable {
    let host: String
    let port: Int
    /// A verdict holds for the policy that gave it.
    let policy: SecurityPolicy.Identity
    /// What ALPN offers (RFC 7301).
    let applicationProtocols: [String]
    /// Tells client identities apart; nil for a client without one.
    var clientIdentity: ClientIdentity.ID?
}
