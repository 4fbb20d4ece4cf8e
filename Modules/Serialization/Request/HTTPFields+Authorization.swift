import FoundationEssentials
public import HTTPTypes
internal import LinnetMessages

extension HTTPFields {
    /// The value of an `Authorization` field for the Basic scheme, in UTF-8 (RFC 7617).
    ///
    /// The user name must not contain a colon, since the server splits at the first one.
    public static func basicAuthorization(username: String, password: String) -> String {
        "Basic " + Data("\(username):\(password)".utf8).base64EncodedString()
    }

    /// Sets the `Authorization` field to the Basic scheme, in UTF-8 (RFC 7617).
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidHeader`` if the user name contains a
    ///   colon, or one of the two a control character.
    public mutating func setBasicAuthorization(
        username: String,
        password: String
    ) throws(SerializationError) {
        guard !username.utf8.contains(UInt8(ascii: ":")) else {
            throw SerializationError(
                code: .invalidHeader,
                message: "A user name for Basic authorization must not contain a colon."
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
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidHeader`` if the token is empty, or
    ///   contains characters other than ASCII letters, digits, `-._~+/`, and `=` at its end. The message does not
    ///   contain the token.
    public mutating func setBearerAuthorization(token: String) throws(SerializationError) {
        let name = token.utf8.prefix { ASCII.isAlphanumeric($0) || "-._~+/".utf8.contains($0) }
        guard !name.isEmpty, token.utf8[name.endIndex...].allSatisfy({ $0 == UInt8(ascii: "=") }) else {
            throw SerializationError(
                code: .invalidHeader,
                message: "The bearer token is empty, or contains a character that is not allowed."
            )
        }
        self[.authorization] = "Bearer " + token
    }
}
