/// A server's request for a client's certificate (RFC 8446, 4.3.2; RFC 5246, 7.4.4).
public struct ClientCertificateRequest: Sendable, Hashable {
    /// The host that asks. The security policy has accepted its chain.
    public var host: String
    /// The port.
    public var port: Int
    /// The subjects of the authorities whose certificates the server takes, as ``Certificate/issuer`` has names, so as RFC 2253
    /// writes them. Empty when it does not say.
    public var acceptableIssuers: [String]

    /// Makes a request; for tests.
    public init(host: String, port: Int, acceptableIssuers: [String] = []) {
        self.host = host
        self.port = port
        self.acceptableIssuers = acceptableIssuers
    }

    /// Whether an identity's chain leads to an authority that the server takes. True where it does not say. The server has the
    /// last word.
    public func accepts(_ identity: ClientIdentity) -> Bool {
        acceptableIssuers.isEmpty || identity.chain.contains { acceptableIssuers.contains($0.issuer) }
    }

    /// Chooses an identity for a server that asks, with the one that a policy has for its host.
    public typealias Chooser =
        @Sendable (ClientCertificateRequest, ClientIdentity?) async throws -> ClientIdentity?
}
