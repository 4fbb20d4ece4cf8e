internal import LinnetSecurity

/// What connections are made under: who is trusted, and as whom the client shows itself.
///
/// A reference, since each request looks at them.
final class ConnectionTerms: Sendable {
    let securityPolicy: SecurityPolicy
    let clientIdentities: ClientIdentityPolicy
    /// How often they were replaced: of two replacements at once, the later one holds everywhere.
    let revision: UInt64

    init(_ securityPolicy: SecurityPolicy, _ clientIdentities: ClientIdentityPolicy = .none, revision: UInt64 = 0) {
        self.securityPolicy = securityPolicy
        self.clientIdentities = clientIdentities
        self.revision = revision
    }

    /// Why a request must not go to an origin; nil when it may.
    func refusal(of origin: Origin) -> TransportError? {
        guard !origin.isSecure, !securityPolicy.allowsCleartext(to: origin.host) else { return nil }
        return TransportError(
            .cleartextRefused,
            "The security policy does not let clear text go to \(origin.host): the request must be https, not http.",
            endpoint: origin.description)
    }

    /// The next terms: these, but for what is given.
    func replacing(_ policy: SecurityPolicy? = nil, _ identities: ClientIdentityPolicy? = nil) -> ConnectionTerms {
        ConnectionTerms(policy ?? securityPolicy, identities ?? clientIdentities, revision: revision + 1)
    }
}
