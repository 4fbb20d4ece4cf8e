public import FoundationEssentials

/// What is to be judged: the chain that a server presented, and whom it must prove to be.
public struct ServerTrust: Sendable {
    /// The host that the client wants: a name or an IP address, without brackets.
    public var host: String
    /// The port.
    public var port: Int
    /// The certificates as the server sent them, in DER, leaf first.
    public var presentedChain: [Data]
    /// The OCSP response that the server stapled (RFC 6066, 8), if any.
    public var stapledOCSPResponse: Data?
    /// Whether a staple may still come: in TLS 1.2 it follows the chain, and the question is asked again when it is there.
    /// A promise to staple (RFC 7633), and a policy that wants to know about revocation, are then not held against the
    /// server yet. The default is false.
    public var awaitsStaple = false
    /// The moment at which the chain has to be valid.
    public var time: Date

    /// Makes a question to a policy.
    public init(
        host: String, port: Int, presentedChain: [Data], stapledOCSPResponse: Data? = nil, time: Date = Date()
    ) {
        self.host = host
        self.port = port
        self.presentedChain = presentedChain
        self.stapledOCSPResponse = stapledOCSPResponse
        self.time = time
    }
}
