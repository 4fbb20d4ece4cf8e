internal import LinnetSecurity

/// What connections are made under: who is trusted, and as whom the client shows itself.
struct ConnectionTerms: Sendable {
    var securityPolicy: SecurityPolicy
    var clientIdentities: ClientIdentityPolicy
    /// How often they were replaced: of two replacements at once, the later one holds everywhere.
    private(set) var revision: UInt64 = 0

    init(_ securityPolicy: SecurityPolicy, _ clientIdentities: ClientIdentityPolicy = .none) {
        self.securityPolicy = securityPolicy
        self.clientIdentities = clientIdentities
    }

    mutating func replace(_ change: (inout ConnectionTerms) -> Void) {
        change(&self)
        revision += 1
    }
}
