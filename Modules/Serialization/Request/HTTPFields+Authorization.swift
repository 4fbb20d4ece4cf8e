public import HTTPTypes
internal import LinnetMessages

extension HTTPFields {
    /// The value of an `Authorization` field for the Basic scheme, in UTF-8 (RFC 7617).
    ///
    /// The user name must not contain a colon, since the server splits at the first one.
    public static func basicAuthorization(username: String, password: String) -> String {
        AuthorizationValue.basic(username: username, password: password)
    }

    /// Sets the `Authorization` field to the Basic scheme, in UTF-8 (RFC 7617).
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidHeader`` if the user name contains a
    ///   colon, or one of the two contains a control character.
    public mutating func setBasicAuthorization(
        username: String,
        password: String
    ) throws(SerializationError) {
        do {
            try AuthorizationValue.check(username: username, password: password)
        } catch {
            throw SerializationError(code: .invalidHeader, message: error.message)
        }
        self[.authorization] = AuthorizationValue.basic(username: username, password: password)
    }

    /// Sets the `Authorization` field to the Bearer scheme (RFC 6750, section 2.1).
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidHeader`` if the token is empty, or
    ///   contains characters other than ASCII letters, digits, `-._~+/`, and `=` at its end. The message does not
    ///   contain the token.
    public mutating func setBearerAuthorization(token: String) throws(SerializationError) {
        do {
            self[.authorization] = try AuthorizationValue.bearer(token: token)
        } catch {
            throw SerializationError(code: .invalidHeader, message: error.message)
        }
    }
}
