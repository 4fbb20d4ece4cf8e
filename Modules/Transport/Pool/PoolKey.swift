internal import LinnetSecurity

/// What connections must have in common to stand in for each other.
///
/// A proxy and a client identity belong here as soon as there are any.
struct PoolKey: Hashable, Sendable {
    let origin: Origin
    /// Nil for plain HTTP, which no policy judges.
    let policy: SecurityPolicy.Identity?

    init(_ origin: Origin, under policy: SecurityPolicy) {
        self.origin = origin
        self.policy = origin.isSecure ? policy.identity : nil
    }

    /// Whether a connection of this key may still serve requests.
    func isValid(under current: SecurityPolicy) -> Bool {
        policy == nil || policy == current.identity
    }
}
