/// One of the ways in which a server wants the client to authenticate (RFC 9110, section 11.3).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme in lower case, such as `basic`.
    public var scheme: String
    /// What stands after the scheme where it is one word, such as the token of Negotiate (RFC 9110, section 11.2).
    public var token68: String?
    /// The parameters by their names in lower case; of those that are named twice, the first.
    public var parameters: [String: String]

    /// Makes a challenge; for tests.
    public init(scheme: String, token68: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme.lowercased()
        self.token68 = token68
        self.parameters = parameters
    }

    /// Which part of the origin is protected (RFC 9110, section 11.5); nil where the server does not name it.
    public var realm: String? { parameters["realm"] }

    /// The challenges of a WWW-Authenticate field, of which a response may have several, each with several challenges
    /// (RFC 9110, section 11.6.1). What is malformed ends its own field's list; what stands before it counts.
    public static func parse(_ fieldValues: [String]) -> [AuthenticationChallenge] {
        fieldValues.flatMap { value in
            var parser = AuthenticationChallengeParser(value)
            return parser.challenges()
        }
    }
}
