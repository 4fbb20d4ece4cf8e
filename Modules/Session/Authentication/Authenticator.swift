public import HTTPTypes
public import LinnetSerialization

/// The rules of a credential that is renewed, such as an access token: how it is applied, refused and renewed.
///
/// ```swift
/// struct TokenAuthenticator: Authenticator {
///     let issuer: HTTPCall
///
///     func apply(_ token: Token, to request: inout SessionRequest) {
///         request.headerFields[.authorization] = "Bearer \(token.access)"
///     }
///
///     func renew(_ token: Token?) async throws -> Token {
///         try await issuer.body(form: ["refresh_token": .string(token?.refresh ?? "")]).value(as: Token.self)
///     }
/// }
/// ```
/// ``RenewableCredential`` holds the credential, and calls these functions.
public protocol Authenticator<Credential>: Sendable {
    /// The credential, for example a pair of an access token and a refresh token.
    associatedtype Credential: Sendable

    /// Adds the credential to a request, which is sent to one of the credential's origins. An error fails the request
    /// with ``SessionError/Code/interceptorFailed``, unless it is a `SessionError`.
    func apply(_ credential: Credential, to request: inout SessionRequest) throws

    /// Whether a response refuses the credential of its request. The default is true for the status 401.
    func isRefusal(_ response: HTTPResponse) -> Bool

    /// Whether the credential must be renewed before the next request, for example because it expires soon. The default
    /// is false: the credential is renewed when it is refused.
    func needsRenewal(_ credential: Credential) -> Bool

    /// Returns a new credential.
    ///
    /// It is called by one task at a time, which is cancelled when no request waits for it any more. Requests that it
    /// sends through the session of the credential are sent without a credential.
    ///
    /// - Parameter credential: The credential to replace; nil if there is none yet.
    /// - Throws: An error fails all requests that wait, with ``SessionError/Code/credentialRenewalFailed``.
    func renew(_ credential: Credential?) async throws -> Credential
}

extension Authenticator {
    /// Whether a response refuses the credential of its request: true for the status 401.
    public func isRefusal(_ response: HTTPResponse) -> Bool { response.status == .unauthorized }

    /// Whether the credential must be renewed before the next request: false.
    public func needsRenewal(_ credential: Credential) -> Bool { false }
}
