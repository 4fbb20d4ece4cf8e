internal import LinnetMessages

/// Chooses the client identity for each host.
///
/// ```swift
/// configuration.clientIdentities = try ClientIdentityPolicy(rules: [
///     .init("**.example.com", staff),
///     .init("public.example.com", nil),
/// ])
/// ```
/// The most specific rule for a host decides, in the order of ``HostPattern``; hosts without a rule get ``otherHosts``,
/// by default none. A certificate is sent only to a server that requests one and that the security policy has accepted.
/// It reveals the client's identity to that server and, under TLS 1.2, to passive observers, so name the hosts that
/// need one.
public struct ClientIdentityPolicy: Sendable {
    /// The identity for some hosts.
    public struct Rule: Sendable {
        /// The hosts.
        public let pattern: HostPattern
        /// The identity, or nil to send no certificate.
        public let identity: ClientIdentity?

        /// Creates a rule.
        public init(_ pattern: HostPattern, _ identity: ClientIdentity?) {
            self.pattern = pattern
            self.identity = identity
        }

        /// Creates a rule from the text of a pattern.
        ///
        /// - Throws: ``SecurityError/Code/invalidPattern``.
        public init(_ pattern: String, _ identity: ClientIdentity?) throws(SecurityError) {
            self.init(try HostPattern(pattern), identity)
        }
    }

    /// The rules, most specific first.
    public let rules: [Rule]
    /// The identity for hosts without a rule, or nil to send no certificate.
    public let otherHosts: ClientIdentity?
    /// The function that chooses an identity when a server requests a certificate, if there is one.
    package private(set) var chooser: CertificateRequest.Chooser?
    private var chooserID: ClientIdentity.ID?

    /// No identity for any host.
    public static let none = ClientIdentityPolicy([], nil)

    /// One identity for every host that requests a certificate, including the targets of redirects.
    public static func everyHost(_ identity: ClientIdentity) -> ClientIdentityPolicy {
        ClientIdentityPolicy([], identity)
    }

    /// Creates a policy.
    ///
    /// - Throws: ``SecurityError/Code/duplicateRule`` when two rules have the same pattern.
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

    /// Returns the identity for a host, or nil if there is none.
    public func identity(for host: String) -> ClientIdentity? {
        guard !rules.isEmpty else { return otherHosts }
        // A text that is neither a name nor an address must not get an identity for other hosts.
        guard let host = HostName(host) else { return nil }
        guard let rule = rules.first(where: { $0.pattern.matches(host) }) else { return otherHosts }
        return rule.identity
    }

    /// Returns a copy of the policy with a function that is called when a server requests a certificate, with the
    /// request and the policy's identity for the host. The function returns the identity to send or nil for none; an
    /// error that it throws ends the connection.
    ///
    /// The function is called during the handshake, once for each connection, under the TLS timeout; later requests on
    /// the connection use the same identity. TLS sessions in which a server has requested a certificate are not
    /// resumed. Each call returns a distinct policy: replacing one by another calls the function again for new
    /// connections.
    public func asking(_ choose: @escaping CertificateRequest.Chooser) -> ClientIdentityPolicy {
        var policy = self
        policy.chooser = choose
        policy.chooserID = .next()
        return policy
    }

    /// Distinguishes connections whose servers may see different identities; nil if they see none.
    package func key(for host: String) -> ClientIdentity.ID? {
        chooserID ?? identity(for: host)?.id
    }

    /// All identities without duplicates.
    public var identities: [ClientIdentity] {
        var known: Set<ClientIdentity.ID> = []
        return (rules.map(\.identity) + [otherHosts]).compactMap(\.self).filter { known.insert($0.id).inserted }
    }
}

extension ClientIdentityPolicy {
    /// A server's request for a client's certificate (RFC 8446, 4.3.2; RFC 5246, 7.4.4).
    public struct CertificateRequest: Sendable, Hashable {
        /// The host of the server. The security policy has accepted its chain.
        public var host: String
        /// The port.
        public var port: Int
        /// The subjects of the authorities that the server accepts, in the RFC 2253 notation of
        /// ``X509Certificate/issuer``. Empty if the server does not name any.
        public var acceptableIssuers: [String]

        /// Creates a request, for tests.
        public init(host: String, port: Int, acceptableIssuers: [String] = []) {
            self.host = host
            self.port = port
            self.acceptableIssuers = acceptableIssuers
        }

        /// Whether an identity's chain leads to one of the acceptable issuers, or the server does not name any. The
        /// server may still refuse it.
        public func accepts(_ identity: ClientIdentity) -> Bool {
            acceptableIssuers.isEmpty || identity.chain.contains { acceptableIssuers.contains($0.issuer) }
        }

        /// Chooses an identity for a request, given the policy's identity for the host.
        public typealias Chooser =
            @Sendable (CertificateRequest, ClientIdentity?) async throws -> ClientIdentity?
    }
}
