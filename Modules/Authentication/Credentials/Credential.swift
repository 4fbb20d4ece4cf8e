internal import LinnetMessages

/// A user name and a password, or a token. Its description shows no secret.
public struct Credential: Sendable, Hashable {
    /// The authentication scheme, in lower case.
    public let scheme: String
    /// The value of the Authorization field.
    package let authorization: String

    /// Creates a credential for Basic (RFC 7617), in UTF-8.
    ///
    /// - Throws: ``AuthenticationError/Code/invalidCredential`` when the user name contains a colon, or the user name or the
    ///   password contains a control character.
    public static func basic(username: String, password: String) throws(AuthenticationError) -> Credential {
        do {
            try AuthorizationValue.check(username: username, password: password)
        } catch {
            throw AuthenticationError(.invalidCredential, error.message)
        }
        return Credential(
            scheme: "basic", authorization: AuthorizationValue.basic(username: username, password: password))
    }

    /// Creates a credential for Bearer (RFC 6750).
    ///
    /// - Throws: ``AuthenticationError/Code/invalidCredential`` when the token contains a character that the scheme does not
    ///   allow.
    public static func bearer(token: String) throws(AuthenticationError) -> Credential {
        do {
            return Credential(scheme: "bearer", authorization: try AuthorizationValue.bearer(token: token))
        } catch {
            throw AuthenticationError(.invalidCredential, error.message)
        }
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme, without the secret.
    public var description: String { "Credential(\(scheme))" }
    /// The scheme, without the secret.
    public var debugDescription: String { description }
    /// The scheme, without the secret.
    public var customMirror: Mirror { Mirror(self, children: ["scheme": scheme]) }
}
