/// Answers the challenges of one server or proxy with one credential.
package struct Authenticator: Sendable {
    /// The credential.
    package let credential: Credential

    /// An authenticator for the strongest challenge that the credential can answer; nil if there is none.
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - challenges: The challenges of a 401 or 407 response.
    ///   - allowsBasic: Whether a password that can answer Digest may be sent by Basic, readable to those on the way unless
    ///     the connection is encrypted.
    package init?(_ credential: Credential, for challenges: [AuthenticationChallenge], allowsBasic: Bool) {
        guard challenges.contains(where: { $0.scheme == credential.scheme }) else { return nil }
        self.credential = credential
    }

    /// Returns the answer for one request.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - uri: The request target as it is sent (RFC 9112, section 3.2): for CONNECT, the authority.
    package func answer(method: String, uri: String) -> AuthenticationAnswer {
        AuthenticationAnswer(value: credential.authorization)
    }
}

/// What one request answers to a challenge.
package struct AuthenticationAnswer: Sendable {
    /// The value of the Authorization or Proxy-Authorization field.
    package let value: String
}
