internal import FoundationEssentials

/// The values of Authorization and Proxy-Authorization fields that do not depend on a challenge.
package enum AuthorizationValue {
    /// The reasons why a field cannot contain a user name, a password or a token. The message contains none of them.
    package enum Fault: Error {
        case colon
        case controlCharacter
        case token

        /// A sentence about the problem.
        package var message: String {
            switch self {
            case .colon: "A user name must not contain a colon, which separates it from the password."
            case .controlCharacter: "A user name or password must not contain control characters."
            case .token: "The bearer token is empty, or contains a character that is not allowed."
            }
        }
    }

    /// The value for Basic in UTF-8 (RFC 7617). Does not check the user name and the password.
    package static func basic(username: String, password: String) -> String {
        "Basic " + Data("\(username):\(password)".utf8).base64EncodedString()
    }

    /// Throws if the user name contains a colon, at which servers split, or if one of the two contains a control
    /// character (RFC 7617, section 2).
    package static func check(username: String, password: String) throws(Fault) {
        guard !username.utf8.contains(UInt8(ascii: ":")) else { throw .colon }
        guard !(username + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { throw .controlCharacter }
    }

    /// The value for Bearer (RFC 6750, section 2.1); throws if the token is not of the required form.
    package static func bearer(token: String) throws(Fault) -> String {
        let name = token.utf8.prefix { ASCII.isAlphanumeric($0) || "-._~+/".utf8.contains($0) }
        guard !name.isEmpty, token.utf8[name.endIndex...].allSatisfy({ $0 == UInt8(ascii: "=") }) else {
            throw .token
        }
        return "Bearer " + token
    }
}
