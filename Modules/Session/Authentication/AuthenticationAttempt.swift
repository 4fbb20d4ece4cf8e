public import HTTPTypes

/// A response that asks for authentication (401, RFC 9110, section 15.5.2), as a hook sees it.
public struct AuthenticationAttempt: Sendable {
    /// Who asks.
    public let origin: Origin
    /// The ways to authenticate that the server names, in its order.
    public let challenges: [AuthenticationChallenge]
    /// The whole head of the response.
    public let head: HTTPResponse
    /// How many credentials this request was refused with, be it its own or a stored one.
    public let failures: Int
    /// The stored credential that would be tried next; nil where there is none.
    public let proposedCredential: Credential?
}

/// What a hook says of a response that asks for authentication.
public enum AuthenticationDecision: Sendable {
    /// Try the proposed credential; without one, the 401 is the response.
    case performDefault
    /// Try this credential, which is not stored. One that was refused already is not tried again.
    case use(Credential)
    /// Try no more: the 401 is the response.
    case reject
    /// Fail the request with ``SessionError/Code/authenticationCancelled``.
    case cancel
}
