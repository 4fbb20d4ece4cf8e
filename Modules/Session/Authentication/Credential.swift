internal import HTTPTypes
internal import LinnetSerialization

/// A user name and a password, or a token. Its description shows no secret.
public struct Credential: Sendable, Hashable {
    /// The authentication scheme, in lower case.
    public let scheme: String
    /// The value of the Authorization field.
    let authorization: String

    /// Creates a credential for Basic (RFC 7617), in UTF-8.
    ///
    /// - Throws: A `SessionError` with ``SessionError/Code/invalidRequest`` when the user name contains a colon, or the user name
    /// or the password contains a control character.
    public static func basic(username: String, password: String) throws(SessionError) -> Credential {
        try make("basic") { (fields: inout HTTPFields) throws(SerializationError) in
            try fields.setBasicAuthorization(username: username, password: password)
        }
    }

    /// Creates a credential for Bearer (RFC 6750).
    ///
    /// - Throws: A `SessionError` with ``SessionError/Code/invalidRequest`` when the token contains a character that the scheme
    /// does not allow.
    public static func bearer(token: String) throws(SessionError) -> Credential {
        try make("bearer") { (fields: inout HTTPFields) throws(SerializationError) in
            try fields.setBearerAuthorization(token: token)
        }
    }

    private static func make(
        _ scheme: String, _ set: (inout HTTPFields) throws(SerializationError) -> Void
    ) throws(SessionError) -> Credential {
        var fields = HTTPFields()
        do {
            try set(&fields)
        } catch {
            throw SessionError(error, url: nil)
        }
        return Credential(scheme: scheme, authorization: fields[.authorization] ?? "")
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
