internal import LinnetMessages

/// A user name and a password, or a token. Its description shows no secret.
public struct Credential: Sendable, Hashable {
    /// The authentication scheme, in lower case: `basic`, `bearer`, or `digest` for a password that answers both Digest
    /// and Basic.
    public let scheme: String
    let secret: Secret

    enum Secret: Sendable, Hashable {
        /// The value of the Authorization field.
        case value(String)
        case password(username: String, password: String, allowsMD5: Bool)
    }

    /// Creates a credential that answers Digest (RFC 7616), and over https also Basic (RFC 7617). Both use UTF-8.
    ///
    /// Digest is answered if the server offers it, with the stronger of SHA-512-256 and SHA-256 on offer. Without a
    /// usable Digest challenge, the password is sent by Basic to https origins, and not at all to http origins: an
    /// attacker on the way could otherwise replace the challenge and read it. ``basic(username:password:)`` permits
    /// that.
    ///
    /// - Parameters:
    ///   - username: The user name.
    ///   - password: The password.
    ///   - allowsMD5: Whether Digest may also use MD5, and the form of RFC 2069, which does not protect against replay,
    ///     for servers that support nothing better. The default is false.
    /// - Throws: ``AuthenticationError/Code/invalidCredential`` when the user name contains a colon, or the user name
    ///   or the password contains a control character.
    public static func password(
        username: String, password: String, allowsMD5: Bool = false
    ) throws(AuthenticationError) -> Credential {
        try check(username: username, password: password)
        return Credential(
            scheme: "digest", secret: .password(username: username, password: password, allowsMD5: allowsMD5))
    }

    /// Creates a credential for Basic (RFC 7617), in UTF-8, which is readable in clear text over http.
    ///
    /// - Throws: ``AuthenticationError/Code/invalidCredential`` when the user name contains a colon, or the user name
    ///   or the password contains a control character.
    public static func basic(username: String, password: String) throws(AuthenticationError) -> Credential {
        try check(username: username, password: password)
        return Credential(
            scheme: "basic", secret: .value(AuthorizationValue.basic(username: username, password: password)))
    }

    /// Creates a credential for Bearer (RFC 6750).
    ///
    /// - Throws: ``AuthenticationError/Code/invalidCredential`` when the token contains a character that the scheme
    ///   does not allow.
    public static func bearer(token: String) throws(AuthenticationError) -> Credential {
        do {
            return Credential(scheme: "bearer", secret: .value(try AuthorizationValue.bearer(token: token)))
        } catch {
            throw AuthenticationError(.invalidCredential, error.message)
        }
    }

    private static func check(username: String, password: String) throws(AuthenticationError) {
        do {
            try AuthorizationValue.check(username: username, password: password)
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
