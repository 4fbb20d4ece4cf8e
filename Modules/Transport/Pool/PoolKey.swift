internal import LinnetSecurity

/// What connections must have in common to stand in for each other.
///
/// A proxy belongs here as soon as there are any.
struct PoolKey: Hashable, Sendable {
    let origin: Origin
    /// Nil for plain HTTP, which no policy judges.
    let policy: SecurityPolicy.Identity?
    /// As whom the client shows itself if it is asked, or who chooses that then; nil for nobody.
    let clientIdentity: ClientIdentity.ID?

    init(_ origin: Origin, under terms: ConnectionTerms) {
        self.origin = origin
        policy = origin.isSecure ? terms.securityPolicy.identity : nil
        clientIdentity = origin.isSecure ? terms.clientIdentities.key(for: origin.host) : nil
    }

    /// Of the origin alone: keys that differ in the rest are few.
    func hash(into hasher: inout Hasher) {
        origin.hash(into: &hasher)
    }

    /// Whether a connection of this key may still serve requests.
    func isValid(under current: ConnectionTerms) -> Bool {
        policy == nil ? current.refusal(of: origin) == nil : self == PoolKey(origin, under: current)
    }
}
