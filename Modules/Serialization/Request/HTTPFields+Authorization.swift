import FoundationEssentials
public import HTTPTypes

extension HTTPFields {
    /// The value of an `Authorization` field for HTTP's Basic scheme, in UTF-8 (RFC 7617).
    ///
    /// A user name must hold no colon: the server takes the first one for the separator.
    public static func basicAuthorization(username: String, password: String) -> String {
        "Basic " + Data("\(username):\(password)".utf8).base64EncodedString()
    }

    /// Sets the `Authorization` field to HTTP's Basic scheme, in UTF-8 (RFC 7617).
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidHeader`` if the user name holds a
    ///   colon, or either holds a control character.
    public mutating func setBasicAuthorization(
        username: String,
        password: String
    ) throws(SerializationError) {
        guard !username.utf8.contains(UInt8(ascii: ":")) else {
            throw SerializationError(
                code: .invalidHeader,
                message: "A user name for Basic authorization must not hold a colon."
            )
        }
        guard !(username + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw SerializationError(
                code: .invalidHeader,
                message: "Basic authorization allows no control characters in a user name or password."
            )
        }
        self[.authorization] = Self.basicAuthorization(username: username, password: password)
    }

    /// Sets the `Authorization` field to the Bearer scheme (RFC 6750, section 2.1).
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidHeader`` if the token is empty, or holds
    ///   more than ASCII letters, digits, `-._~+/`, and `=` at the end. The message does not show the token.
    public mutating func setBearerAuthorization(token: String) throws(SerializationError) {
        let name = token.utf8.prefix { ASCII.isAlphanumeric($0) || "-._~+/".utf8.contains($0) }
        guard !name.isEmpty, token.utf8[name.endIndex...].allSatisfy({ $0 == UInt8(ascii: "=") }) else {
            throw SerializationError(
                code: .invalidHeader,
                message: "The token holds a character that Bearer authorization does not allow, or is empty."
            )
        }
        self[.authorization] = "Bearer " + token
    }
}
