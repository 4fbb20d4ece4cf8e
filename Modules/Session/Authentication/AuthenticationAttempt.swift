public import HTTPTypes
public import LinnetAuthentication
public import LinnetMessages

/// A response that requires authentication (401, RFC 9110, section 15.5.2), as passed to a hook.
public struct AuthenticationAttempt: Sendable {
    /// The origin that requires authentication.
    public let origin: Origin
    /// The server's challenges, in its order.
    public let challenges: [AuthenticationChallenge]
    /// The head of the response.
    public let head: HTTPResponse
    /// The number of credentials that the server has refused for this request, its own and stored ones.
    public let failures: Int
    /// The stored credential to try next; nil if there is none.
    public let proposedCredential: Credential?
}

extension AuthenticationAttempt {
    /// A hook's decision on a response that requires authentication.
    public enum Decision: Sendable {
        /// Try the proposed credential; without one, the 401 is the response.
        case performDefault
        /// Try this credential, which is not stored. A credential that was refused is not tried again. A password
        /// (`Credential.password`) only answers the server's challenges; if it cannot, the 401 is the response.
        case use(Credential)
        /// Do not authenticate: the 401 is the response.
        case reject
        /// Fail the request with ``SessionError/Code/authenticationCancelled``.
        case cancel
    }
}
