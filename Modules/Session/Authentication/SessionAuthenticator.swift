/// The source of the credential that a session adds to its requests; see ``HTTPSession/Configuration/authenticator``.
public struct SessionAuthenticator: Sendable {
    let source: any RenewableCredentialSource

    /// Adds a credential that is renewed.
    public static func renewing<Rules>(_ credential: RenewableCredential<Rules>) -> SessionAuthenticator {
        SessionAuthenticator(source: credential)
    }
}
