/// As whom a client shows itself, host by host.
///
/// ```swift
/// configuration.clientIdentities = try ClientIdentityPolicy(rules: [
///     .init("**.example.com", staff),
///     .init("public.example.com", nil),
/// ])
/// ```
/// The most specific rule for a host decides alone, as ``HostPattern`` ranks them; a host without a rule gets
/// ``otherHosts``, which is nobody unless something is given. A certificate is sent only to a server that asks for one, and
/// that the security policy has accepted; it tells that server, and under TLS 1.2 whoever listens, who the client is, so name
/// the hosts that need one.
public struct ClientIdentityPolicy: Sendable {
    /// Which identity some hosts get.
    public struct Rule: Sendable {
        /// The hosts.
        public let pattern: HostPattern
        /// Whom the client shows itself to be; nil for nobody.
        public let identity: ClientIdentity?

        /// Makes a rule.
        public init(_ pattern: HostPattern, _ identity: ClientIdentity?) {
            self.pattern = pattern
            self.identity = identity
        }

        /// Makes a rule from a pattern's text.
        ///
        /// Fails with ``SecurityError/Code/invalidPattern``.
        public init(_ pattern: String, _ identity: ClientIdentity?) throws(SecurityError) {
            self.init(try HostPattern(pattern), identity)
        }
    }

    /// The rules, most specific first.
    public let rules: [Rule]
    /// The identity for hosts without a rule; nil for nobody.
    public let otherHosts: ClientIdentity?
    /// Who is asked when a server asks, if anybody is.
    package private(set) var chooser: ClientCertificateRequest.Chooser?
    private var chooserID: ClientIdentity.ID?

    /// Nobody, for every host.
    public static let none = ClientIdentityPolicy([], nil)

    /// One identity for every host that asks, wherever a redirect leads.
    public static func everyHost(_ identity: ClientIdentity) -> ClientIdentityPolicy {
        ClientIdentityPolicy([], identity)
    }

    /// Makes a policy.
    ///
    /// Fails with ``SecurityError/Code/duplicateRule`` when two rules have the same pattern.
    public init(rules: [Rule], otherHosts: ClientIdentity? = nil) throws(SecurityError) {
        var patterns: Set<HostPattern> = []
        for rule in rules where !patterns.insert(rule.pattern).inserted {
            throw SecurityError(.duplicateRule, "There are two rules for \"\(rule.pattern)\".")
        }
        self.init(rules, otherHosts)
    }

    private init(_ rules: [Rule], _ otherHosts: ClientIdentity?) {
        self.rules = rules.sorted { $0.pattern.specificity > $1.pattern.specificity }
        self.otherHosts = otherHosts
    }

    /// Whom the client shows itself to be to a host; nil for nobody.
    public func identity(for host: String) -> ClientIdentity? {
        guard !rules.isEmpty else { return otherHosts }
        // What is neither a name nor an address must not get what was meant for others.
        guard let host = HostName(host) else { return nil }
        guard let rule = rules.first(where: { $0.pattern.matches(host) }) else { return otherHosts }
        return rule.identity
    }

    /// The same policy with a function that is asked whenever a server asks for a certificate: with what the server wants and
    /// the identity that the policy has for its host. What it returns is shown; nil shows nothing, and what it throws ends the
    /// connection.
    ///
    /// It is called in the handshake, once for each connection, under the TLS timeout; requests that find a connection open
    /// go out as whom it answered then. No TLS session in which a server has asked is resumed. Each policy that this returns
    /// is another one: putting a new one in the place of the old has the function asked again.
    public func asking(_ choose: @escaping ClientCertificateRequest.Chooser) -> ClientIdentityPolicy {
        var policy = self
        policy.chooser = choose
        policy.chooserID = .next()
        return policy
    }

    /// Tells connections apart whose servers could be shown different identities; nil where they are shown none.
    package func key(for host: String) -> ClientIdentity.ID? {
        chooserID ?? identity(for: host)?.id
    }

    /// All identities, each once.
    public var identities: [ClientIdentity] {
        var known: Set<ClientIdentity.ID> = []
        return (rules.map(\.identity) + [otherHosts]).compactMap(\.self).filter { known.insert($0.id).inserted }
    }
}
